// A backup: lines of JSON. The log and the outbox are copied; indexes and schedules follow from them and are
// built again at a restore, so a backup of a running Redis is consistent.
import { createHmac, type Hmac, hkdfSync, type KeyObject } from 'node:crypto'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { type KeyRing, newestKey } from '../outbox/secret-box.ts'
import { askAll, askRedis, scanKeys } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'

/** Raised when the format changes so that an older release cannot read it. */
export const BACKUP_FORMAT = 2

/** Rebuilt from the log and the outbox, or useless in another Redis. */
const DERIVED: readonly string[] = [
  keys.SIGNAL_IDS,
  keys.HEAD,
  keys.LATEST,
  keys.RELAYED,
  ...Object.values(keys.SCHEDULES),
  keys.EPOCH,
  keys.RELAY_LEASE,
  keys.NOTICES_OWED, // the lists of the clients have them
  keys.CLOCK,
  keys.AUDIT_COPIED, // a restored log has another epoch, and so another folder
  keys.SEALS, // from the private store
]
const DERIVED_PREFIXES: readonly string[] = [
  keys.FLIGHT_PREFIX,
  keys.READY_PREFIX,
  keys.waitingKey(''),
  keys.PREVIEW_LIMIT_PREFIX,
  keys.sessionsKey(''),
  keys.accountSessionsKey(''),
  keys.accountLinkKey(''),
]

const SPECIAL: readonly string[] = [keys.LOG, keys.RELAY_CURSOR]
const isLiveRecord = (key: string): boolean => key.startsWith(keys.liveKey(''))

/** Whether a key is copied as it is. A new kind of key is copied unless it is in the lists above. */
const isCopied = (key: string): boolean =>
  !DERIVED.includes(key) &&
  !SPECIAL.includes(key) &&
  !isLiveRecord(key) &&
  !DERIVED_PREFIXES.some(prefix => key.startsWith(prefix))

export const backupHeader = z.object({
  type: z.literal('highwater backup'),
  format: z.literal(BACKUP_FORMAT),
  /** The id of the key of SECRET_KEY that it was signed with. */
  key: z.string(),
  made_at: z.string(),
  seq: z.number(),
  /**
   * Where the relay stood before anything else was read: what it has passed since is in the outbox; relaying it twice
   * does no harm.
   */
  relay_cursor: z.number(),
})

/** A key that a backup may have: another one is not of the signals, or follows from the log. */
const key = z
  .string()
  .refine(name => name.startsWith(`${keys.PREFIX}:`) && (isCopied(name) || isLiveRecord(name)))

export const backupRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hash'), key, value: z.record(z.string(), z.string()) }),
  z.object({ type: z.literal('set'), key, value: z.array(z.string()) }),
  z.object({ type: z.literal('list'), key, value: z.array(z.string()) }),
  z.object({ type: z.literal('string'), key, value: z.string() }),
  z.object({ type: z.literal('signal'), id: z.string(), fields: z.array(z.string()) }),
])

export const backupEnd = z.object({ type: z.literal('end'), records: z.number(), hmac_sha256: z.string() })

export type BackupRecord = z.infer<typeof backupRecord>

/** The message authentication code of a backup, under a key of SECRET_KEY; derived, because that key also encrypts. */
export const createMac = (key: KeyObject): Hmac =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'highwater backup', 32)))

const BLOCK = 500

/**
 * The lines of a backup of a running Redis, in an order that makes it consistent: first the cursor of the relay, then
 * everything that refers to signals, then the log, which therefore has every signal that is referred to. The live
 * records are read together with the end of the log. The backup is signed with the newest key of the ring.
 */
export async function* backupLines(redis: Redis, ring: KeyRing, nowMs: number): AsyncGenerator<string, void> {
  const [keyId, key] = newestKey(ring)
  const header: z.infer<typeof backupHeader> = {
    type: 'highwater backup',
    format: BACKUP_FORMAT,
    key: keyId,
    made_at: toIsoInstant(nowMs),
    seq: Number((await askRedis(() => redis.hget(keys.HEAD, 'seq'))) ?? 0),
    relay_cursor: Number((await askRedis(() => redis.get(keys.RELAY_CURSOR))) ?? 0),
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
  for await (const found of scanKeys(redis, `${keys.PREFIX}:`, BLOCK)) {
    for (const key of found.filter(isLiveRecord)) live.add(key)
    // A key that SCAN returns twice is written twice; the second is newer.
    for (const record of await Promise.all(found.filter(isCopied).map(key => readKey(redis, key))))
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
    const pipeline = redis.multi().xrange(keys.LOG, since, '+', 'COUNT', BLOCK)
    for (const key of live) pipeline.hgetall(key)
    const [read, ...records] = await askAll(pipeline)
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

/** A key with its value; null if it is gone or expires. */
async function readKey(redis: Redis, key: string): Promise<BackupRecord | null> {
  const [type, ttl] = await Promise.all([askRedis(() => redis.type(key)), askRedis(() => redis.pttl(key))])
  if (type === 'none' || ttl >= 0) return null
  if (type === 'hash') return { type, key, value: await askRedis(() => redis.hgetall(key)) }
  if (type === 'set') return { type, key, value: (await askRedis(() => redis.smembers(key))).sort() }
  if (type === 'list') return { type, key, value: await askRedis(() => redis.lrange(key, 0, -1)) }
  if (type === 'string') return { type, key, value: (await askRedis(() => redis.get(key))) ?? '' }
  throw new Error(
    `${key} is a ${type}, which no backup holds: put it on the lists of signals/backup/write-backup.ts`,
  )
}
