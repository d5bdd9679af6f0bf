import { toIsoInstant } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { RedisDownError } from '../redis/connect.ts'
import { admitBar, FeedError } from './admit-bar.ts'
import type { BarStore } from './bar-store.ts'
import { begin } from './begin.ts'
import { CLOCK_TOLERANCE_MS, ClockError } from './clock.ts'
import type { Feed, Pause } from './feeds/feed.ts'
import type { KnownBars } from './known-bars.ts'
import type { Standing } from './live-record.ts'
import type { LiveStrategy } from './live-strategy.ts'
import { type LiveWorld, runBar } from './run-bar.ts'

/** How long a runner waits before it asks a Redis again that was away. */
const RETRY_MS = 500

/** One instrument on one timeframe, and the strategies that trade it. */
export type Market = {
  /** `BTCUSDT-PERP/4h`. */
  readonly name: string
  readonly strategies: readonly LiveStrategy[]
  readonly known: KnownBars
  readonly store: BarStore
  readonly feed: Feed
}

export type MarketWorld = LiveWorld & { readonly pause: Pause; readonly stop: AbortSignal }

type Run = { readonly strategy: LiveStrategy; standing: Standing; fault: string | null }

/**
 * Follows a market until its feed ends or it is asked to stop; the bar in hand is finished. A strategy that fails stops
 * alone and is told of; what is wrong with the feed, the clock or the disk stops all. Throws what stopped them.
 */
export async function runMarket(world: MarketWorld, market: Market): Promise<void> {
  const runs = await beginAll(world, market)
  await catchUp(world, market, runs)
  const noted = new Set<number>()
  if (world.stop.aborted) return
  for await (const bar of market.feed.bars(world.stop)) {
    if (world.stop.aborted) break
    if (!isNext(world, market, bar, noted)) continue
    await untilClosed(world, market, bar)
    if (world.stop.aborted) break
    await market.store.append(bar)
    market.known.add(bar)
    await stepAll(world, runs, bar)
  }
  const faults = runs.flatMap(({ fault }) => fault ?? [])
  if (faults.length > 0) throw new Error(`stopped on the way: ${faults.join('; ')}`)
}

async function beginAll(world: MarketWorld, { strategies, known }: Market): Promise<Run[]> {
  const standings = await Promise.all(
    strategies.map(strategy => untilRedisAnswers(world, () => begin(world, strategy, known))),
  )
  return standings.flatMap((standing, i) =>
    standing === null ? [] : [{ strategy: strategies[i]!, standing, fault: null }],
  )
}

/** Bars that came while nobody followed them: stored and not committed, or new in the book. */
async function catchUp(world: MarketWorld, { known, store }: Market, runs: readonly Run[]): Promise<void> {
  const opens = runs.map(({ standing }) => Number(standing.cursor)) // a bar opens where the one before closed
  for (const bar of known.from(Math.min(...opens))) {
    if (world.stop.aborted) return
    await store.append(bar)
    await stepAll(world, runs, bar)
  }
}

function isNext(world: MarketWorld, { feed, known }: Market, bar: Bar, noted: Set<number>): boolean {
  const admission = admitBar(feed.name, known, bar)
  if (admission === 'next') return true
  if (admission === 'gap' && !feed.repeats) {
    throw new FeedError(
      feed.name,
      `the bar at ${toIsoInstant(bar.t)} came after later ones, and what was decided without it stands: take it out`,
    )
  }
  if (admission === 'repeated' || noted.has(bar.t)) return false
  noted.add(bar.t)
  const what = admission === 'gap' ? 'came too late and stays a gap' : 'was revised; the first one stays'
  world.note(`${feed.name}: the bar at ${toIsoInstant(bar.t)} ${what}`)
  return false
}

/** A feed whose clock is a little ahead is waited for; one that is far ahead, or this clock behind, is an error. */
async function untilClosed(world: MarketWorld, { feed, known }: Market, bar: Bar): Promise<void> {
  const closeMs = bar.t + known.timeframeMs
  const aheadMs = closeMs - world.now()
  if (aheadMs > CLOCK_TOLERANCE_MS) {
    const which = `the feed ${feed.name} has the bar at ${toIsoInstant(bar.t)}, which closes in ${Math.ceil(aheadMs / 1_000)} s`
    throw new ClockError(which)
  }
  while (world.now() < closeMs && !world.stop.aborted) await world.pause(closeMs - world.now(), world.stop)
}

async function stepAll(world: MarketWorld, runs: readonly Run[], bar: Bar): Promise<void> {
  await Promise.all(runs.map(run => stepOne(world, run, bar)))
  if (runs.length > 0 && runs.every(({ fault }) => fault !== null)) {
    throw new Error(`every strategy has stopped: ${runs.map(({ fault }) => fault).join('; ')}`)
  }
}

async function stepOne(world: MarketWorld, run: Run, bar: Bar): Promise<void> {
  if (run.fault !== null || bar.t < Number(run.standing.cursor)) return
  try {
    const standing = await untilRedisAnswers(world, () => runBar(world, run.strategy, run.standing, bar))
    if (standing !== null) run.standing = standing
  } catch (error) {
    if (error instanceof ClockError) throw error
    run.fault = error instanceof Error ? error.message : String(error)
    world.note(`${run.strategy.alias} stops: ${run.fault}`)
  }
}

/**
 * Does something again until Redis answers; null where it is asked to stop before. Every attempt looks at the clock anew,
 * so that an entry that grew old meanwhile is late.
 */
async function untilRedisAnswers<T>(world: MarketWorld, ask: () => Promise<T>): Promise<T | null> {
  let isNoted = false
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof RedisDownError)) throw error
      if (!isNoted) world.note(`${error.message}; waiting for it`)
      isNoted = true
      if (world.stop.aborted) return null
      await world.pause(RETRY_MS, world.stop)
    }
  }
}
