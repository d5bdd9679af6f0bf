// A backup: lines of JSON. The log and the outbox are copied; indexes and schedules follow from them and are
// built again at a restore, so a backup of a running Redis is consistent.
import { createHmac, type Hmac, hkdfSync, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '#storage/json-bytes.ts'
import {
  AUDIT_COPIED,
  CLOCK,
  EPOCH,
  FLIGHT_PREFIX,
  HEAD,
  LATEST,
  LIVE_PREFIX,
  LOG,
  PREFIX,
  PREVIEW_LIMIT_PREFIX,
  READY_PREFIX,
  RELAY_CURSOR,
  RELAY_LEASE,
  RELAYED,
  SCHEDULES,
  SESSION_PREFIX,
  SIGNAL_IDS,
  WAITING_PREFIX,
} from '../redis/keys.ts'

/** Raised when the format changes so that an older release cannot read it. */
export const BACKUP_FORMAT = 2

/** Rebuilt from the log and the outbox, or useless in another Redis. */
const DERIVED: readonly string[] = [
  SIGNAL_IDS,
  HEAD,
  LATEST,
  RELAYED,
  SCHEDULES.fast,
  SCHEDULES.slow,
  EPOCH,
  RELAY_LEASE,
  CLOCK,
  AUDIT_COPIED, // a restored log has another epoch, and so another folder
]
const DERIVED_PREFIXES: readonly string[] = [
  FLIGHT_PREFIX,
  READY_PREFIX,
  WAITING_PREFIX,
  PREVIEW_LIMIT_PREFIX,
  SESSION_PREFIX,
]

const SPECIAL: readonly string[] = [LOG, RELAY_CURSOR]
export const isLiveRecord = (key: string): boolean => key.startsWith(LIVE_PREFIX)

/** Whether a key is copied as it is. A new kind of key is copied unless it is in the lists above. */
export const isCopied = (key: string): boolean =>
  !DERIVED.includes(key) &&
  !SPECIAL.includes(key) &&
  !isLiveRecord(key) &&
  !DERIVED_PREFIXES.some(prefix => key.startsWith(prefix))

const header = z.object({
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
const key = z.string().refine(name => name.startsWith(`${PREFIX}:`) && (isCopied(name) || isLiveRecord(name)))

const record = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hash'), key, value: z.record(z.string(), z.string()) }),
  z.object({ type: z.literal('set'), key, value: z.array(z.string()) }),
  z.object({ type: z.literal('list'), key, value: z.array(z.string()) }),
  z.object({ type: z.literal('string'), key, value: z.string() }),
  z.object({ type: z.literal('signal'), id: z.string(), fields: z.array(z.string()) }),
])

const end = z.object({ type: z.literal('end'), records: z.number(), hmac_sha256: z.string() })

export type BackupHeader = z.infer<typeof header>
export type BackupRecord = z.infer<typeof record>

export class BackupError extends Error {
  constructor(reason: string, fix = 'use another copy of it') {
    super(`this backup cannot be restored: ${reason}; ${fix}`)
    this.name = 'BackupError'
  }
}

export const parseHeader = (line: string): BackupHeader =>
  parseLine(
    header,
    line,
    `its first line is not of format ${BACKUP_FORMAT}`,
    'use another copy of it, or restore one of another format with the release that made it',
  )

export const parseRecord = (line: string): BackupRecord => parseLine(record, line, 'a line is malformed')

export const parseEnd = (line: string): z.infer<typeof end> =>
  parseLine(end, line, 'its last line is malformed')

function parseLine<T>(shape: z.ZodType<T>, line: string, reason: string, fix?: string): T {
  const parsed = shape.safeParse(parseJson(line))
  if (!parsed.success) throw new BackupError(reason, fix)
  return parsed.data
}

/** The message authentication code of a backup, under a key of SECRET_KEY; derived, because that key also encrypts. */
export const createMac = (key: KeyObject): Hmac =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'highwater backup', 32)))
