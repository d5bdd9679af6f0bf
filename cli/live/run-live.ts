import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { type Bars, lastAtOrBefore, sliceBars } from '#core/replay/bars.ts'
import type { BarsKey, Book, StrategyEntry } from '#pipeline/book/book.ts'
import { createBarReader } from '#pipeline/book/read-bars.ts'
import type { Stepper } from '#pipeline/live/stepper.ts'
import { type BarStore, openBarStore } from '#signals/live/bar-store.ts'
import { assertClock } from '#signals/live/clock.ts'
import { createKnownBars, revisedBars } from '#signals/live/known-bars.ts'
import { type Holder, type Lease, RENEW_MS, takeLease } from '#signals/live/lease.ts'
import { type MarketWorld, runMarket } from '#signals/live/run-market.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { isAlive } from '#storage/open-store.ts'
import { tolerate } from '#storage/tolerate.ts'
import { toLiveStrategy } from './live-strategies.ts'
import { type FeedWorld, openFeed } from './open-feed.ts'

export type LiveOrder = {
  readonly book: Book
  readonly entries: ReadonlyMap<BarsKey, readonly StrategyEntry[]>
  /** By market; a market without one follows the book's own file. */
  readonly feeds: ReadonlyMap<string, string>
  /** Where the bars that come live are kept. */
  readonly liveDir: string
}

export type LiveSurroundings = FeedWorld & {
  readonly redis: Redis
  readonly stepper: Stepper
  readonly stop: AbortController
}

/**
 * Follows every market of a book until it is asked to stop or the feeds end. A market that fails leaves the others
 * running; what was wrong is thrown at the end.
 */
export async function runLive(order: LiveOrder, surroundings: LiveSurroundings): Promise<void> {
  const faults: unknown[] = []
  await Promise.all(
    [...order.entries.keys()].map(async market => {
      try {
        await followMarket(market, order, surroundings)
      } catch (error) {
        surroundings.note(`${market} stops: ${error instanceof Error ? error.message : String(error)}`)
        faults.push(error)
      }
    }),
  )
  if (faults.length > 0) throw faults[0]
}

async function followMarket(
  market: BarsKey,
  order: LiveOrder,
  surroundings: LiveSurroundings,
): Promise<void> {
  const { redis, now, note } = surroundings
  const holder: Holder = { pid: process.pid, host: hostname(), started: toIsoInstant(now()) }
  const lease = await takeLease(redis, market, holder, isGone)
  const stop = new AbortController()
  const own = { ...surroundings, stop: AbortSignal.any([surroundings.stop.signal, stop.signal]) }
  const renewing = renewWhile(lease, own, stop)
  let lost: unknown = null
  try {
    await withStore(market, order, own)
  } finally {
    stop.abort()
    lost = await renewing
    await tolerate(lease.release(), `the lease of ${market} was not given back; it ends by itself`)
  }
  if (lost !== null) throw lost
  note(`${market}: stopped`)
}

/** The process of this machine that held it has ended; of other machines nobody knows. */
const isGone = ({ pid, host }: Holder): boolean => host === hostname() && !isAlive(pid)

/**
 * Renews the lease until the market is left, and gives null; or leaves the market and gives what ended the lease. An
 * unreachable Redis ends none: the cursor guards every commit, and the lease is taken again.
 */
async function renewWhile(
  lease: Lease,
  { pause, stop }: MarketSurroundings,
  own: AbortController,
): Promise<unknown> {
  while (!stop.aborted) {
    await pause(RENEW_MS, stop)
    if (stop.aborted) return null
    try {
      await lease.renew()
    } catch (error) {
      if (error instanceof RedisDownError) continue
      own.abort()
      return error
    }
  }
  return null
}

type MarketSurroundings = Omit<LiveSurroundings, 'stop'> & { readonly stop: AbortSignal }

async function withStore(market: BarsKey, order: LiveOrder, own: MarketSurroundings): Promise<void> {
  const file = order.book.bars.get(market)!
  const store = await openBarStore(join(order.liveDir, `${market}.csv`), () =>
    createBarReader(file.timeframe),
  )
  try {
    await runStored(market, order, store, own)
  } finally {
    await store.close()
  }
}

async function runStored(
  market: BarsKey,
  { book, entries, feeds }: LiveOrder,
  store: BarStore,
  own: MarketSurroundings,
): Promise<void> {
  const { redis, now, note, pause, stop, stepper } = own
  const file = book.bars.get(market)!
  const known = createKnownBars(closedBars(file.bars, now()), store.bars)
  const [revised] = revisedBars(file.bars, store.bars)
  if (revised !== undefined) {
    note(
      `${market}: the book has other prices than were traded on, first at ${toIsoInstant(revised.t)}; those stay`,
    )
  }
  const feed = openFeed(feeds.get(market), book.dir, file, known, own)
  const strategies = await Promise.all(
    entries.get(market)!.map(entry => toLiveStrategy(stepper, entry, book, file.bars)),
  )
  const world: MarketWorld = { redis, now, note, pause, stop, assertClock: () => assertClock(redis, now) }
  note(`${market}: ${strategies.map(({ alias }) => alias).join(', ')} follow ${feed.name}`)
  await runMarket(world, { name: market, strategies, known, store, feed })
}

/** A book may end with the bar that is being made: it is none until it has closed. */
const closedBars = (bars: Bars, nowMs: number): Bars =>
  sliceBars(bars, 0, lastAtOrBefore(bars.t, nowMs - bars.timeframeMs) + 1)
