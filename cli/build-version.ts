import { type EpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { Effort } from '#core/contract/effort.ts'
import type { Book } from '#pipeline/book/book.ts'
import { formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot, type Night } from '#pipeline/night/compute-snapshot.ts'
import { lastPublicDay } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { type Published, publishVersion } from '#static-build/publish-version.ts'
import type { Lock } from '#storage/lock.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { assertApart, cleanStore, openStore } from '#storage/open-store.ts'
import type { S3Access } from '#storage/s3-access.ts'
import type { Signer } from '#storage/signature.ts'
import { assertClock, assertNotAhead } from './assert-clock.ts'
import { assertNotOlder } from './assert-not-older.ts'
import { assertSignedHead } from './assert-signed-head.ts'
import { describeCode } from './code-identity.ts'
import { alertMismatch } from './live/alert-mismatch.ts'
import { assertLiveAgrees } from './live/assert-live-agrees.ts'
import { describeInputs, recordBuild } from './record-build.ts'
import type { AlertWays } from './send-alert.ts'
import { readSigner } from './signing.ts'
import type { SigningConsent } from './signing-options.ts'
import { createStopwatch, type Stopwatch, type Timings } from './stopwatch.ts'
import { withStoreLock } from './store-lock.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

/** What to build from, where to, and as of when. */
export type BuildOrder = {
  readonly book: string
  readonly storeUrl: string
  readonly privateStoreUrl: string
  readonly s3: S3Access
  /** The dataset version, an ISO instant; null for the moment of the build. */
  readonly version: string | null
  readonly asOf: EpochDay | null
  readonly allowStale: boolean
  /** Where the live signals are, which must be those of the replay; null where there are none. */
  readonly redisUrl: string | null
  /** Who is told where they are not. */
  readonly alertWays: AlertWays
  /** Whether the version may alter what was published, or follow what cannot be read any more. */
  readonly allowRestatement: boolean
  readonly consent: SigningConsent
  readonly threads: number
  /** How hard files are compressed. */
  readonly effort: Effort
}

export type BuildResult = Night & Published & { readonly book: Book; readonly timings: Timings }

/**
 * A night: read the book, compute the dataset, publish it as a version. Whatever throws, nothing is published and the
 * version before stays served.
 */
export async function buildVersion(
  order: BuildOrder,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<BuildResult> {
  const signer = await readSigner(surroundings.env)
  const store = await openStore(order.storeUrl, order.s3)
  const privateStore = await openStore(order.privateStoreUrl, order.s3)
  await assertApart(order.storeUrl, order.privateStoreUrl)
  const watch = createStopwatch(surroundings.elapsed, 'read')
  // Before anything is written: a book that is not there leaves no litter.
  const book = await readBook(order.book, { examine: examineBook(windowOf(order, surroundings)) })
  for (const warning of book.warnings) terminal.note(`warning: ${formatProblem(warning)}`)
  return withStoreLock(store, surroundings, terminal, async lock => {
    await cleanStore(order.storeUrl)
    await cleanStore(order.privateStoreUrl)
    return build({ ...order, store, privateStore, book, watch, lock, signer }, surroundings, terminal)
  })
}

type OpenOrder = Omit<BuildOrder, 'book'> & {
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly book: Book
  readonly watch: Stopwatch
  readonly lock: Lock
  readonly signer: Signer | null
}

async function build(order: OpenOrder, surroundings: Surroundings, terminal: Terminal): Promise<BuildResult> {
  const { store, privateStore, threads, book, watch } = order
  const progress = watch.follow(terminal.progress)
  const version = order.version ?? toIsoInstant(surroundings.now())
  const window = windowOf(order, surroundings)
  const windowEnd = toIsoDate(lastPublicDay(book, window))
  await assertClock(store, surroundings.now())
  assertNotAhead(version, surroundings.now())
  await assertSignedHead(store, order.signer, order.consent)
  await assertNotOlder(store, { version, windowEnd, isNamed: order.version !== null })
  watch.begin('compute')
  const night = await computeSnapshot(book, {
    version,
    ...window,
    threads,
    progress,
    elapsedMs: surroundings.elapsed,
  })
  for (const notice of night.notices) terminal.note(`note: ${notice}`)
  if (order.redisUrl !== null) {
    watch.begin('compare')
    const steps = { threads, elapsedMs: surroundings.elapsed }
    await assertLiveAgrees(book, order.redisUrl, steps, terminal).catch(async (error: unknown) => {
      await alertMismatch(error, order.alertWays, surroundings, terminal)
      throw error
    })
  }
  watch.begin('publish')
  const builtWith = await describeCode(surroundings.root)
  const published = await publishVersion({
    snapshot: night.snapshot,
    program: night.program,
    store,
    privateStore,
    builtWith,
    inputs: describeInputs(book),
    effort: order.effort,
    threads,
    progress,
    now: surroundings.now,
    signer: order.signer,
    allowRestatement: order.allowRestatement,
    assertAlone: order.lock.assertHeld,
  })
  const timings = watch.end()
  await recordBuild(privateStore, version, timings)
  return { ...night, ...published, book, timings }
}

const windowOf = ({ asOf, allowStale }: Pick<BuildOrder, 'asOf' | 'allowStale'>, { now }: Surroundings) => ({
  nowMs: now(),
  asOf,
  allowStale,
})
