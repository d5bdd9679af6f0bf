import type { Redis } from 'ioredis'
import type { Mode } from '#core/contract/signal.ts'
import { askRedis } from '../redis/connect.ts'
import { HALTED, liveKey } from '../redis/keys.ts'
import { EVERY_ALIAS } from './live-record.ts'

/** What the operator sees of a live strategy. */
export type LiveStatus = {
  readonly alias: string
  /** Close of its last bar, epoch milliseconds; null where it never ran. */
  readonly cursorMs: number | null
  readonly liveFromMs: number | null
  /** What the operator ordered: a strategy whose catalogue says DRY_RUN stays so. */
  readonly mode: Mode
  readonly isHalted: boolean
}

/**
 * Halts a strategy, or every one where `alias` is `*`: when this resolves no entry is written any more, also none that is
 * on its way; a `flat` still goes out.
 */
export const halt = async (redis: Redis, alias: string): Promise<void> =>
  void (await askRedis(() => redis.sadd(HALTED, alias)))

/** Ends a halt. One of `*` does not end that of a single strategy, nor the other way round. */
export const resume = async (redis: Redis, alias: string): Promise<void> =>
  void (await askRedis(() => redis.srem(HALTED, alias)))

/** The aliases that are halted; `*` stands for all. */
export const haltedAliases = async (redis: Redis): Promise<readonly string[]> =>
  (await askRedis(() => redis.smembers(HALTED))).sort()

/**
 * From its next entry on a strategy is LIVE, or `DRY_RUN` again. A position keeps the mode that it was announced with
 * until its `flat`. Throws for a strategy that never ran: it would go live with nobody looking.
 */
export async function orderMode(redis: Redis, alias: string, mode: Mode): Promise<void> {
  if ((await readStatus(redis, alias)).cursorMs === null) {
    throw new Error(`${alias} has never run: start \`highwater live\` first, and then order its mode`)
  }
  await askRedis(() => redis.hset(liveKey(alias), 'mode', mode))
}

/** How a strategy stands. */
export async function readStatus(redis: Redis, alias: string): Promise<LiveStatus> {
  const [cursor, from, mode] = await askRedis(() =>
    redis.hmget(liveKey(alias), 'cursor', 'live_from', 'mode'),
  )
  const halted = await haltedAliases(redis)
  return {
    alias,
    cursorMs: cursor ? Number(cursor) : null,
    liveFromMs: from ? Number(from) : null,
    mode: mode === 'LIVE' ? 'LIVE' : 'DRY_RUN',
    isHalted: halted.includes(alias) || halted.includes(EVERY_ALIAS),
  }
}
