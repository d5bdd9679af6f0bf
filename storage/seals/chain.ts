// Reads and checks the public side of sealed signals: the chain of seals, and what was opened of it.
import pMap from 'p-map'
import { openingKey, SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { parsePublicKey } from '../signature.ts'
import {
  batchOf,
  batchSalt,
  commitmentTo,
  commitmentToItem,
  dateOf,
  daysBetween,
  digestOfSeal,
  itemSalt,
  keyOfOrigin,
  NO_DIGEST,
  type Opening,
  type OpeningLine,
  parseBatch,
  parseItem,
  parseOpening,
  parseSeal,
  type Seal,
  sealCheck,
  seqOf,
  splitSeals,
} from './seal.ts'

/** The bytes of a public object by its key, null if there is none: of a store, or of a service over HTTP. */
export type ReadPublic = (key: string) => Promise<Uint8Array | null>

export type PublicSeal = { readonly seal: Seal; readonly bytes: Uint8Array; readonly digest: string }

/** Files that are read at the same time. */
const READS_AT_ONCE = 32

/** The seal that an object holds; null if there is none. Throws if it holds something else, or the seal of another number. */
export async function readSeal(read: ReadPublic, key: string): Promise<PublicSeal | null> {
  const bytes = await read(key)
  const found = bytes && toPublic(key, bytes)
  if (found === null || key === SEAL_HEAD_KEY || key === sealKey(found.seal.n)) return found
  throw new Error(`${key} holds seal ${found.seal.n}: it was altered; restore it from a copy`)
}

function toPublic(key: string, bytes: Uint8Array): PublicSeal {
  const seal = parseSeal(bytes)
  if (seal === null) throw new Error(`${key} is not a seal: it was altered; restore it from a copy`)
  return { seal, bytes, digest: digestOfSeal(bytes) }
}

/** The newest seal, or null without any. The head says where to look; seals after it are looked for until one is missing. */
export async function readNewestSeal(read: ReadPublic): Promise<PublicSeal | null> {
  let newest = (await readSeal(read, SEAL_HEAD_KEY).catch(() => null)) ?? (await readSeal(read, sealKey(1)))
  while (newest !== null) {
    const next = await readSeal(read, sealKey(newest.seal.n + 1))
    if (next === null) return newest
    newest = next
  }
  return null
}

/**
 * All seals, oldest first: a file for each day that is over, else one by one. What is missing is left out, and `chainFaults`
 * reports it. The first seal is never removed, because its day is where the days begin.
 */
export async function readSeals(read: ReadPublic): Promise<readonly PublicSeal[]> {
  const newest = await readNewestSeal(read)
  const first = await readSeal(read, sealKey(1))
  if (newest === null || first === null) return newest === null ? [] : [newest]
  const dates = daysBetween(dateOf(first.seal), dateOf(newest.seal))
  const days = await pMap(dates, date => readDay(read, date), { concurrency: READS_AT_ONCE })
  const found = new Map(days.flat().map(each => [each.seal.n, each]))
  const missing = Array.from({ length: newest.seal.n }, (_, i) => i + 1).filter(n => !found.has(n))
  const single = await pMap(missing, n => readSeal(read, sealKey(n)), { concurrency: READS_AT_ONCE })
  return [...found.values(), ...single.filter(each => each !== null)].sort((a, b) => a.seal.n - b.seal.n)
}

async function readDay(read: ReadPublic, date: string): Promise<readonly PublicSeal[]> {
  const key = sealDayKey(date)
  const bytes = await read(key)
  return bytes === null ? [] : splitSeals(bytes).map(each => toPublic(key, each))
}

/** What is wrong with a chain, one sentence each; `publicKeyOf` gives the key in PEM form of an origin, null if it is not trusted. */
export function chainFaults(
  seals: readonly PublicSeal[],
  publicKeyOf: (origin: string) => string | null,
): readonly string[] {
  const faults: string[] = []
  const origins = new Set(seals.map(({ seal }) => seal.origin))
  const keys = [...origins].flatMap(origin => {
    const key = publicKeyOf(origin)
    return key === null ? [] : [[origin, sealCheck(key)] as const]
  })
  const checks = new Map(keys)
  for (const [i, { seal, bytes }] of seals.entries()) {
    const before = seals[i - 1]
    if (!checks.get(seal.origin)?.(bytes))
      faults.push(`seal ${seal.n} is not signed by the key of ${seal.origin}`)
    faults.push(...stepFaults(seal, before))
  }
  return faults
}

/** The same without signatures, which are most of the work: whether each seal continues the one before. */
export const linkFaults = (seals: readonly PublicSeal[]): readonly string[] =>
  seals.flatMap(({ seal }, i) => stepFaults(seal, seals[i - 1]))

function stepFaults(seal: Seal, before: PublicSeal | undefined): readonly string[] {
  const { n } = seal
  const expected = (before?.seal.n ?? 0) + 1
  if (n !== expected) return [`${missingText(expected, n - 1)} missing: withheld or removed`]
  const faults: string[] = []
  if (seal.prev !== (before?.digest ?? NO_DIGEST))
    faults.push(
      `seal ${n} does not continue seal ${n - 1}: one of the two was altered, or the chain was forked`,
    )
  if (seal.toMs <= seal.fromMs || (before !== undefined && seal.fromMs !== before.seal.toMs))
    faults.push(`seal ${n} does not begin when seal ${n - 1} ends`)
  if (before !== undefined && seal.entrySeq < before.seal.entrySeq)
    faults.push(`seal ${n} names entry ${seal.entrySeq} of the log, and seal ${n - 1} a later one`)
  return faults
}

const missingText = (from: number, to: number): string =>
  from === to ? `seal ${from} is` : `seals ${from} to ${to} are`

/** The public keys of the origins of a chain, by origin; those that are missing or not of their id are left out. */
export async function readOriginKeys(
  read: ReadPublic,
  seals: readonly PublicSeal[],
): Promise<ReadonlyMap<string, string>> {
  const origins = [...new Set(seals.map(({ seal }) => seal.origin))]
  const keys = await pMap(origins, async origin => [origin, await read(keyOfOrigin(origin))] as const, {
    concurrency: READS_AT_ONCE,
  })
  return new Map(
    keys.flatMap(([origin, bytes]) => {
      const key = parsePublicKey(Buffer.from(bytes ?? []).toString())
      return key !== null && key.id === origin.split('/')[1] ? [[origin, key.pem] as const] : []
    }),
  )
}

/** An item of an opened seal. `stampedMs` is when an authority had seen the seal at the latest, null without a stamp. */
export type OpenedItem = {
  readonly n: number
  readonly item: string
  /** `to` of its seal, epoch milliseconds. */
  readonly sealedMs: number
  readonly stampedMs: number | null
}

export type Opened = {
  readonly items: readonly OpenedItem[]
  readonly faults: readonly string[]
  /** Seals that can never be opened, with the reason of the publisher. */
  readonly lost: readonly { readonly n: number; readonly why: string }[]
  /** Numbers of signals that no batch has, although later ones do. */
  readonly skipped: readonly { readonly from: number; readonly to: number }[]
  /** The name in the newest time stamp; null without any. */
  readonly stampedBy: string | null
  /** The last day that is opened, ISO; null before the first. */
  readonly openedTo: string | null
}

/** Opens every seal up to and with day `until`, as far as it is published, and checks that each fits. `seals` ascend. */
export async function openSeals(
  read: ReadPublic,
  seals: readonly PublicSeal[],
  until: string,
): Promise<Opened> {
  const days = Map.groupBy(seals, ({ seal }) => dateOf(seal))
  const dates = [...days.keys()].filter(date => date <= until)
  const openings = await pMap(dates, async date => [date, await readOpening(read, date)] as const, {
    concurrency: READS_AT_ONCE,
  })
  const last = openings.findLast(([, opening]) => opening !== null)?.[0] ?? null
  const stamps = openings.flatMap(([, opening]) => opening?.stamps ?? [])
  const faults: string[] = []
  const items: OpenedItem[] = []
  const lost: Opened['lost'][number][] = []
  const skipped: Opened['skipped'][number][] = []
  let seq: number | null = 0
  let origin: string | null = null
  for (const [date, opening] of openings) {
    if (last === null || date > last) break
    if (opening === null) {
      faults.push(`the seals of ${date} are not opened, although those of ${last} are`)
      seq = null
      continue
    }
    for (const { seal } of days.get(date) ?? []) {
      if (seal.origin !== origin) seq = null // a new chain goes on with what its service has, and its first seal is listed
      origin = seal.origin
      const line = opening.lines.find(({ n }) => n === seal.n)
      if (line !== undefined && 'lost' in line) {
        lost.push({ n: seal.n, why: line.lost })
        seq = null
        continue
      }
      const found = openSeal(seal, opening.day_key, line, seq)
      faults.push(...found.faults)
      skipped.push(...found.skipped)
      seq = found.last
      const stampedMs = stampOf(seal.n, stamps)
      items.push(...found.items.map(item => ({ n: seal.n, item, sealedMs: seal.toMs, stampedMs })))
    }
  }
  return { items, faults, lost, skipped, stampedBy: stamps.at(-1)?.by ?? null, openedTo: last }
}

async function readOpening(read: ReadPublic, date: string): Promise<Opening | null> {
  const bytes = await read(openingKey(date))
  if (bytes === null) return null
  const opening = parseOpening(bytes)
  if (opening?.date === date) return opening
  throw new Error(`${openingKey(date)} is not an opening: it was altered; restore it from a copy`)
}

/** The first stamp of this seal or a later one proves when it was there. */
function stampOf(n: number, stamps: Opening['stamps']): number | null {
  const stamp = stamps.find(each => each.n >= n)
  return stamp === undefined ? null : Date.parse(stamp.at)
}

/** Opens one seal. Without a line of its own it has to be empty. `seq` is the last number before it, null if that is not known. */
function openSeal(
  seal: Seal,
  dayKey: string,
  line: Extract<OpeningLine, { batch: string }> | undefined,
  seq: number | null,
) {
  const batch = line?.batch ?? batchOf(seq ?? 0, [])
  const { after, commitments } = parseBatch(batch)
  const { day_key: key = dayKey, items = [] } = line ?? {}
  const faults: string[] = []
  const skipped: { from: number; to: number }[] = []
  if (commitmentTo(batchSalt(key, seal.n), batch) !== seal.commitment)
    faults.push(
      `what is opened of seal ${seal.n} is not what was sealed: a signal was altered, added or left out`,
    )
  const isEach = items.every(
    (item, i) => commitmentToItem(itemSalt(key, item, seal.n, i), item) === commitments[i],
  )
  if (items.some(item => parseItem(item) === null))
    faults.push(`seal ${seal.n} has an item that is neither a signal nor an event`)
  if (!isEach || items.length !== commitments.length)
    faults.push(`seal ${seal.n} has ${commitments.length} items, and those that are opened are others`)
  if (seq !== null && after !== seq)
    faults.push(`seal ${seal.n} begins after signal ${after}, and the seals before it end with signal ${seq}`)
  let last = after
  for (const each of items.map(seqOf).filter(each => each !== null)) {
    if (each <= last)
      faults.push(`signal ${each} of seal ${seal.n} is not numbered above the signal before it`)
    if (each > last + 1) skipped.push({ from: last + 1, to: each - 1 })
    last = each
  }
  return { items, last, skipped, faults }
}

/** A gap of the service: one seal that spans more than it should. */
export const gapsOf = (
  seals: readonly PublicSeal[],
  lengthMs: number,
): readonly Pick<Seal, 'n' | 'fromMs' | 'toMs'>[] =>
  seals.flatMap(({ seal: { n, fromMs, toMs } }) => (toMs - fromMs > lengthMs ? [{ n, fromMs, toMs }] : []))
