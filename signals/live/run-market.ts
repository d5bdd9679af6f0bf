import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { messageOf } from '#storage/error-code.ts'
import { commit, type NewSignal } from '../log/commit.ts'
import { CLOCK_TOLERANCE_MS, ClockError } from '../redis/clock.ts'
import { askRedis, RedisDownError } from '../redis/connect.ts'
import { LIVE_ALIASES } from '../redis/keys.ts'
import { admitBar, type BarStore, type Feed, FeedError, type KnownBars, type Pause } from './bars.ts'
import {
  announce,
  describeGap,
  eventOf,
  heldField,
  lateAfterMs,
  noteDivergence,
  type Orders,
  readOrders,
  readStanding,
  recordFields,
  type Standing,
} from './live-record.ts'
import { closeOf, flatAt, type LiveStrategy, type Stepped, signalsOf } from './signals-of.ts'

const RETRY_MS = 500

export type LiveWorld = {
  readonly redis: Redis
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Throws a ClockError if the clock may be wrong. */
  readonly assertClock: () => Promise<void>
  /** Prints a line for the operator. */
  readonly note: (line: string) => void
}

/** One instrument on one timeframe, and the strategies that trade it. */
export type Market = {
  readonly strategies: readonly LiveStrategy[]
  readonly known: KnownBars
  readonly store: BarStore
  readonly feed: Feed
}

export type MarketWorld = LiveWorld & { readonly pause: Pause; readonly stop: AbortSignal }

type Run = { readonly strategy: LiveStrategy; standing: Standing; fault: string | null }

/**
 * Follows a market until its feed ends or it is stopped; the current bar is finished. A strategy that fails stops
 * alone; a fault of the feed, the clock or the disk stops all. Throws what stopped them.
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

/** Bars that came without a runner: stored and not committed, or new in the book. */
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
  if (admission === 'gap' && !feed.repeats)
    throw new FeedError(
      feed.name,
      `the bar at ${toIsoInstant(bar.t)} came after later ones, and what was decided without it stands: take it out`,
    )
  if (admission === 'repeated' || noted.has(bar.t)) return false
  noted.add(bar.t)
  const what = admission === 'gap' ? 'came too late and stays a gap' : 'was revised; the first one stays'
  world.note(`${feed.name}: the bar at ${toIsoInstant(bar.t)} ${what}`)
  return false
}

/** Waits for a feed whose clock is slightly ahead; throws if it is far ahead, or this clock behind. */
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
  if (runs.length > 0 && runs.every(({ fault }) => fault !== null))
    throw new Error(`every strategy has stopped: ${runs.map(({ fault }) => fault).join('; ')}`)
}

async function stepOne(world: MarketWorld, run: Run, bar: Bar): Promise<void> {
  if (run.fault !== null || bar.t < Number(run.standing.cursor)) return
  try {
    const standing = await untilRedisAnswers(world, () => runBar(world, run.strategy, run.standing, bar))
    if (standing !== null) run.standing = standing
  } catch (error) {
    if (error instanceof ClockError) throw error
    run.fault = messageOf(error)
    world.note(`${run.strategy.alias} stops: ${run.fault}`)
  }
}

/**
 * Repeats an action until Redis answers; null if stopped before. Each try reads the clock again, so that an entry
 * that grew old is late.
 */
async function untilRedisAnswers<T>(world: MarketWorld, ask: () => Promise<T>): Promise<T | null> {
  let isNoted = false
  for (;;) {
    try {
      const answer = await ask()
      if (isNoted) world.note('Redis answers again')
      return answer
    } catch (error) {
      if (!(error instanceof RedisDownError)) throw error
      if (!isNoted) world.note(`${error.message}; waiting for it`)
      isNoted = true
      if (world.stop.aborted) return null
      await world.pause(RETRY_MS, world.stop)
    }
  }
}

