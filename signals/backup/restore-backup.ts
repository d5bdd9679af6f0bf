import type { Hmac } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { z } from 'zod'
import { signal } from '#core/contract/signal.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { contentDigest } from '../log/commit.ts'
import { assertNoService } from '../log/guard.ts'
import { aboveHighWater, UNKNOWN_AHEAD } from '../log/high-water.ts'
import { kindsOf, toLogged } from '../log/read-log.ts'
import { oweAgain, parseState } from '../outbox/outbox.ts'
import type { KeyRing } from '../outbox/secret-box.ts'
import { askAll, askRedis, scanKeys } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import {
  BACKUP_FORMAT,
  type BackupRecord,
  backupEnd,
  backupHeader,
  backupRecord,
  createMac,
} from './write-backup.ts'

const BLOCK = 500

type BackupHeader = z.infer<typeof backupHeader>

export class BackupError extends Error {
  constructor(reason: string, fix = 'use another copy of it') {
    super(`this backup cannot be restored: ${reason}; ${fix}`)
    this.name = 'BackupError'
  }
}

export type RestoreParts = {
  readonly redis: Redis
  /** The lines of the file from its beginning; called twice. */
  readonly lines: () => AsyncIterable<string>
  /** The mark of the private store; 0 if it has none. */
  readonly highWater: number
  readonly newEpoch: () => string
  readonly nowMs: number
  readonly isForced: boolean
  /** One of its keys must have signed the backup. */
  readonly ring: KeyRing
}

/**
 * Restores a backup into an empty Redis, or over existing data if forced. The whole file is checked before anything
 * is written, and again while it is written, in case it changed between; without the epoch no service starts. Numbers
 * continue above every one that was delivered, and a new epoch makes clients pull. Resolves with how many deliveries
 * are owed again, and with the number that the next signal follows.
 */
export async function restoreBackup(parts: RestoreParts) {
  const { redis, highWater, newEpoch, nowMs, ring } = parts
  const header = await checkBackup(parts.lines(), ring)
  await makeRoom(redis, parts.isForced)
  const seq = Math.max(header.seq + UNKNOWN_AHEAD, aboveHighWater(highWater))
  const seen: Seen = { signals: 0, seq, debts: new Map() }
  const block: BackupRecord[] = []
  for await (const record of recordsOf(parts.lines(), ring))
    if (block.push(record) === BLOCK) await writeBlock(redis, block.splice(0), header, seen)
  await writeBlock(redis, block, header, seen)
  const owed = await oweAll(redis, seen, nowMs)
  const epoch = newEpoch()
  await askRedis(() =>
    redis
      .multi()
      .hset(keys.HEAD, 'seq', seen.seq)
      .hset(keys.SEAL_STATE, 'restored', header.made_at) // also the stores may be copies: what was sealed since is not known
      .set(keys.RELAY_CURSOR, header.relay_cursor)
      .set(keys.EPOCH, epoch)
      .exec(),
  )
  return { made_at: header.made_at, signals: seen.signals, owed, seq: seen.seq, epoch }
}

type Seen = {
  signals: number
  /** The largest number in any record. */
  seq: number
  /** For each destination: the owed signals, each with the number before it that is sent there. */
  readonly debts: Map<string, Map<number, number>>
}

async function oweAll(redis: Redis, { debts }: Seen, nowMs: number): Promise<number> {
  let owed = 0
  for (const [destination, prevBySeq] of debts) {
    const signals = [...prevBySeq].map(([seq, prev]) => ({ seq, prev })).sort((a, b) => a.seq - b.seq)
    owed += signals.length
    for (let i = 0; i < signals.length; i += BLOCK)
      await oweAgain(redis, destination, signals.slice(i, i + BLOCK), nowMs, false)
  }
  return owed
}

async function makeRoom(redis: Redis, isForced: boolean): Promise<void> {
  await assertNoService(redis)
  for await (const _ of isForced ? [] : scanKeys(redis, `${keys.PREFIX}:`, BLOCK))
    throw new Error('this Redis already has signals: restore into an empty one, or delete them with --force')
  await askRedis(() => redis.unlink(keys.EPOCH)) // first: a service does not start on what a killed restore has left
  for await (const found of scanKeys(redis, `${keys.PREFIX}:`, BLOCK))
    await askRedis(() => redis.unlink(...found))
}

