// Detects a lost log: each process compares the log that it has seen with that of Redis. A mark inside
// Redis would be lost with the log.
import type { Redis } from 'ioredis'
import { MARK_AHEAD } from '../delivery/high-water.ts'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HEAD, LOG, RELAY_LEASE } from '../redis/keys.ts'

export type LogHead = { readonly seq: number; readonly epoch: string }

type StoredHead = { readonly seq: number; readonly epoch: string | null }

/** By connection, so that every write over it is checked. */
const known = new WeakMap<Redis, { readonly epoch: string; seq: number }>()

/** Redis has another log than the one that was written, or none. */
export class LogGoneError extends Error {
  constructor(found: StoredHead, highest: number) {
    const there = found.epoch === null ? 'no epoch' : `epoch ${found.epoch}`
    super(
      `the log is lost: Redis has ${there} and signals up to ${found.seq}, but numbers up to ${highest} may have been delivered: ` +
        'stop the service, then restore the log with `highwater ops restore`, or start a new one with ' +
        `\`highwater ops begin-anew --above ${highest}\``,
    )
    this.name = 'LogGoneError'
  }
}

/**
 * Compares the log with the mark of the private store, and every later commit and read over this connection with what
 * was seen by then. Throws LogGoneError if the log does not reach delivered numbers, or `logEnd`, its last recorded
 * end; names the epoch of a new log.
 */
export async function guardLog(
  redis: Redis,
  highWater: number,
  newEpoch: () => string,
  logEnd = 0,
): Promise<void> {
  const found = await readStoredHead(redis)
  const isBehind = found.seq < Math.max(1, highWater - MARK_AHEAD, logEnd)
  if (highWater > 0 && (found.epoch === null || isBehind)) throw new LogGoneError(found, highWater)
  known.set(redis, { epoch: found.epoch ?? (await nameEpoch(redis, newEpoch)), seq: found.seq })
}

/** The epoch and the lowest head that the log of this connection must still have, null if unguarded. */
export const knownLog = (redis: Redis): LogHead | null => {
  const log = known.get(redis)
  return log === undefined ? null : { ...log } // a copy: answers under way are older
}

/** Records the highest number seen over this connection. */
export function noteSeq(redis: Redis, seq: number): void {
  const log = known.get(redis)
  if (log !== undefined) log.seq = Math.max(log.seq, seq)
}

/** The newest number and the epoch in Redis; the epoch is null if it has none. */
export async function readStoredHead(redis: Redis): Promise<StoredHead> {
  const epoch = await askRedis(() => redis.get(EPOCH))
  const seq = await askRedis(() => redis.hget(HEAD, 'seq'))
  return { epoch, seq: Number(seq ?? 0) }
}

/** The same, checked: throws LogGoneError if it is another log or has fewer signals than were seen. */
export async function readGuardedHead(redis: Redis): Promise<StoredHead> {
  const log = knownLog(redis) // as known before the read: answers under way may note more
  return assertHead(redis, await readStoredHead(redis), log)
}

/** Compares a head that was read over this connection with what was known before. Throws LogGoneError. */
export function assertHead(redis: Redis, found: StoredHead, log: LogHead | null): StoredHead {
  if (log !== null && (found.epoch !== log.epoch || found.seq < log.seq))
    throw new LogGoneError(found, log.seq)
  noteSeq(redis, found.seq)
  return found
}

/** Sets the epoch, unless another process does so first. */
export async function nameEpoch(redis: Redis, newEpoch: () => string): Promise<string> {
  await askRedis(() => redis.set(EPOCH, newEpoch(), 'NX'))
  const epoch = await askRedis(() => redis.get(EPOCH))
  return epoch ?? ''
}

/**
 * Continues a log whose past is lost: the next number is above `above` and everything in Redis, under a new epoch,
 * which makes clients pull again. Throws if a service is running.
 */
export async function beginAnew(redis: Redis, above: number, newEpoch: () => string): Promise<LogHead> {
  if ((await askRedis(() => redis.exists(RELAY_LEASE))) === 1)
    throw new Error('a service is running on this Redis: stop it first, and wait some seconds')
  const epoch = newEpoch()
  const { seq: head } = await readStoredHead(redis)
  const [newest] = await askRedis(() => redis.xrevrange(LOG, '+', '-', 'COUNT', 1))
  const seq = Math.max(above, head, newest === undefined ? 0 : Number.parseInt(newest[0], 10))
  await askRedis(() => redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, epoch).exec())
  return { seq, epoch }
}
