import { hostname } from 'node:os'
import { type EpochDay, toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import type { Book } from '#pipeline/book/book.ts'
import { formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot, type Night } from '#pipeline/night/compute-snapshot.ts'
import { currentVersionOf, type Published, publishVersion } from '#static-build/publish-version.ts'
import { acquireLock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { cleanStore, isAlive, openStore } from '#storage/open-store.ts'
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
  const release = await acquireLock(privateStore, 'build', {
    holder: { pid: process.pid, host: hostname(), started: toIsoInstant(surroundings.now()) },
    now: surroundings.now,
    isAlive,
  })
  try {
    await cleanStore(order.storeUrl)
    await cleanStore(order.privateStoreUrl)
    return await build({ ...order, store, privateStore }, surroundings, terminal)
  } finally {
    await release()
  }
}

type OpenOrder = BuildOrder & { readonly store: ObjectStore; readonly privateStore: ObjectStore }

async function build(order: OpenOrder, surroundings: Surroundings, terminal: Terminal): Promise<BuildResult> {
  const { store, privateStore, threads } = order
  const { progress } = terminal
  const version = order.version ?? toIsoInstant(surroundings.now())
  await assertNotOlder(store, version)
  const watch = createStopwatch(surroundings.elapsed)
  const book = await readBook(order.book)
  for (const warning of book.warnings) terminal.note(`warning: ${formatProblem(warning)}`)
  watch.lap('read')
  const night = await computeSnapshot(book, {
    version,
    nowMs: surroundings.now(),
    asOf: order.asOf,
    allowStale: order.allowStale,
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
  })
  watch.lap('publish')
  const result = { ...night, ...published, book, timings: watch.laps() }
  await recordBuild(privateStore, result)
  return result
}

/** Publishing an older version would take the served data back in time without anybody having said so. */
async function assertNotOlder(store: ObjectStore, version: string): Promise<void> {
  const current = await currentVersionOf(store)
  if (current === null || version >= current.version) return
  throw new Error(
    `the version ${version} is older than ${current.version}, which is served now: give a later --version`,
  )
}

function createStopwatch(elapsed: () => number) {
  const laps: Record<string, number> = {}
  let since = elapsed()
  return {
    lap: (name: string): void => {
      const now = elapsed()
      laps[name] = Math.round(now - since)
      since = now
    },
    laps: (): Timings => laps,
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
