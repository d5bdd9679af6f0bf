import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { clientOf, type Destination } from '../outbox/destination.ts'
import { askRedis } from '../redis/connect.ts'
import { LATEST, LOG, SIGNAL_IDS } from '../redis/keys.ts'
import { fromPairs } from '../redis/script.ts'
import { type LogHead, readGuardedHead } from './guard.ts'

export type LoggedSignal = {
  readonly seq: number
  /** The exact bytes, as text: signed, sent and pulled. */
  readonly body: string
  readonly alias: string
  /** The destination of a test fire, else null. */
  readonly onlyFor: Destination | null
  /** When it was written, epoch milliseconds. */
  readonly atMs: number
}

export function signalIdOf(body: string): string {
  const { signal_id } = JSON.parse(body) as { signal_id: string } // the log holds signals alone
  return signal_id
}

/** An entry whose bytes do not match their digest. */
export class DamagedLogError extends Error {
  constructor(seq: number) {
    super(`signal ${seq} is not what was written to the log: restore it with \`highwater ops restore\``)
    this.name = 'DamagedLogError'
  }
}

/** Up to `most` signals after `since`, ascending. Throws DamagedLogError or RedisDownError. */
export async function readAfter(redis: Redis, since: number, most: number): Promise<readonly LoggedSignal[]> {
  const entries = await askRedis(() => redis.xrange(LOG, `(${since}-0`, '+', 'COUNT', most))
  return entries.map(toLogged)
}

/** Up to `most` signals before `seq`, descending. Throws DamagedLogError or RedisDownError. */
export async function readBefore(redis: Redis, seq: number, most: number): Promise<readonly LoggedSignal[]> {
  const entries = await askRedis(() => redis.xrevrange(LOG, `(${seq}-0`, '-', 'COUNT', most))
  return entries.map(toLogged)
}

export const isKnownId = async (redis: Redis, signalId: string): Promise<boolean> =>
  (await askRedis(() => redis.hexists(SIGNAL_IDS, signalId))) === 1

export async function readSignal(redis: Redis, seq: number): Promise<LoggedSignal | null> {
  const [entry] = await askRedis(() => redis.xrange(LOG, `${seq}-0`, `${seq}-0`))
  return entry === undefined ? null : toLogged(entry)
}

/** Signals that a reader caches: some hundred kilobytes. */
const MOST_CACHED = 500

export type LogReader = ReturnType<typeof createLogReader>

/**
 * `readSignal` and `readAfter` with a cache: a signal never changes, and its number is never used again. What the relay
 * has read as a block is known to the workers.
 */
export function createLogReader(redis: Redis) {
  const known = new LRUCache<number, LoggedSignal>({
    max: MOST_CACHED,
    ignoreFetchAbort: true, // a signal that is evicted while it is read is wanted all the same
    fetchMethod: async seq => (await readSignal(redis, seq)) ?? undefined,
  })
  return {
    /** A signal at once if it is known, otherwise as it is read; undefined if the log has no such signal. */
    readSignal: (seq: number): LoggedSignal | Promise<LoggedSignal | undefined> =>
      known.get(seq) ?? known.fetch(seq),
    async readAfter(since: number, most: number): Promise<readonly LoggedSignal[]> {
      const block = await readAfter(redis, since, most)
      for (const signal of block) known.set(signal.seq, signal)
      return block
    },
  }
}

/** The newest number and the epoch, '' on a connection that nothing guards. Throws LogGoneError. */
export async function readHead(redis: Redis): Promise<LogHead> {
  const { seq, epoch } = await readGuardedHead(redis)
  return { seq, epoch: epoch ?? '' }
}

/** An entry of the stream. Throws DamagedLogError if its bytes do not match. */
export function toLogged([id, fields]: [string, string[]]): LoggedSignal {
  const seq = Number.parseInt(id, 10)
  const { body = '', sha1, alias = '', to = '', at = '0' } = fromPairs(fields)
  if (createHash('sha1').update(body).digest('hex') !== sha1) throw new DamagedLogError(seq)
  return { seq, body, alias, onlyFor: to === '' ? null : to, atMs: Number(at) }
}

/**
 * A client, as far as visibility needs it: it sees every signal of its aliases, and the tests of all its endpoints. Or one of its
 * endpoints, `sentTo`, of which only its own tests count.
 */
export type Viewer = {
  readonly id: string
  readonly aliases: readonly string[]
  readonly sentTo?: Destination
}

/** Some 200 kB, which is what a reader has in memory however long the log is. */
export const BLOCK_SIGNALS = 512

export function viewOf({ id, aliases, sentTo }: Viewer): (signal: LoggedSignal) => boolean {
  const seen = new Set(aliases)
  const isItsTest = (onlyFor: Destination): boolean =>
    sentTo === undefined ? clientOf(onlyFor) === id : onlyFor === sentTo
  return ({ alias, onlyFor }) => (onlyFor === null ? seen.has(alias) : isItsTest(onlyFor))
}

/** The fields of LATEST that a signal is the newest of. */
export const kindsOf = ({ alias, onlyFor }: Pick<LoggedSignal, 'alias' | 'onlyFor'>): readonly string[] => {
  if (onlyFor === null) return [alias]
  return onlyFor === clientOf(onlyFor) ? [testsOf(onlyFor)] : [testsOf(onlyFor), testsOfOthers(onlyFor)]
}

export const testsOf = (destination: Destination): string => `test:${destination}`
const testsOfOthers = (destination: Destination): string => `test:${clientOf(destination)}/*`

/** The newest number that a client sees, or that an endpoint of it is sent, 0 if none. */
export async function newestVisible(redis: Redis, { id, aliases, sentTo }: Viewer): Promise<number> {
  const tests = sentTo === undefined ? [testsOf(id), testsOfOthers(id)] : [testsOf(sentTo)]
  const found = await askRedis(() => redis.hmget(LATEST, ...aliases, ...tests))
  return Math.max(0, ...found.map(Number))
}

/** What a client sees after `since` and up to `until`, ascending, in blocks that are never empty. */
export async function* readVisible(
  redis: Redis,
  viewer: Viewer,
  since: number,
  until: number,
): AsyncGenerator<readonly LoggedSignal[], void> {
  const isVisible = viewOf(viewer)
  for (let at = since; at < until; ) {
    const block = await readAfter(redis, at, BLOCK_SIGNALS)
    const seen = block.filter(signal => signal.seq <= until && isVisible(signal))
    if (seen.length > 0) yield seen
    at = block.length < BLOCK_SIGNALS ? until : block.at(-1)!.seq
  }
}

/** The aliases of which a signal was ever fired, tests aside. */
export const firedAliases = async (redis: Redis): Promise<readonly string[]> =>
  (await askRedis(() => redis.hkeys(LATEST))).filter(field => !field.includes(':'))
