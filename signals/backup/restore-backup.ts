import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { signal } from '#core/contract/signal.ts'
import { sha256 } from '#storage/digest.ts'
import { aboveHighWater } from '../delivery/high-water.ts'
import { oweAgain, parseState } from '../delivery/outbox.ts'
import { toLogged } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import {
  EPOCH,
  HEAD,
  LATEST,
  LOG,
  OUTBOX_PREFIX,
  PREFIX,
  RELAY_CURSOR,
  RELAY_LEASE,
  RELAYED,
  SIGNAL_IDS,
} from '../redis/keys.ts'
import {
  BackupError,
  type BackupHeader,
  type BackupRecord,
  parseEnd,
  parseHeader,
  parseRecord,
} from './records.ts'

/** Records that are written at once. */
const BLOCK = 500

export type RestoreParts = {
  readonly redis: Redis
  /** The lines of the file from its beginning; asked for twice. */
  readonly lines: () => AsyncIterable<string>
  /** The mark of the private store: what was delivered lies hardly above it. */
  readonly highWater: number
  readonly newEpoch: () => string
  readonly nowMs: number
  /** Whether what is there may be deleted. */
  readonly isForced: boolean
}

export type Restored = {
  readonly made_at: string
  readonly signals: number
  /** Deliveries that were owed when the backup was made, and are owed again. */
  readonly owed: number
  /** The next signal gets the number after this. */
  readonly seq: number
  readonly epoch: string
}

/**
 * Restores a backup into an empty Redis, or over what is there where that is forced. The whole file is checked before
 * anything is written. Numbers go on above every one that was ever delivered, and a new epoch tells the clients to pull.
 */
export async function restoreBackup(parts: RestoreParts): Promise<Restored> {
  const { redis, highWater, newEpoch, nowMs } = parts
  const header = await checkBackup(parts.lines())
  await makeRoom(redis, parts.isForced)
  const seen: Seen = { signals: 0, seq: Math.max(header.seq, aboveHighWater(highWater)), debts: new Map() }
  for await (const block of inBlocks(recordsOf(parts.lines()), BLOCK))
    await writeBlock(redis, block, header, seen)
  const owed = await oweAll(redis, seen, nowMs)
  const epoch = newEpoch()
  await askRedis(() =>
    redis.multi().hset(HEAD, 'seq', seen.seq).set(RELAY_CURSOR, header.relay_cursor).set(EPOCH, epoch).exec(),
  )
  return { made_at: header.made_at, signals: seen.signals, owed, seq: seen.seq, epoch }
}

/** What is gathered on the way through the records. */
type Seen = {
  signals: number
  /** The largest number that anything speaks of. */
  seq: number
  /** What each client is owed, and the number before it that the client may see. */
  readonly debts: Map<string, Map<number, number>>
}

/** Owes anew what was owed; resolves with how much. */
async function oweAll(redis: Redis, { debts }: Seen, nowMs: number): Promise<number> {
  let owed = 0
  for (const [client, prevBySeq] of debts) {
    const signals = [...prevBySeq].map(([seq, prev]) => ({ seq, prev })).sort((a, b) => a.seq - b.seq)
    owed += signals.length
    for (let i = 0; i < signals.length; i += BLOCK)
      await oweAgain(redis, client, signals.slice(i, i + BLOCK), nowMs)
  }
  return owed
}

async function makeRoom(redis: Redis, isForced: boolean): Promise<void> {
  if ((await askRedis(() => redis.exists(RELAY_LEASE))) === 1)
    throw new Error('a service is at work on this Redis: stop it first, and wait some seconds')
  if (!isForced) await assertNoSignals(redis)
  await askRedis(() => redis.unlink(EPOCH)) // first: no service begins on what a restore that was killed has left
  for await (const keys of allKeys(redis)) await askRedis(() => redis.unlink(...keys))
}

async function assertNoSignals(redis: Redis): Promise<void> {
  for await (const _ of allKeys(redis))
    throw new Error(
      'this Redis holds signals already: restore into an empty one, or delete what is there with --force',
    )
}

/** The keys of the service, some at a time and never none. */
async function* allKeys(redis: Redis): AsyncGenerator<readonly string[], void> {
  let cursor = '0'
  do {
    const [next, keys] = await askRedis(() => redis.scan(cursor, 'MATCH', `${PREFIX}:*`, 'COUNT', BLOCK))
    cursor = next
    if (keys.length > 0) yield keys
  } while (cursor !== '0')
}

