import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { MODES, type Mode, type Signal } from '#core/contract/signal.ts'
import { readSignal } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { EVERY_ALIAS, HALTED, LATEST, liveKey } from '../redis/keys.ts'
import { type Gap, lateAfterMs, parseAnnounced, parseGaps } from './live-record.ts'

/** A live strategy as the operator sees it. */
export type LiveStatus = Awaited<ReturnType<typeof readStatus>>

/**
 * Halts a strategy, or all if `alias` is `*`: once this resolves no further entry is committed; a `flat` still is.
 */
export const halt = async (redis: Redis, alias: string): Promise<void> =>
  void (await askRedis(() => redis.sadd(HALTED, alias)))

/** Ends a halt. `*` and single strategies are independent. */
export const resume = async (redis: Redis, alias: string): Promise<void> =>
  void (await askRedis(() => redis.srem(HALTED, alias)))

export const hasRun = async (redis: Redis, alias: string): Promise<boolean> =>
  (await askRedis(() => redis.hexists(liveKey(alias), 'cursor'))) === 1

/** The halted aliases; `*` stands for all. */
export const haltedAliases = async (redis: Redis): Promise<readonly string[]> =>
  (await askRedis(() => redis.smembers(HALTED))).sort()

/**
 * Sets the mode of a strategy from its next entry on. A position keeps the mode of its entry until its `flat`. Throws
 * `conflict` if the strategy never ran.
 */
export async function orderMode(redis: Redis, alias: string, mode: Mode): Promise<void> {
  if (!(await hasRun(redis, alias))) {
    const message = `${alias} has never run: start \`highwater live\` first, and then order its mode`
    throw new ApiError('conflict', message)
  }
  await askRedis(() => redis.hset(liveKey(alias), 'mode', mode))
}

/** Notes how the signals of a strategy differ from the replay; null if they agree. */
export const noteDivergence = async (redis: Redis, alias: string, how: string | null): Promise<void> =>
  void (await askRedis(() =>
    how === null ? redis.hdel(liveKey(alias), 'diverges') : redis.hset(liveKey(alias), 'diverges', how),
  ))

const STATUS_FIELDS = ['cursor', 'live_from', 'mode', 'announced', 'timeframe_ms', 'gaps', 'diverges']

export async function readStatus(redis: Redis, alias: string, nowMs: number) {
  const [cursor, from, mode, announced, timeframe, gaps, diverges] = await askRedis(() =>
    redis.hmget(liveKey(alias), ...STATUS_FIELDS),
  )
  const halted = await haltedAliases(redis)
  const gap = newestGap(parseGaps(gaps).filter(({ found_ms }) => found_ms > 0))
  const behindMs = cursor && timeframe ? behindOf(Number(cursor), Number(timeframe), nowMs) : 0
  return {
    alias,
    /** When this was read. */
    atMs: nowMs,
    /** Null if it never ran. */
    last_bar_close: cursor ? toIsoInstant(Number(cursor)) : null,
    live_from: from ? toIsoInstant(Number(from)) : null,
    /** As ordered; a strategy whose catalogue says DRY_RUN stays so. */
    mode: MODES.find(each => each === mode) ?? ('DRY_RUN' as const),
    halted: halted.includes(alias) || halted.includes(EVERY_ALIAS),
    /** The side of the position that subscribers were sent, or null. */
    announced: parseAnnounced(announced)?.action ?? null,
    /** How long its next bar has been due; 0 as long as an entry on that bar would still be on time. */
    behind_seconds: Math.round(behindMs / 1_000),
    gap,
    missing_bars: gap?.total ?? 0,
    gap_before: gap && toIsoInstant(gap.before_ms),
    /** How its signals differed from the replay when a build last compared them; null if they agreed. */
    diverges: diverges ?? null,
    by_hand: await readByHand(redis, alias),
  }
}

/** The number of the newest signal of a strategy if an operator fired it, else null. */
async function readByHand(redis: Redis, alias: string): Promise<number | null> {
  const seq = Number((await askRedis(() => redis.hget(LATEST, alias))) ?? 0)
  const newest = await readSignal(redis, seq).catch(() => null) // it is reported where it is read
  if (newest === null) return null
  const { by = 'strategy' }: Signal = JSON.parse(newest.body) // its digest was checked
  return by === 'strategy' ? null : seq
}

/** The last of the gaps since a strategy went live, and how many bars are missing in all; null without one. */
const newestGap = (found: readonly Gap[]) =>
  found.length === 0
    ? null
    : { ...found.at(-1)!, total: found.reduce((sum, { missing }) => sum + missing, 0) }

function behindOf(cursorMs: number, timeframeMs: number, nowMs: number): number {
  const dueMs = nowMs - (cursorMs + timeframeMs)
  return dueMs > lateAfterMs(timeframeMs) ? dueMs : 0
}

/** Whether a runner is silent that subscribers rely on: its strategy is LIVE, or they were sent a position of it. */
export const isMissed = ({ behind_seconds, mode, announced }: LiveStatus): boolean =>
  behind_seconds > 0 && (mode === 'LIVE' || announced !== null)
