import { hostname } from 'node:os'
import { toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import type { Progress } from '#core/progress.ts'
import type { Book } from '#pipeline/book/book.ts'
import { BookError, formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { TIMEFRAME_MS } from '#pipeline/book/timeframe.ts'
import { computeSnapshot, type Night } from '#pipeline/night/compute-snapshot.ts'
import { lastDayOf, missingBars } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { openDays, withLiveRecords } from '#static-build/open-days.ts'
import { type PublishOrder, publishVersion } from '#static-build/publish-version.ts'
import { replaceDocument } from '#storage/json-bytes.ts'
import type { Lock } from '#storage/lock.ts'
import { assertCreatesOnce, type ObjectStore } from '#storage/object-store.ts'
import { assertApart, cleanStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { findManifest } from '#storage/published-files.ts'
import { type BuildOrder, plannedVersion } from '../options/build-options.ts'
import { openStores } from '../options/store-option.ts'
import { printReport } from '../print/data-report.ts'
import type { Runtime } from '../runtime.ts'
import { describeCode, fleetCode } from './describe-code.ts'
import {
  assertClock,
  assertNotAhead,
  assertSignedHead,
  entryTimeOf,
  readSigner,
  withStoreLock,
} from './guard-pointer.ts'
import type { LiveComparison } from './live-agreement.ts'

export type BuildResult = Awaited<ReturnType<typeof computeAndPublish>>

/** A night: read the book, compute, publish. Whatever throws, nothing is published and the version before stays served. */
export async function buildVersion(order: BuildOrder, runtime: Runtime): Promise<BuildResult> {
  const opened = await open(order, runtime)
  return withStoreLock(opened.store, runtime, async lock => {
    await cleanStore(order.settings.STORE_URL)
    await cleanStore(order.settings.PRIVATE_STORE_URL)
    return build({ ...opened, lock }, runtime)
  })
}

type OpenOrder = Awaited<ReturnType<typeof open>> & { readonly lock: Lock }

async function open(order: BuildOrder, runtime: Runtime) {
  const startMs = runtime.now()
  const signer = await readSigner(order.settings)
  const { store, privateStore } = await openStores(order.settings)
  await assertApart(order.settings.STORE_URL, order.settings.PRIVATE_STORE_URL)
  const watch = createStopwatch(runtime.elapsed, 'read')
  // Before anything is written: a book that is not there leaves no litter.
  const book = await readBookOf(order, runtime)
  for (const each of [store, privateStore]) await assertCreatesOnce(each) // before the lock, which depends on it
  return { ...order, startMs, store, privateStore, book, watch, signer }
}

export async function readBookOf(order: Pick<BuildOrder, 'book' | 'asOf' | 'allowStale'>, runtime: Runtime) {
  const { note } = runtime.terminal
  const examine = examineBook(windowOf(order, runtime))
  const book = await readBook(order.book, (sound, isBroken) => {
    const found = examine(sound, isBroken)
    // That of a book that is published belongs to its summary.
    if (isBroken || found.problems.length > 0) printReport(found.report, note)
    return found
  })
  for (const warning of book.warnings) note(`warning: ${formatProblem(warning)}`)
  return book
}

async function build(order: OpenOrder, runtime: Runtime) {
  const began = await begin(order, runtime)
  try {
    return await computeAndPublish(order, began, runtime)
  } catch (error) {
    if (error instanceof BookError) await began.fleet?.abandon()
    throw error
  } finally {
    await began.fleet?.close()
  }
}

type Began = Awaited<ReturnType<typeof begin>>

/** Refuses what may not be published, before anything is computed, and connects to the fleet if there is one. */
async function begin(order: OpenOrder, runtime: Runtime) {
  const { terminal } = runtime
  const { store, privateStore, threads, book, watch } = order
  const progress = watch.follow(terminal.progress)
  const planned = await plannedVersion(privateStore, order.fleet)
  const version = order.version ?? planned ?? toIsoInstant(runtime.now())
  const window = windowOf(order, runtime)
  const windowEnd = toIsoDate(lastDayOf(book, window))
  await assertClock(store, runtime.now())
  assertNotAhead(version, runtime.now())
  await assertSignedHead(store, order.signer, order.consent)
  await assertNotOlder(store, { version, windowEnd, isNamed: order.version !== null || planned !== null })
  const entered = await entryTimeOf(order, version, runtime)
  watch.begin('compute')
  const fleet =
    order.fleet &&
    (await (
      await import('#fleet/open-fleet.ts')
    ).openFleet(order.fleet, {
      ...{ store, privateStore, version, effort: order.effort, threads, progress },
      ...{ ...runtime, note: terminal.note, code: await fleetCode(runtime.root) },
    }))
  return { version, entered, window, progress, fleet }
}

async function computeAndPublish(
  order: OpenOrder,
  { version, entered, window, progress, fleet }: Began,
  runtime: Runtime,
) {
  const { privateStore, threads, book, watch } = order
  const { terminal } = runtime
  const night = await computeSnapshot(book, {
    version,
    ...window,
    threads,
    progress,
    elapsedMs: runtime.elapsed,
    ...(fleet === null ? {} : { fleet: fleet.computer }),
  })
  for (const notice of night.notices) terminal.note(`note: ${notice}`)
  let live: LiveComparison | null = null
  if (order.hasLive()) {
    watch.begin('compare')
    const { assertLiveAgrees } = await import('./live-agreement.ts') // a client of Redis takes its time to load
    live = await assertLiveAgrees(book, order, runtime)
  }
  watch.begin('publish')
  if (night.snapshot.dataset.window.to !== null)
    await openDays({ store: order.store, privateStore }, night.snapshot.dataset.window.to)
  const published = await publishVersion({
    ...(await publicationOf({ ...order, entered, progress }, night, runtime)),
    assertAlone: order.lock.assertHeld,
    ...(fleet === null ? {} : { render: fleet.render }),
  })
  const record = (await fleet?.end()) ?? null
  const timings = watch.end()
  // A private note: on which machine it was built, and how many milliseconds each step took.
  const note = { version, host: hostname(), timings_ms: timings }
  await replaceDocument(privateStore, privateKey(version, 'build.json'), note)
  // `fleet` is null on one machine, `live` without a Redis of live signals
  return { ...night, ...published, book, timings, fleet: record, live, missing: missingBars(book, window) }
}

/** How a night is published, or only reproduced. */
export async function publicationOf(
  order: Omit<OpenOrder, 'startMs' | 'watch' | 'lock'> & Pick<Began, 'entered' | 'progress'>,
  night: Night,
  { root, now }: Runtime,
): Promise<PublishOrder> {
  const { store, privateStore, book, signer, declared, effort, threads, entered, progress } = order
  const { program } = night
  const snapshot = await withLiveRecords(store, night.snapshot, barMinutesIn(book))
  const of = { snapshot, program, inputs: describeInputs(book, night), builtWith: await describeCode(root) }
  return { ...of, store, privateStore, signer, declared, effort, threads, entered, progress, now }
}

const barMinutesIn =
  ({ strategies, bars }: Book) =>
  (id: string): number | null => {
    const key = strategies.find(each => each.id === id)?.bars
    return key == null ? null : TIMEFRAME_MS[bars.get(key)!.timeframe] / 60_000
  }

const windowOf = ({ asOf, allowStale }: Pick<BuildOrder, 'asOf' | 'allowStale'>, { now }: Runtime) => ({
  nowMs: now(),
  asOf,
  allowStale,
})

/** Data must not go back in time by mistake: refuses an older version, and an earlier window unless the version is named. */
async function assertNotOlder(
  store: ObjectStore,
  build: { readonly version: string; readonly windowEnd: string; readonly isNamed: boolean },
): Promise<void> {
  const current = (await readHead(store))?.entry
  if (current === undefined) return
  if (build.version < current.version)
    throw new Error(
      `the version ${build.version} is older than the served version ${current.version}: use a later --version`,
    )
  const found = await findManifest(store, current)
  const served = found.fault === null ? found.manifest.window.to : null // else the comparison of the histories refuses it
  if (build.isNamed || served === null || build.windowEnd >= served) return
  throw new Error(
    `the window of this build ends on ${build.windowEnd}, and that of the served version ${current.version} on ` +
      `${served}: bring newer data, or set --version to publish an earlier window`,
  )
}

/** What a build read: each file with its digest, the files of each module, and how far each set of bars reaches. */
function describeInputs({ inputs, bars, program }: Book, { modules }: Pick<Night, 'modules'>): object {
  const pathInBook = ({ path }: { readonly path: string }): string => `strategies/${path}`
  const ofModules = [...modules.values()]
    .flat()
    .map(file => ({ ...file, path: pathInBook(file), rows: null }))
  const files = new Map([...inputs, ...ofModules].map(file => [file.path, file])) // a module as its process read it
  return {
    inputs: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), // files are read side by side
    modules: Object.fromEntries([...modules].map(([id, files]) => [id, files.map(pathInBook)])),
    bars: [...new Set([...bars.values(), ...(program === null ? [] : [program.bars])])].map(
      ({ path, bars, gaps }) => ({
        path,
        bars: bars.t.length,
        last_open: toIsoInstant(bars.t.at(-1)!),
        gaps: gaps.length,
        bars_missing: gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
      }),
    ),
  }
}

/** Measures steps one after the other, so that all of the time belongs to one of them. */
export function createStopwatch(elapsedMs: () => number, first: string) {
  const spent = new Map<string, number>()
  let step = first
  let since = elapsedMs()
  /** Ends the step under way and begins another, or continues one that was begun before. */
  const begin = (next: string): void => {
    const now = elapsedMs()
    spent.set(step, (spent.get(step) ?? 0) + now - since)
    step = next
    since = now
  }
  /** Begins each reported step, named by its first word (both matrices are `correlate`), and passes the events on. */
  const follow =
    (progress: Progress): Progress =>
    event => {
      const [name = event.step] = event.step.split(' ')
      if (name !== step) begin(name)
      progress(event)
    }
  /** Ends the last step; milliseconds spent in each, in the order in which the steps first began. */
  const end = (): Readonly<Record<string, number>> => {
    begin(step)
    return Object.fromEntries([...spent].map(([name, ms]) => [name, Math.round(ms)]))
  }
  return { begin, follow, end }
}