async function writeBlock(
  redis: Redis,
  block: readonly BackupRecord[],
  header: BackupHeader,
  seen: Seen,
): Promise<void> {
  const pipeline = redis.pipeline()
  for (const record of block) {
    switch (record.type) {
      case 'hash':
        pipeline.del(record.key)
        if (record.key.startsWith(OUTBOX_PREFIX)) noteDebts(record, seen)
        if (Object.keys(record.value).length > 0) pipeline.hset(record.key, record.value)
        break
      case 'set':
        pipeline.del(record.key)
        if (record.value.length > 0) pipeline.sadd(record.key, ...record.value)
        break
      case 'list':
        pipeline.del(record.key)
        if (record.value.length > 0) pipeline.rpush(record.key, ...record.value)
        break
      case 'string':
        pipeline.set(record.key, record.value)
        break
      case 'signal':
        addSignal(pipeline, record, header, seen)
        break
    }
  }
  const replies = (await askRedis(() => pipeline.exec())) ?? []
  for (const [error] of replies) if (error !== null) throw error
}

function noteDebts({ key, value }: Extract<BackupRecord, { type: 'hash' }>, seen: Seen): void {
  const seq = Number(key.slice(OUTBOX_PREFIX.length))
  seen.seq = Math.max(seen.seq, seq)
  for (const [client, raw] of Object.entries(value)) {
    const { status, prev } = parseState(raw)
    const debts = seen.debts.get(client) ?? new Map<number, number>()
    seen.debts.set(client, debts)
    // A ledger that is met twice is newer the second time.
    if (status === 'owed') debts.set(seq, prev)
    else debts.delete(seq)
  }
}

/** A signal, and what the log's own script would have noted of it. */
function addSignal(
  pipeline: ReturnType<Redis['pipeline']>,
  { id, fields }: Extract<BackupRecord, { type: 'signal' }>,
  header: BackupHeader,
  seen: Seen,
): void {
  const { seq, body, alias, onlyFor } = toLogged([id, fields])
  const { signalId, sha256 } = contentDigestOf(body)
  const newest = onlyFor === null ? alias : `test:${onlyFor}`
  pipeline
    .xadd(LOG, id, ...fields)
    .hset(SIGNAL_IDS, signalId, `${seq} ${sha256}`)
    .hset(LATEST, newest, seq)
  if (seq <= header.relay_cursor) pipeline.hset(RELAYED, newest, seq)
  seen.signals++
  seen.seq = Math.max(seen.seq, seq)
}

/** The id of a stored signal, and the digest of what its caller gave: the bytes without their number. */
export function contentDigestOf(body: string): { readonly signalId: string; readonly sha256: string } {
  const { signal_id, seq } = signal.parse(JSON.parse(body))
  // Inside of a text the quotes would be escaped, so the first place is the right one.
  const [head, number] = [body.indexOf(SEQ) + SEQ.length, String(seq).length]
  const content = body.slice(0, head) + body.slice(head + number)
  return { signalId: signal_id, sha256: sha256(new TextEncoder().encode(content)) }
}

const SEQ = ',"seq":'

/** Reads the whole file and gives its header. Throws BackupError where a byte is another or the end is missing. */
async function checkBackup(lines: AsyncIterable<string>): Promise<BackupHeader> {
  const hash = createHash('sha256')
  let header: BackupHeader | null = null
  let records = 0
  let last: string | null = null
  for await (const line of lines) {
    if (last !== null) hash.update(`${last}\n`)
    if (last !== null && header === null) header = parseHeader(last)
    else if (last !== null) {
      parseRecord(last)
      records++
    }
    last = line
  }
  if (header === null || last === null) throw new BackupError('it is empty, or its end is missing')
  const end = parseEnd(last)
  if (end.records !== records || end.sha256 !== hash.digest('hex'))
    throw new BackupError('its checksum is another')
  return header
}

/** Everything between the first line and the last. */
async function* recordsOf(lines: AsyncIterable<string>): AsyncGenerator<BackupRecord, void> {
  let at = 0
  let last = ''
  for await (const line of lines) {
    if (at++ > 1) yield parseRecord(last)
    last = line
  }
}

/** Records in blocks of a size. */
export async function* inBlocks(
  records: AsyncIterable<BackupRecord>,
  size: number,
): AsyncGenerator<readonly BackupRecord[], void> {
  let block: BackupRecord[] = []
  for await (const record of records) {
    block.push(record)
    if (block.length < size) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