/**
 * Processes one closed bar of one strategy: a step of the engine, and one commit of its signals, checkpoint and
 * cursor. A bar that was committed already, by this runner or another, is not committed again: the position in Redis
 * is returned. Throws a RedisDownError if the outcome is unknown: run the same bar again.
 */
export async function runBar(world: LiveWorld, strategy: LiveStrategy, standing: Standing, bar: Bar) {
  const stepped = await strategy.step(standing.state, bar)
  await world.assertClock()
  const isLate = world.now() - closeOf(bar, strategy) > lateAfterMs(strategy.timeframeMs)
  const orders = { ...(await readOrders(world.redis, strategy)), isLate }
  // A halt may be ordered after they were read.
  for (const isHalted of [orders.isHalted, true]) {
    const next = await writeBar(world, strategy, standing, stepped, { ...orders, isHalted })
    if (next !== null) return next
  }
  throw new Error(`${strategy.alias}: a halt kept back a bar without an entry`)
}

/** The new position; null, with nothing written, if a halt forbids one of the entries. */
async function writeBar(
  world: LiveWorld,
  strategy: LiveStrategy,
  standing: Standing,
  { report, state }: Stepped,
  orders: Orders,
): Promise<Standing | null> {
  const { version } = strategy
  const { signals, announced, held } = announce(signalsOf(report, strategy), standing.announced, orders)
  const before_ms = report.bar.t
  const missing = (before_ms - Number(standing.cursor)) / strategy.timeframeMs // a bar without a gap opens at the cursor
  const found = missing > 0 ? [{ missing, before_ms, found_ms: world.now() }] : []
  const cursor = String(closeOf(report.bar, strategy))
  const next: Standing = { cursor, version, state, announced, gaps: [...standing.gaps, ...found] }
  const outcome = await commit(world.redis, signals.map(toNew), world.now(), {
    alias: strategy.alias,
    from: standing.cursor,
    to: next.cursor,
    fields: {
      ...recordFields(next, strategy.timeframeMs),
      ...(missing > 0 ? { gaps: JSON.stringify(next.gaps) } : {}),
      ...Object.fromEntries(held.map(id => [heldField(id), 'halt'])),
    },
  })
  if (outcome.kind === 'halted') return null
  if (outcome.kind === 'moved') return reload(world, strategy, standing, next)
  for (const gap of found) world.note(`${strategy.alias}: ${describeGap(gap)}`)
  for (const [i, { seq }] of outcome.signals.entries()) world.note(lineOf(seq, signals[i]!))
  for (const _ of held) world.note(`${strategy.alias}: an entry is kept back, because it is halted`)
  return next
}

const toNew = (content: SignalContent): NewSignal => ({ content, onlyFor: null })

const lineOf = (seq: number, { alias, action, mode, signal_price, stop }: SignalContent): string =>
  `signal ${seq}: ${alias} ${action} at ${signal_price}, stop ${stop}, ${mode}`

/** Continues from the record in Redis, which is never behind the bar unless Redis was restored. */
async function reload(
  { redis, note }: LiveWorld,
  { alias, version }: LiveStrategy,
  before: Standing,
  wanted: Standing,
): Promise<Standing> {
  const there = await readStanding(redis, alias)
  if (there === null || Number(there.cursor) < Number(wanted.cursor) || there.version !== version)
    throw new Error(
      `${alias}: Redis does not know the bar that closed at ${toIsoInstant(Number(before.cursor))} as this runner left ` +
        'it: it was wiped or restored, or another runner replaced the strategy; start this one again',
    )
  note(`${alias}: the bar that closed at ${toIsoInstant(Number(wanted.cursor))} was committed before`)
  return there
}

/**
 * Where a strategy continues: at its checkpoint, or, at its first start and with a new version, at the end of a
 * replay of all known bars, which fires nothing, so positions entered before are never announced.
 *
 * A new version is a new history: it is `DRY_RUN` until the operator orders otherwise, and an announced position of
 * the version before is closed by a `flat`.
 */