async function writeBlock(redis: Redis, block: readonly BackupRecord[], header: BackupHeader, seen: Seen) {
  const pipeline = redis.pipeline()
  for (const record of block) {
    if (record.type === 'signal') {
      addSignal(pipeline, record, header, seen)
      continue
    }
    const { type, key, value } = record
    if (type === 'hash' && key.startsWith(keys.OUTBOX_PREFIX)) noteDebts(record, seen)
    pipeline.del(key) // a key that was read twice is newer the second time
    if (type === 'string') pipeline.set(key, value)
    else if (Object.keys(value).length === 0) continue
    else if (type === 'hash') pipeline.hset(key, value)
    else if (type === 'set') pipeline.sadd(key, ...value)
    else pipeline.rpush(key, ...value)
  }
  await askAll(pipeline)
}

function noteDebts({ key, value }: Extract<BackupRecord, { type: 'hash' }>, seen: Seen): void {
  const seq = Number(key.slice(keys.OUTBOX_PREFIX.length))
  seen.seq = Math.max(seen.seq, seq)
  for (const [destination, raw] of Object.entries(value)) {
    const { status, prev } = parseState(raw)
    const debts = seen.debts.get(destination) ?? new Map<number, number>()
    seen.debts.set(destination, debts)
    if (status === 'owed') debts.set(seq, prev)
    else debts.delete(seq)
  }
}

/** A signal, with the index entries that the commit script would have written. */
function addSignal(
  pipeline: ReturnType<Redis['pipeline']>,
  { id, fields }: Extract<BackupRecord, { type: 'signal' }>,
  header: BackupHeader,
  seen: Seen,
): void {
  const logged = toLogged([id, fields])
  const { seq } = logged
  const content = signal.parse(JSON.parse(logged.body))
  pipeline
    .xadd(keys.LOG, id, ...fields)
    .hset(keys.SIGNAL_IDS, content.signal_id, `${seq} ${contentDigest(content)}`)
  for (const kind of kindsOf(logged)) {
    pipeline.hset(keys.LATEST, kind, seq)
    if (seq <= header.relay_cursor) pipeline.hset(keys.RELAYED, kind, seq)
  }
  seen.signals++
  seen.seq = Math.max(seen.seq, seq)
}

/** Reads the whole file and returns its header. */
async function checkBackup(lines: AsyncIterable<string>, ring: KeyRing): Promise<BackupHeader> {
  const records = recordsOf(lines, ring)
  for (;;) {
    const { done, value } = await records.next()
    if (done) return value
  }
}

/**
 * Every record between the header and the end; returns the header. Throws BackupError if the backup is not to be
 * trusted, at the end if a byte differs or the end is missing.
 */
async function* recordsOf(
  lines: AsyncIterable<string>,
  ring: KeyRing,
): AsyncGenerator<BackupRecord, BackupHeader> {
  let begun: { readonly header: BackupHeader; readonly mac: Hmac } | null = null
  let records = 0
  let last: string | null = null
  for await (const line of lines) {
    if (last !== null && begun === null) {
      const header = parseLine(backupHeader, last, NO_HEADER, OTHER_FORMAT)
      begun = { header, mac: macFor(header, ring) }
    } else if (last !== null) {
      yield parseLine(backupRecord, last, 'a line is malformed')
      records++
    }
    begun?.mac.update(`${last}\n`)
    last = line
  }
  if (begun === null || last === null) throw new BackupError('it is empty, or its end is missing')
  const end = parseLine(backupEnd, last, 'its last line is malformed')
  if (end.records !== records || end.hmac_sha256 !== begun.mac.digest('hex'))
    throw new BackupError('it was altered or damaged, or SECRET_KEY has another key under the id of its key')
  return begun.header
}

const NO_HEADER = `its first line is not of format ${BACKUP_FORMAT}`
const OTHER_FORMAT = 'use another copy of it, or restore one of another format with the release that made it'

function parseLine<T>(shape: z.ZodType<T>, line: string, reason: string, fix?: string): T {
  const parsed = shape.safeParse(parseJson(line))
  if (!parsed.success) throw new BackupError(reason, fix)
  return parsed.data
}

function macFor(header: BackupHeader, ring: KeyRing): Hmac {
  const key = ring.get(header.key)
  if (key !== undefined) return createMac(key)
  throw new BackupError(
    `it was signed with the key ${header.key}, which SECRET_KEY lacks`,
    'add that key behind the newest',
  )
}
