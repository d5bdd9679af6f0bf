// What a process knows of the log that it writes to, held against what Redis says of it. A Redis that was emptied knows
// nothing of its past, so no mark inside of it could tell.
import type { Redis } from 'ioredis'
import { MARK_AHEAD } from '../delivery/high-water.ts'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HEAD, LOG, RELAY_LEASE } from '../redis/keys.ts'

/** What the log must still hold: its epoch, and a head that is not below the highest number that was seen. */
export type KnownLog = { readonly epoch: string; readonly seq: number }

/** Where the log stands. */
export type LogHead = { readonly seq: number; readonly epoch: string }

/** What Redis says of the log. */
export type StoredHead = { readonly epoch: string | null; readonly seq: number }

/** By connection, because whoever writes over it must be held to it, whatever it writes. */
const known = new WeakMap<Redis, { readonly epoch: string; seq: number }>()

/** Redis holds another log than the one that was written, or none. */
export class LogGoneError extends Error {
  constructor(found: StoredHead, highest: number) {
    const there = found.epoch === null ? 'no epoch' : `epoch ${found.epoch}`
    super(
      `the log is gone: Redis holds ${there} and signals up to ${found.seq}, and numbers up to ${highest} may be given: ` +
        'restore it with `highwater ops restore`, or begin anew with ' +
        `\`highwater ops begin-anew --above ${highest}\`, the service stopped`,
    )
    this.name = 'LogGoneError'
  }
}

/**
 * Holds the log against the mark of the private store, and every later commit and look over this connection against what
 * was seen by then. Throws LogGoneError where the log does not reach numbers that were delivered, or `logEnd`, where it was
 * known to end; names the epoch of a log that is new.
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

/** What is known of the log of this connection, null where nobody guards it. */
export const knownLog = (redis: Redis): KnownLog | null => {
  const log = known.get(redis)
  return log === undefined ? null : { ...log } // as of now: answers that are under way are older
}

/** Notes the highest number that was seen over this connection. */
export function noteSeq(redis: Redis, seq: number): void {
  const log = known.get(redis)
  if (log !== undefined) log.seq = Math.max(log.seq, seq)
}

/** The newest number and the epoch as they stand in Redis, null where nobody has named one. */
export async function readStoredHead(redis: Redis): Promise<StoredHead> {
  const epoch = await askRedis(() => redis.get(EPOCH))
  const seq = await askRedis(() => redis.hget(HEAD, 'seq'))
  return { epoch, seq: Number(seq ?? 0) }
}

/**
 * The same, held against what is known of the log of this connection: throws LogGoneError where it is another one, or has
 * fewer signals than were seen.
 */
export async function readGuardedHead(redis: Redis): Promise<StoredHead> {
  const log = knownLog(redis)
  const found = await readStoredHead(redis)
  if (log !== null && (found.epoch !== log.epoch || found.seq < log.seq))
    throw new LogGoneError(found, log.seq)
  noteSeq(redis, found.seq)
  return found
}

/** Names the epoch, unless somebody does so at the same time: then it is theirs. */
export async function nameEpoch(redis: Redis, newEpoch: () => string): Promise<string> {
  await askRedis(() => redis.set(EPOCH, newEpoch(), 'NX'))
  const epoch = await askRedis(() => redis.get(EPOCH))
  return epoch ?? ''
}

/**
 * Goes on with a log whose past is lost: the next signal gets a number above `above` and above whatever is there, under a
 * new epoch, which tells the clients to pull again. Throws where a service is at work: it would hold to the old epoch.
 */
export async function beginAnew(redis: Redis, above: number, newEpoch: () => string): Promise<LogHead> {
  if ((await askRedis(() => redis.exists(RELAY_LEASE))) === 1)
    throw new Error('a service is at work on this Redis: stop it first, and wait some seconds')
  const epoch = newEpoch()
  const { seq: head } = await readStoredHead(redis)
  const [newest] = await askRedis(() => redis.xrevrange(LOG, '+', '-', 'COUNT', 1))
  const seq = Math.max(above, head, newest === undefined ? 0 : Number.parseInt(newest[0], 10))
  await askRedis(() => redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, epoch).exec())
  return { seq, epoch }
}
