import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { type KeyRing, newestKey } from '../outbox/secret-box.ts'
import { askRedis, scanKeys } from '../redis/connect.ts'
import { HEAD, LOG, PREFIX, RELAY_CURSOR } from '../redis/keys.ts'
import {
  BACKUP_FORMAT,
  type BackupHeader,
  type BackupRecord,
  createMac,
  isCopied,
  isLiveRecord,
} from './records.ts'

const BLOCK = 500

/**
 * The lines of a backup of a running Redis, in an order that makes it consistent: first the cursor of the relay, then
 * everything that refers to signals, then the log, which therefore has every signal that is referred to. The live
 * records are read together with the end of the log. The backup is signed with the newest key of the ring.
 */
export async function* backupLines(redis: Redis, ring: KeyRing, nowMs: number): AsyncGenerator<string, void> {
  const [keyId, key] = newestKey(ring)
  const header: BackupHeader = {
    type: 'highwater backup',
    format: BACKUP_FORMAT,
    key: keyId,
    made_at: toIsoInstant(nowMs),
    seq: Number((await askRedis(() => redis.hget(HEAD, 'seq'))) ?? 0),
    relay_cursor: Number((await askRedis(() => redis.get(RELAY_CURSOR))) ?? 0),
  }
  const mac = createMac(key)
  const toLine = (value: unknown): string => {
    const line = JSON.stringify(value)
    mac.update(`${line}\n`)
    return line
  }
  yield toLine(header)
  let records = 0
  for await (const record of allRecords(redis)) {
    records++
    yield toLine(record)
  }
  yield JSON.stringify({ type: 'end', records, hmac_sha256: mac.digest('hex') })
}

async function* allRecords(redis: Redis): AsyncGenerator<BackupRecord, void> {
  const live = new Set<string>()
  for await (const keys of scanKeys(redis, `${PREFIX}:`, BLOCK)) {
    for (const key of keys.filter(isLiveRecord)) live.add(key)
    // A key that SCAN returns twice is written twice; the second is newer.
    for (const record of await Promise.all(keys.filter(isCopied).map(key => readKey(redis, key))))
      if (record !== null) yield record
  }
  yield* logRecords(redis, [...live])
}

/**
 * The log, and the live records at its end, read in one step: a record from before one of its own signals would
 * decide that signal again.
 */
async function* logRecords(redis: Redis, live: readonly string[]): AsyncGenerator<BackupRecord, void> {
  let since = '-'
  for (;;) {
    const pipeline = redis.multi().xrange(LOG, since, '+', 'COUNT', BLOCK)
    for (const key of live) pipeline.hgetall(key)
    const [read, ...records] = ((await askRedis(() => pipeline.exec())) ?? []).map(replyOf)
    const entries = read as [string, string[]][] // what XRANGE and HGETALL reply
    for (const [id, fields] of entries) yield { type: 'signal', id, fields }
    if (entries.length < BLOCK) {
      for (const [i, key] of live.entries())
        yield { type: 'hash', key, value: records[i] as Record<string, string> }
      return
    }
    since = `(${entries.at(-1)![0]}`
  }
}

function replyOf([error, value]: [Error | null, unknown]): unknown {
  if (error !== null) throw error
  return value
}

/** A key with its value; null if it is gone or expires. */
async function readKey(redis: Redis, key: string): Promise<BackupRecord | null> {
  const [type, ttl] = await Promise.all([askRedis(() => redis.type(key)), askRedis(() => redis.pttl(key))])
  if (type === 'none' || ttl >= 0) return null
  if (type === 'hash') return { type, key, value: await askRedis(() => redis.hgetall(key)) }
  if (type === 'set') return { type, key, value: (await askRedis(() => redis.smembers(key))).sort() }
  if (type === 'list') return { type, key, value: await askRedis(() => redis.lrange(key, 0, -1)) }
  if (type === 'string') return { type, key, value: (await askRedis(() => redis.get(key))) ?? '' }
  throw new Error(
    `${key} is a ${type}, which no backup holds: put it on the lists of signals/backup/records.ts`,
  )
}
