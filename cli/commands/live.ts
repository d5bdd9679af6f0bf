import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import { hasRun } from '#signals/live/control.ts'
import type { Pause } from '#signals/live/feeds/feed.ts'
import { openLog } from '#signals/log/open-log.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-manifest.ts'
import { tolerate } from '#storage/tolerate.ts'
import { collect, threadsFor } from '../options/build-options.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Runtime } from '../runtime.ts'
import { liveEntries, parseFeeds, runLive } from '../services/live.ts'
import { openRedis } from '../services/redis-url.ts'
import { type Environment, readEnvironment, UsageError } from '../settings/environment.ts'
import { newEpochOf } from './ops/backup.ts'

type Options = {
  readonly book: string
  readonly feed?: readonly string[]
  readonly strategy?: readonly string[]
  readonly liveDir?: string
  readonly allowUnpublished?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
A feed is a file of bars that grows, in the format of bars/, or a URL that returns the newest bars in any form that
\`highwater import bars\` knows. The default is the file of the book.

Examples:
  highwater live --book ./book --feed file:/srv/feed/btc-4h.csv
  my-exchange-client | highwater live --book ./book --feed -
  highwater live --book ./book --feed BTCUSDT-PERP/4h=https://feed.example.org/bars --strategy oak`

/** `highwater live`: runs the modules of a book bar by bar and fires their signals. */
export function defineLive(command: Command, runtime: Runtime): void {
  command
    .requiredOption('--book <dir>', 'the folder with catalogue.yaml; its bars are the history')
    .option('--feed <[market=]source>', 'file:PATH, - or http(s)://..., once for each market', collect)
    .option('--strategy <id>', 'a strategy to run (default: every module of the book)', collect)
    .option('--allow-unpublished', 'run strategies that are not in the served dataset, too')
    .option('--live-dir <dir>', 'the folder for bars received live (default: .data/live)')
    .option('--json', 'print every line as a JSON document')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => runCommand(options, runtime))
}

async function runCommand(options: Options, runtime: Runtime): Promise<void> {
  const { cwd, now, elapsed, cores, untilStopped } = runtime
  const stop = new AbortController()
  void untilStopped().then(() => stop.abort())
  const environment = readEnvironment(runtime)
  const note = noteTo(runtime.terminal, options.json ?? false, now)
  const book = await readBook(resolve(cwd, options.book))
  const entries = liveEntries(book, options.strategy ?? [])
  const feeds = parseFeeds(options.feed ?? [], [...entries.keys()])
  const liveDir =
    options.liveDir === undefined ? join(environment.dataFolder, 'live') : resolve(cwd, options.liveDir)
  const redis = await openRedis(environment, environment.dataFolder)
  const stepper = createStepper(book, { threads: threadsFor(cores), elapsedMs: elapsed })
  try {
    if (!environment.allowsUnsafeRedis) await assertDurable(redis)
    if (!options.allowUnpublished) await assertPublished([...entries.values()].flat(), environment, redis)
    const privateStore = await openStore(environment.privateStoreUrl, environment.s3)
    const { allowsUnsafeRedis } = environment
    const log = await openLog(redis, { privateStore, newEpoch: newEpochOf(runtime), now, allowsUnsafeRedis })
    const world = { redis, stepper, stop, cwd, now, note, pause, input: () => process.stdin }
    await runLive({ book, entries, feeds, liveDir }, world).finally(() =>
      tolerate(log.close(), 'the next start continues above the mark'),
    )
  } finally {
    stop.abort()
    redis.disconnect()
    await stepper.close()
  }
}

/**
 * Subscribers look up a signal in the history of its strategy. Throws a UsageError if there is none, unless the strategy ran
 * before: it must not stop because a night failed.
 */
async function assertPublished(
  entries: readonly { readonly id: string }[],
  { storeUrl, s3 }: Environment,
  redis: Redis,
): Promise<void> {
  const store = await openStore(storeUrl, s3)
  const head = await readHead(store)
  const published = head === null ? [] : (await readManifest(store, head.entry)).strategies
  const unpublished: string[] = []
  for (const { id } of entries) {
    if (!published.includes(id) && !(await hasRun(redis, id))) unpublished.push(id)
  }
  if (unpublished.length === 0) return
  throw new UsageError(
    `not in the dataset that ${storeUrl} serves: ${unpublished.join(', ')}. Publish the book first, choose others with --strategy, ` +
      'or run them nevertheless with --allow-unpublished',
  )
}

const noteTo = (terminal: Terminal, json: boolean, now: () => number) => (message: string) => {
  const time = toIsoInstant(now())
  if (json) terminal.json({ time, message })
  else terminal.print(`${time} ${message}`)
}

/** Ends at once when `stop` is aborted. */
const pause: Pause = async (ms, stop) => {
  await after(ms, undefined, { signal: stop }).catch((error: unknown) => {
    if (!stop.aborted) throw error
  })
}
