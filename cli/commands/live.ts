import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { createStepper } from '#pipeline/live/stepper.ts'
import type { Pause } from '#signals/live/bars.ts'
import { hasRun } from '#signals/live/live-record.ts'
import { openLog } from '#signals/log/open-log.ts'
import { assertDurable } from '#signals/redis/boot-checks.ts'
import { assertClock } from '#signals/redis/clock.ts'
import { tolerate } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-files.ts'
import { threadsFor } from '../options/build-options.ts'
import { define, flag, option, repeated, required } from '../options/command.ts'
import { openStores } from '../options/store-option.ts'
import { newEpochOf, openRedis } from '../outside/redis-url.ts'
import { UsageError } from '../runtime.ts'
import { liveEntries, parseFeeds, runLive } from '../services/live.ts'
import { readEnvironment } from '../settings/environment.ts'
import { text } from '../settings/text.ts'

const OPTIONS = {
  book: required('<dir>', 'the folder with catalogue.yaml; its bars are the history', text),
  feed: repeated('<[market=]source>', 'file:PATH, - or http(s)://..., once for each market'),
  strategy: repeated('<id>', 'a strategy to run (default: every module of the book)'),
  allowUnpublished: flag('run strategies that are not in the served dataset, too'),
  liveDir: option('<dir>', 'the folder for bars received live (default: .data/live)'),
  json: flag('print every line as a JSON document'),
}

const EXAMPLES = `
A feed is a file of bars that grows, in the format of bars/, or a URL that returns the newest bars in any form that
\`highwater import bars\` knows. The default is the file of the book.

Examples:
  highwater live --book ./book --feed file:/srv/feed/btc-4h.csv
  my-exchange-client | highwater live --book ./book --feed -
  highwater live --book ./book --feed BTCUSDT-PERP/4h=https://feed.example.org/bars --strategy oak`

export const defineLive = define(OPTIONS, EXAMPLES, async (options, runtime) => {
  const { cwd, now, elapsed, cores, terminal, untilStopped } = runtime
  const stop = new AbortController()
  void untilStopped().then(() => stop.abort())
  const environment = readEnvironment(runtime)
  const note = (message: string): void => {
    const time = toIsoInstant(now())
    terminal.result(options.json, { time, message }, [`${time} ${message}`])
  }
  const book = await readBook(resolve(cwd, options.book))
  const entries = liveEntries(book, options.strategy ?? [])
  const feeds = parseFeeds(options.feed ?? [], [...entries.keys()])
  const liveDir = resolve(cwd, options.liveDir ?? join(environment.DATA_FOLDER, 'live'))
  const redis = await openRedis(environment)
  const stepper = createStepper(book, { threads: threadsFor(cores), elapsedMs: elapsed })
  try {
    const allowsUnsafeRedis = environment.ALLOW_UNSAFE_REDIS
    if (!allowsUnsafeRedis) await assertDurable(redis)
    const { store, privateStore } = await openStores(environment)
    if (!options.allowUnpublished) await assertPublished([...entries.values()].flat(), store, redis)
    const log = await openLog(redis, { privateStore, newEpoch: newEpochOf(runtime), now, allowsUnsafeRedis })
    const of = { redis, stepper, stop: stop.signal, cwd, now, note, pause }
    const world = { ...of, assertClock: () => assertClock(redis, now), input: () => process.stdin }
    await runLive({ book, entries, feeds, liveDir }, world).finally(() =>
      tolerate(log.close(), 'the next start continues above the mark'),
    )
  } finally {
    stop.abort()
    redis.disconnect()
    await stepper.close()
  }
})

/** Throws a UsageError for a strategy without a published history, unless it ran before: it must not stop because a night failed. */
async function assertPublished(
  entries: readonly { readonly id: string }[],
  store: ObjectStore,
  redis: Redis,
): Promise<void> {
  const head = await readHead(store)
  const published = head === null ? [] : (await readManifest(store, head.entry)).strategies
  const unpublished: string[] = []
  for (const { id } of entries) {
    if (!published.includes(id) && !(await hasRun(redis, id))) unpublished.push(id)
  }
  if (unpublished.length === 0) return
  throw new UsageError(
    `not in the dataset that ${store.url} serves: ${unpublished.join(', ')}. Publish the book first, choose others with --strategy, ` +
      'or run them nevertheless with --allow-unpublished',
  )
}

/** Ends at once when `stop` is aborted. */
const pause: Pause = (ms, stop) => after(ms, undefined, { signal: stop }).catch(() => {})
