import { hostname } from 'node:os'
import { type EpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { type CurrentVersion, manifest } from '#core/contract/manifest.ts'
import type { Book } from '#pipeline/book/book.ts'
import { formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot, type Night } from '#pipeline/night/compute-snapshot.ts'
import { lastPublicDay } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { currentVersionOf, type Published, publishVersion } from '#static-build/publish-version.ts'
import { sha256 } from '#storage/digest.ts'
import { acquireLock, type Lock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { assertApart, cleanStore, isAlive, openStore } from '#storage/open-store.ts'
import { describeCode } from './code-identity.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

/** What to build from, where to, and as of when. */
export type BuildOrder = {
  readonly book: string
  readonly storeUrl: string
  readonly privateStoreUrl: string
  /** The dataset version, an ISO instant; null for the moment of the build. */
  readonly version: string | null
  readonly asOf: EpochDay | null
  readonly allowStale: boolean
  readonly threads: number
}

export type BuildResult = Night & Published & { readonly book: Book; readonly timings: Timings }

/** Milliseconds spent in each step. */
export type Timings = Readonly<Record<string, number>>

/**
 * A night: read the book, compute the dataset, publish it as a version. Whatever throws, nothing is published and the
 * version before stays served.
 */
export async function buildVersion(
  order: BuildOrder,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<BuildResult> {
  const store = await openStore(order.storeUrl)
  const privateStore = await openStore(order.privateStoreUrl)
  await assertApart(order.storeUrl, order.privateStoreUrl)
  const watch = createStopwatch(surroundings.elapsed)
  // Before anything is written: a book that is not there leaves no litter.
  const book = await readBook(order.book, { examine: examineBook(windowOf(order, surroundings)) })
  for (const warning of book.warnings) terminal.note(`warning: ${formatProblem(warning)}`)
  watch.lap('read')
  const lock = await lockStore(store, surroundings)
  try {
    await cleanStore(order.storeUrl)
    await cleanStore(order.privateStoreUrl)
    return await build({ ...order, store, privateStore, book, watch, lock }, surroundings, terminal)
  } finally {
    await release(lock, terminal)
  }
}

/** The lock of the public store, because that is where the pointer is: one build at a time moves it. */
const lockStore = (store: ObjectStore, { now }: Surroundings): Promise<Lock> =>
  acquireLock(store, 'build', {
    holder: { pid: process.pid, host: hostname(), started: toIsoInstant(now()) },
    now,
    isAlive,
  })

/** How the build ended matters more than a lock that was not given back: the next build takes it over. */
async function release(lock: Lock, terminal: Terminal): Promise<void> {
  try {
    await lock.release()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    terminal.note(`warning: the lock was not given back, and the next build takes it over: ${reason}`)
  }
}

type OpenOrder = Omit<BuildOrder, 'book'> & {
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly book: Book
  readonly watch: Stopwatch
  readonly lock: Lock
}

async function build(order: OpenOrder, surroundings: Surroundings, terminal: Terminal): Promise<BuildResult> {
  const { store, privateStore, threads, book, watch } = order
  const { progress } = terminal
  const version = order.version ?? toIsoInstant(surroundings.now())
  const window = windowOf(order, surroundings)
  const windowEnd = toIsoDate(lastPublicDay(book, window))
  await assertNotOlder(store, { version, windowEnd, isNamed: order.version !== null })
  const night = await computeSnapshot(book, {
    version,
    ...window,
    threads,
    progress,
    elapsedMs: surroundings.elapsed,
  })
  for (const notice of night.notices) terminal.note(`note: ${notice}`)
  watch.lap('compute')
  const builtWith = await describeCode(surroundings.root)
  const published = await publishVersion({
    snapshot: night.snapshot,
    store,
    privateStore,
    builtWith,
    threads,
    progress,
    assertAlone: order.lock.assertHeld,
  })
  watch.lap('publish')
  const result = { ...night, ...published, book, timings: watch.laps() }
  await recordBuild(privateStore, result)
  return result
}

const windowOf = ({ asOf, allowStale }: Pick<BuildOrder, 'asOf' | 'allowStale'>, { now }: Surroundings) => ({
  nowMs: now(),
  asOf,
  allowStale,
})

/**
 * Publishing an older version would take the served data back in time without anybody having said so. So would a window
 * that ends before the served one: who means that names the version.
 */
async function assertNotOlder(
  store: ObjectStore,
  build: { readonly version: string; readonly windowEnd: string; readonly isNamed: boolean },
): Promise<void> {
  const current = await currentVersionOf(store)
  if (current === null) return
  if (build.version < current.version) {
    throw new Error(
      `the version ${build.version} is older than ${current.version}, which is served now: give a later --version`,
    )
  }
  const served = await windowEndOf(store, current)
  if (build.isNamed || served === null || build.windowEnd >= served) return
  throw new Error(
    `the window of this build ends on ${build.windowEnd}, and that of ${current.version}, which is served now, ends ` +
      `on ${served}: bring newer data, or name the version with --version to take the window back all the same`,
  )
}

/** Null where the manifest is lost or damaged: then it tells nothing, and publishing anew is what mends it. */
async function windowEndOf(store: ObjectStore, current: CurrentVersion): Promise<string | null> {
  const bytes = await store.read(manifestKey(current.version))
  if (bytes === null || sha256(bytes) !== current.manifest_sha256) return null
  return manifest.parse(JSON.parse(new TextDecoder().decode(bytes))).window.to
}

type Stopwatch = { readonly lap: (name: string) => void; readonly laps: () => Timings }

function createStopwatch(elapsed: () => number): Stopwatch {
  const laps: Record<string, number> = {}
  let since = elapsed()
  return {
    lap: name => {
      const now = elapsed()
      laps[name] = Math.round(now - since)
      since = now
    },
    laps: () => laps,
  }
}

/** The private record of a build: what went in, on which machine, and how long it took. */
async function recordBuild(
  privateStore: ObjectStore,
  { book, manifest, timings }: BuildResult,
): Promise<void> {
  const record = {
    version: manifest.version,
    host: hostname(),
    built_with: manifest.built_with,
    timings_ms: timings,
    inputs: book.inputs,
    bars: [...book.bars.values()].map(({ path, bars, gaps }) => ({
      path,
      bars: bars.t.length,
      last_open: toIsoInstant(bars.t.at(-1)!),
      gaps: gaps.length,
      bars_missing: gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
    })),
  }
  const bytes = new TextEncoder().encode(`${JSON.stringify(record, null, 1)}\n`)
  await privateStore.replace(privateKey(manifest.version, 'build.json'), bytes, {
    content_type: 'application/json',
  })
}
