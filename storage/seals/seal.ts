// The formats of sealed signals (docs/decisions/2026-11-27-seals.md): a seal is public at once and says nothing; its batch is
// private until the opening of its day.
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { parseIsoInstant, toCompactInstant, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { sealKeyKey, sealNumber } from '#core/contract/seals.ts'
import { signal } from '#core/contract/signal.ts'
import { parseJson, readDocument } from '../json-bytes.ts'
import type { ObjectStore } from '../object-store.ts'
import type { LoggedEntry } from '../pointer-log.ts'
import { rawKeyOf, type Signer } from '../signature.ts'

/** A seal covers this time, or longer after a standstill of the service. */
export const SEAL_MS = 600_000

/** What a seal says. Its bytes have one length, whatever its batch has. */
export type Seal = {
  readonly n: number
  /** Names the chain, and its key: `highwater/<id of the key>/<begin>`. */
  readonly origin: string
  /** What was acknowledged from `fromMs` (inclusive) to `toMs` is in the batch; epoch milliseconds, whole seconds. */
  readonly fromMs: number
  readonly toMs: number
  /** All digests are base64 of 32 bytes. */
  readonly commitment: string
  /** Digest of the bytes of the seal before; zeros in the first. */
  readonly prev: string
  /** The newest entry of the pointer log; 0 and zeros before the first version. */
  readonly entrySeq: number
  readonly entrySha256: string
}

const HEADER = 'highwater/seal/v1'

export const NO_DIGEST = Buffer.alloc(32).toString('base64')

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const sha256Of = (...parts: readonly (Uint8Array | string)[]): Buffer =>
  parts.reduce((digest, part) => digest.update(part), createHash('sha256')).digest()

/** The digest by which the next seal names this one. */
export const digestOfSeal = (bytes: Uint8Array): string => base64(sha256Of(bytes))

/** `highwater/8f1d0c2ab34e5f67/20261127T100000Z` for the id of a key and an instant, ISO. */
export const originOf = (keyId: string, begin: string): string =>
  `highwater/${keyId}/${toCompactInstant(begin)}`

/** The id of the key that signs a chain; '' of what is no origin. */
export const keyIdOf = (origin: string): string => origin.split('/')[1] ?? ''

/** Where the public key of an origin is published, in the public store. */
export const keyOfOrigin = (origin: string): string => sealKeyKey(keyIdOf(origin))

/** A C2SP signed note: the text, a blank line and the signature of the text. Equal seals give equal bytes. */
export function signSeal(seal: Seal, signer: Signer): Uint8Array {
  const text = textOf(seal)
  const signature = signer.sign(Buffer.from(text))
  const line = base64(Buffer.concat([keyHash(seal.origin, signer.rawPublicKey), signature]))
  return Buffer.from(`${text}\n— ${seal.origin} ${line}\n`)
}

const textOf = ({ n, origin, fromMs, toMs, commitment, prev, entrySeq, entrySha256 }: Seal): string =>
  `${HEADER}\n${origin}\n${sealNumber(n)}\n${toIsoInstant(fromMs)} ${toIsoInstant(toMs)}\n` +
  `${commitment}\n${prev}\n${sealNumber(entrySeq)} ${entrySha256}\n`

const ED25519 = 1
const SIGNATURE_BYTES = 64

const keyHash = (name: string, rawKey: Uint8Array): Buffer =>
  sha256Of(`${name}\n`, Buffer.of(ED25519), rawKey).subarray(0, 4)

/** Base64 that ends with four bits more than whole characters have, in its one spelling. */
const BASE64 = (characters: number): string => `[A-Za-z0-9+/]{${characters - 1}}[AEIMQUYcgkosw048]=`
const DIGEST = BASE64(43)

const SHAPE = new RegExp(
  `^${HEADER}\\n(?<origin>highwater/[0-9a-f]{16}/\\d{8}T\\d{6}Z)\\n(?<n>\\d{9})\\n(?<from>\\S{20}) (?<to>\\S{20})\\n` +
    `(?<commitment>${DIGEST})\\n(?<prev>${DIGEST})\\n(?<entrySeq>\\d{9}) (?<entrySha256>${DIGEST})\\n\\n` +
    `— \\k<origin> ${BASE64(91)}\\n$`,
)

/** The seal that some bytes hold, or null if they hold none. Does not check the signature. */
export function parseSeal(bytes: Uint8Array): Seal | null {
  const {
    n,
    from = '',
    to = '',
    entrySeq,
    ...texts
  } = SHAPE.exec(Buffer.from(bytes).toString())?.groups ?? {}
  const [fromMs, toMs] = [parseIsoInstant(from), parseIsoInstant(to)]
  if (fromMs === null || toMs === null) return null
  const others = texts as Pick<Seal, 'origin' | 'commitment' | 'prev' | 'entrySha256'> // the other names in SHAPE
  return { ...others, n: Number(n), fromMs, toMs, entrySeq: Number(entrySeq) }
}

/** Whether a key in PEM form signed bytes, which hold a seal. The key is read once: reading it takes as long as a check. */
export function sealCheck(publicKeyPem: string): (bytes: Uint8Array) => boolean {
  const key = createPublicKey(publicKeyPem)
  const raw = rawKeyOf(key)
  return bytes => {
    const [text, line] = Buffer.from(bytes).toString().split('\n\n')
    const [, name = '', encoded = ''] = (line ?? '').trimEnd().split(' ')
    const signed = Buffer.from(encoded, 'base64')
    return (
      signed.length === 4 + SIGNATURE_BYTES &&
      signed.subarray(0, 4).equals(keyHash(name, raw)) &&
      verify(null, Buffer.from(`${text}\n`), key, signed.subarray(4))
    )
  }
}

/** The seals in the file of a day, which holds their bytes one after the other. */
export const splitSeals = (bytes: Uint8Array): readonly Uint8Array[] =>
  Buffer.from(bytes)
    .toString()
    .split(new RegExp(`^(?=${HEADER}$)`, 'm'))
    .map(text => Buffer.from(text))

/** The UTC day of `to`, ISO: that of the day file, the day key and the opening. */
export const dateOf = ({ toMs }: Pick<Seal, 'toMs'>): string => toIsoDate(toEpochDay(toMs))

// Commitments: each of them is salted with all of 32 bytes, so that a guess at a batch or an item cannot be checked.

/** The key of a day, from the secret of the sealer; base64. */
export const dayKeyOf = (secret: Uint8Array | string, date: string): string =>
  createHmac('sha256', secret).update(`day ${date}`).digest('base64')

const salt = (dayKey: string, of: string): Buffer =>
  createHmac('sha256', Buffer.from(dayKey, 'base64')).update(of).digest()

/** The salt of a batch, base64. */
export const batchSalt = (dayKey: string, n: number): string => base64(salt(dayKey, `seal ${n}`))

/** The salt of an item, base64: of a signal by its number, of an event by its seal and its position in the batch, from 0. */
export const itemSalt = (dayKey: string, item: string, n: number, position: number): string => {
  const seq = seqOf(item)
  return base64(salt(dayKey, seq === null ? `event ${n} ${position}` : `item ${seq}`))
}

export const commitmentTo = (sealSalt: string, batch: string): string =>
  base64(sha256Of(Buffer.from(sealSalt, 'base64'), sha256Of(batch)))

/** The line of an item in its batch, hex. */
export const commitmentToItem = (salt: string, item: string): string =>
  sha256Of(Buffer.from(salt, 'base64'), item).toString('hex')

/** A batch: the number of the last signal before it, and one line an item, in order. */
export const batchOf = (after: number, commitments: readonly string[]): string =>
  [`after ${after}`, ...commitments, ''].join('\n')

/** What a batch says; null if it has any other form, in which something could be hidden. */
export function parseBatch(batch: string) {
  const [first = '', ...lines] = batch.split('\n')
  const [, after] = /^after (0|[1-9]\d{0,14})$/.exec(first) ?? []
  const isWhole = lines.pop() === '' && lines.every(line => /^[0-9a-f]{64}$/.test(line))
  return after === undefined || !isWhole ? null : { after: Number(after), commitments: lines }
}

// Items: a signal, byte for byte as it was delivered, or an event.

const EVENTS = ['live', 'ended', 'halt', 'resume', 'begin_anew', 'key'] as const

export const sealEvent = z.object({
  event: z.enum(EVENTS),
  /** The strategy, or `*` for all; null of an event of the chain. */
  alias: z.string().nullable(),
  /** `operator:NAME`, or `runner`. */
  by: z.string(),
  why: z.string().nullable(),
  /** UTC instant, by the clock of the publisher. */
  at: z.string(),
  /** Of `begin_anew`: the last seal of the old chain, and the seals that can never be opened; of `key`: the new key. */
  of: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
})

export type SealEvent = Readonly<z.infer<typeof sealEvent>>

/** The number of a signal; null of an event. */
export function seqOf(item: string): number | null {
  const { seq, event } = (parseJson(item) ?? {}) as { seq?: unknown; event?: unknown }
  return typeof seq === 'number' && event === undefined ? seq : null
}

/** An item as what it is; null if it is neither. */
export function parseItem(item: string) {
  const value = parseJson(item)
  const found = seqOf(item) === null ? null : signal.safeParse(value)
  if (found?.success) return { kind: 'signal', signal: found.data } as const
  const event = sealEvent.safeParse(value)
  return event.success ? ({ kind: 'event', event: event.data } as const) : null
}

/**
 * The first items of a new chain: what it follows, what of that can never be opened, a range an item, and its key if that is
 * another one.
 */
export function beginningItems(
  { seal: { n, origin }, digest }: { readonly seal: Seal; readonly digest: string },
  keyId: string,
  ranges: readonly Readonly<Record<'lost_from' | 'lost_to', number | null>>[],
  order: Pick<SealEvent, 'by' | 'why' | 'at'>,
): readonly string[] {
  const item = ({ event, of }: Pick<SealEvent, 'event' | 'of'>) =>
    JSON.stringify({ event, of, alias: null, by: order.by, why: order.why, at: order.at })
  const all = ranges.length > 0 ? ranges : [{ lost_from: null, lost_to: null }]
  const begun = all.map(range => item({ event: 'begin_anew', of: { origin, n, digest, ...range } }))
  return keyIdOf(origin) === keyId ? begun : [...begun, item({ event: 'key', of: { id: keyId } })]
}

/** What the first items of new chains say of the seals that can never be opened, from one to another, each with its seal `n`. */
export const beginningsOf = (items: readonly { readonly n: number; readonly item: string }[]) =>
  items.flatMap(({ n, item }) => {
    const found = parseItem(item)
    if (found?.kind !== 'event' || found.event.event !== 'begin_anew') return []
    const { of: { lost_from, lost_to } = {}, why } = found.event
    return [{ n, why: why ?? 'none', from: Number(lost_from), to: Number(lost_to) }]
  })

/** What the first of the beginnings after a seal says that has it in its range. */
export const lossOf = (n: number, begun: ReturnType<typeof beginningsOf>) =>
  begun.find(each => n < each.n && each.from <= n && n <= each.to)

// What is private until the opening.

/** `seals/000000042.json` of the private store: written before the seal, and all that the seal and its opening need. */
export const sealRecord = z.object({
  n: z.int().min(1),
  origin: z.string(),
  from: z.string(),
  to: z.string(),
  entry_seq: z.int().min(0),
  entry_sha256: z.string(),
  /** Base64. Kept here, so that a lost or changed secret closes no seal for ever. */
  day_key: z.string(),
  batch: z.string(),
  items: z.array(z.string()),
  /** How many events of the service are in this batch and those before. */
  events: z.int().min(0),
  /** SHA-256 of the newest signal and of the newest event up to and with this batch, hex; absent before the first. */
  last_signal: z.string().optional(),
  last_event: z.string().optional(),
})

export type SealRecord = Readonly<z.infer<typeof sealRecord>>

export const recordKey = (n: number): string => `seals/${sealNumber(n)}.json`

/** The newest entry of the pointer log, as a record names it. */
export const entryFacts = (newest: LoggedEntry | null) => ({
  entry_seq: newest?.entry.seq ?? 0,
  entry_sha256: newest === null ? NO_DIGEST : Buffer.from(newest.sha256, 'hex').toString('base64'),
})

/** A record, or what is opened of it, with the batch of its items. */
export function toRecord<Facts extends Pick<SealRecord, 'n' | 'day_key'>>(
  facts: Facts,
  after: number,
  items: readonly string[],
) {
  const lines = items.map((item, i) => commitmentToItem(itemSalt(facts.day_key, item, facts.n, i), item))
  return { ...facts, batch: batchOf(after, lines), items: [...items] }
}

/** The record of a seal in the private store; null if there is none, or it is damaged. */
export const readRecord = async (privateStore: ObjectStore, n: number): Promise<SealRecord | null> =>
  (await readDocument(privateStore, recordKey(n), sealRecord)) ?? null

/** The seal of a record, after the seal with the digest `prev`. */
export const sealOf = (record: SealRecord, prev: string): Seal => ({
  n: record.n,
  origin: record.origin,
  fromMs: parseIsoInstant(record.from) ?? Number.NaN,
  toMs: parseIsoInstant(record.to) ?? Number.NaN,
  commitment: commitmentTo(batchSalt(record.day_key, record.n), record.batch),
  prev,
  entrySeq: record.entry_seq,
  entrySha256: record.entry_sha256,
})

/** Whether a seal is of a record, and its batch of its items. */
export const isRecordOf = (record: SealRecord, { seal }: { readonly seal: Seal }): boolean =>
  isDeepStrictEqual(sealOf(record, seal.prev), seal) &&
  toRecord(record, parseBatch(record.batch)?.after ?? 0, record.items).batch === record.batch

/** The number of the newest signal up to and with a batch. */
export const lastSeqOf = ({ batch, items }: Pick<SealRecord, 'batch' | 'items'>): number =>
  items.reduce((last, item) => Math.max(last, seqOf(item) ?? 0), parseBatch(batch)?.after ?? 0)

// Openings.

const opening = z.object({
  // The first line: the key of the day, and the time stamps of its seals that were known then.
  date: z.string(),
  day_key: z.string(),
  stamps: z.array(z.object({ n: z.int().min(1), at: z.string(), by: z.string() })),
  /** A further line: a seal with items or with a key of its own, or one that cannot be opened, with the reason of the publisher. */
  lines: z.array(
    z.union([
      sealRecord.pick({ n: true, day_key: true, batch: true, items: true }).partial({ day_key: true }),
      z.object({ n: z.int().min(1), lost: z.string() }),
    ]),
  ),
})

export type Opening = Readonly<z.infer<typeof opening>>
export type OpeningLine = Readonly<Opening['lines'][number]>

export const openingText = ({ lines, ...head }: Opening): string =>
  [head, ...lines].map(line => `${JSON.stringify(line)}\n`).join('')

/** The opening that some bytes hold, or null. */
export function parseOpening(bytes: Uint8Array): Opening | null {
  const text = Buffer.from(bytes).toString()
  if (!Buffer.from(text).equals(bytes)) return null // not UTF-8
  const [head, ...lines] = text.split('\n').slice(0, -1).map(parseJson)
  return opening.safeParse({ ...Object(head), lines }).data ?? null
}
