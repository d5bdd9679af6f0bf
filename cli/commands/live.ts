import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { Command } from 'commander'
import { toIsoInstant } from '#core/calendar.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import { readHighWater, readLogEnd } from '#signals/delivery/high-water.ts'
import type { Pause } from '#signals/live/feeds/feed.ts'
import { guardLog } from '#signals/log/guard.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { openStore } from '#storage/open-store.ts'
import { collect, threadsFor } from '../build-options.ts'
import { readEnvironment } from '../environment.ts'
import { liveEntries, parseFeeds, runLive } from '../live.ts'
import type { Runtime } from '../runtime.ts'
import { openRedis } from '../signals/redis-url.ts'
import type { Terminal } from '../terminal.ts'
import { newEpochOf } from './ops/backup.ts'

type Options = {
  readonly book: string
  readonly feed?: readonly string[]
  readonly strategy?: readonly string[]
  readonly liveDir?: string
  readonly json?: boolean
}

const EXAMPLES = `
A feed is a file of bars that grows, in the format of bars/, or a URL that returns the newest bars, as a table or as a JSON
list of [t,o,h,l,c,v]. The default is the file of the book.

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
  const book = await readBook(resolve(cwd, options.book), { nowMs: now() })
  const entries = liveEntries(book, options.strategy ?? [])
  const feeds = parseFeeds(options.feed ?? [], [...entries.keys()])
  const liveDir =
    options.liveDir === undefined ? join(environment.dataFolder, 'live') : resolve(cwd, options.liveDir)
  const redis = await openRedis(environment, environment.dataFolder)
  const stepper = createStepper(book, { threads: threadsFor(cores), elapsedMs: elapsed })
  try {
    if (!environment.allowsUnsafeRedis) await assertDurable(redis)
    const privateStore = await openStore(environment.privateStoreUrl, environment.s3)
    await guardLog(
      redis,
      await readHighWater(privateStore),
      newEpochOf(runtime),
      await readLogEnd(privateStore),
    )
    const world = { redis, stepper, stop, cwd, now, note, pause, input: () => process.stdin }
    await runLive({ book, entries, feeds, liveDir }, world)
  } finally {
    stop.abort()
    redis.disconnect()
    await stepper.close()
  }
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