export async function begin(world: LiveWorld, strategy: LiveStrategy, known: KnownBars): Promise<Standing> {
  const { alias, version } = strategy
  await askRedis(() => world.redis.sadd(LIVE_ALIASES, alias))
  const there = await readStanding(world.redis, alias)
  if (there?.version === version) return there
  if (known.last() === null)
    throw new Error(`${alias}: there are no bars to begin with; bring at least a day of them`)
  const state = await strategy.replay(known.columns())
  const gaps = known.gaps()
  const cursor = String(state.last_t + strategy.timeframeMs)
  const next: Standing = { cursor, version, state, announced: null, gaps }
  assertForward(alias, there, next)
  await world.assertClock()
  const flats =
    there === null ? [] : closing(alias, { ...next, announced: there.announced }, `version ${version}`)
  const outcome = await commit(world.redis, flats, world.now(), {
    alias,
    from: there?.cursor ?? '',
    to: next.cursor,
    fields: {
      ...recordFields(next, strategy.timeframeMs),
      live_from: next.cursor,
      gaps: JSON.stringify(gaps),
      ...(there === null ? {} : { mode: 'DRY_RUN' }),
    },
    ended: endedBy(world, alias, `version ${version} replaced the one that was live`),
  })
  if (outcome.kind === 'moved') return begin(world, strategy, known) // another runner began it meanwhile
  world.note(describe(strategy, there, next))
  return next
}

const endedBy = ({ now }: LiveWorld, alias: string, why: string): string =>
  eventOf('ended', alias, { by: 'runner', atMs: now(), why })

function assertForward(alias: string, there: Standing | null, next: Standing): void {
  if (there === null || Number(there.cursor) <= Number(next.cursor)) return
  throw new Error(
    `${alias}: it was live until ${toIsoInstant(Number(there.cursor))} and the bars end at ` +
      `${toIsoInstant(Number(next.cursor))}: bring the bars up to there, or name the folder with the live bars`,
  )
}

/** The `flat` for an announced position; its id says why, because the bar may have had a flat. */
function closing(alias: string, { cursor, state, announced }: Standing, why: string): NewSignal[] {
  if (announced === null) return []
  const { mode, stop } = announced
  const content = { ...flatAt(alias, Number(cursor), 'end', why), mode, signal_price: state.last_close, stop }
  return [toNew(content)]
}

/**
 * Ends a strategy that the catalogue says has ended: what was announced is closed by a `flat`, and no runner continues
 * from its record, which would be behind for ever.
 */
export async function endLive(world: LiveWorld, alias: string): Promise<void> {
  const { redis, note } = world
  const there = await readStanding(redis, alias)
  if (there !== null) {
    await world.assertClock()
    const outcome = await commit(redis, closing(alias, there, 'ended'), world.now(), {
      alias,
      from: there.cursor,
      to: there.cursor,
      fields: { cursor: '', announced: 'null', mode: 'DRY_RUN' },
      ended: endedBy(world, alias, 'it has ended in the catalogue'),
    })
    if (outcome.kind === 'moved') return endLive(world, alias) // a runner of the catalogue before decided a bar
    note(
      `${alias} has ended: ${there.announced === null ? 'nothing was announced' : 'what was announced is closed'}`,
    )
  }
  // After the commit, also after one that a kill separated from this: while it fails, the alerts go on.
  await askRedis(() => redis.srem(LIVE_ALIASES, alias))
  await noteDivergence(redis, alias, null)
}

function describe({ alias, version }: LiveStrategy, there: Standing | null, { cursor }: Standing): string {
  const when = `live from ${toIsoInstant(Number(cursor))} on`
  return there === null
    ? `${alias}: ${when}, with nothing announced; it is DRY_RUN until the operator orders LIVE`
    : `${alias}: version ${version} instead of ${there.version} is ${when}; what was announced is closed, and it is ` +
        'DRY_RUN until the operator orders LIVE'
}
