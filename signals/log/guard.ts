// Detects a lost log: each process compares the log that it has seen with that of Redis. A mark inside
// Redis would be lost with the log.
import type { Redis } from 'ioredis'
import { askRedis } from '../redis/connect.ts'
import { EPOCH, HEAD, LOG, RELAY_LEASE } from '../redis/keys.ts'
import { MARK_AHEAD } from './high-water.ts'

export type LogHead = { readonly seq: number; readonly epoch: string }

type StoredHead = {
  readonly seq: number
  readonly epoch: string | null
  /** The epoch that was left for which one, if the service itself did that: two names, or ''. */
  readonly successor?: string
}

/** What a process that gives numbers does before it gives some; see `openLog`. */
export type NumberSource = {
  /** The name of this process. */
  readonly name: string
  /** Promises numbers up to one in the private store. */
  readonly promise: (seq: number) => Promise<void>
  /** Throws if the private store would take no promise; promises nothing. */
  readonly assertPromises: () => Promise<unknown>
  /** Throws if Redis may lose what it acknowledges. */
  readonly assertDurable: () => Promise<void>
}

/** By connection, so that every write over it is checked. */
const known = new WeakMap<Redis, { epoch: string; seq: number; readonly source: NumberSource | null }>()

/** Redis has another log than the one that was written, or none. */
export class LogGoneError extends Error {
  constructor(found: StoredHead, highest: number) {
    const epoch = found.epoch === null ? 'no epoch' : `epoch ${found.epoch}`
    const signals = found.seq === 0 ? 'no signal, as after FLUSHALL' : `signals up to ${found.seq}`
    super(
      `the log is lost: Redis has ${epoch} and ${signals}, but numbers up to ${highest} may have been delivered: ` +
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
  source: NumberSource | null = null,
): Promise<void> {
  const found = await assertThere(redis, highWater, logEnd)
  known.set(redis, { epoch: found.epoch ?? (await nameEpoch(redis, newEpoch)), seq: found.seq, source })
}

/** The head of the log. Throws LogGoneError if it does not reach these numbers. */
export async function assertThere(redis: Redis, highWater: number, logEnd: number): Promise<StoredHead> {
  const found = await readStoredHead(redis)
  const isBehind = found.seq < Math.max(highWater - MARK_AHEAD, logEnd)
  if (highWater > 0 && (found.epoch === null || isBehind)) throw new LogGoneError(found, highWater)
  return found
}

/** The epoch and the lowest head that the log of this connection must still have, null if unguarded. */
export const knownLog = (redis: Redis): (LogHead & { readonly source: NumberSource | null }) | null => {
  const log = known.get(redis)
  return log === undefined ? null : { ...log } // a copy: answers under way are older
}

/** Records the highest number seen over this connection. */
export function noteSeq(redis: Redis, seq: number): void {
  const log = known.get(redis)
  if (log !== undefined) log.seq = Math.max(log.seq, seq)
}

/** The newest number and the epoch in Redis; the epoch is null if it has none. */
async function readStoredHead(redis: Redis): Promise<StoredHead> {
  const epoch = await askRedis(() => redis.get(EPOCH))
  const [seq, successor] = await askRedis(() => redis.hmget(HEAD, 'seq', 'successor'))
  return { epoch, seq: Number(seq ?? 0), successor: successor ?? '' }
}

/** The same, checked: throws LogGoneError if it is another log or has fewer signals than were seen. */
export async function readGuardedHead(redis: Redis): Promise<StoredHead> {
  const log = knownLog(redis) // as known before the read: answers under way may note more
  return assertHead(redis, await readStoredHead(redis), log)
}

/**
 * Compares a head that was read over this connection with what was known before, and follows the log into an epoch that
 * the service itself began after it. Throws LogGoneError.
 */
export function assertHead(redis: Redis, found: StoredHead, log: LogHead | null): StoredHead {
  if (log === null) return found
  const isFollowed = found.successor === successorOf(log.epoch, found.epoch)
  if ((found.epoch !== log.epoch && !isFollowed) || found.seq < log.seq)
    throw new LogGoneError(found, log.seq)
  if (isFollowed) known.get(redis)!.epoch = found.epoch! // a successor has a name
  noteSeq(redis, found.seq)
  return found
}

export const successorOf = (epoch: string, next: string | null): string => `${epoch} ${next}`

/** Sets the epoch, unless another process does so first. */
async function nameEpoch(redis: Redis, newEpoch: () => string): Promise<string> {
  await askRedis(() => redis.set(EPOCH, newEpoch(), 'NX'))
  const epoch = await askRedis(() => redis.get(EPOCH))
  return epoch ?? ''
}

export async function assertNoService(redis: Redis): Promise<void> {
  if ((await askRedis(() => redis.exists(RELAY_LEASE))) === 1)
    throw new Error('a service is running on this Redis: stop it first, and wait some seconds')
}

/**
 * Continues a log whose past is lost: the next number is above `above` and everything in Redis, under a new epoch,
 * which makes clients pull again. Throws if a service is running.
 */
export async function startNewEpoch(redis: Redis, above: number, newEpoch: () => string): Promise<LogHead> {
  await assertNoService(redis)
  const epoch = newEpoch()
  const { seq: head } = await readStoredHead(redis)
  const [newest] = await askRedis(() => redis.xrevrange(LOG, '+', '-', 'COUNT', 1))
  const seq = Math.max(above, head, newest === undefined ? 0 : Number.parseInt(newest[0], 10))
  await askRedis(() => redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, epoch).exec())
  return { seq, epoch }
}
