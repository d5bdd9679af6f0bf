// Reads and checks the public side of sealed signals: the chain of seals, and what was opened of it.
import pMap from 'p-map'
import { toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { openingKey, SEAL_HEAD_KEY, sealDayKey, sealKey } from '#core/contract/seals.ts'
import { parsePublicKey } from '../signature.ts'
import * as format from './seal.ts'

/** The bytes of a public object by its key, null if there is none: of a store, or of a service over HTTP. */
export type ReadPublic = (key: string) => Promise<Uint8Array | null>

export type PublicSeal = { readonly seal: format.Seal; readonly bytes: Uint8Array; readonly digest: string }

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
  const seal = format.parseSeal(bytes)
  if (seal === null) throw new Error(`${key} is not a seal: it was altered; restore it from a copy`)
  return { seal, bytes, digest: format.digestOfSeal(bytes) }
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
 * reports it. The first seal is never removed, because its day is where the days begin. Throws before it reads more if the newest
 * one ends after `latestMs`, or has a number that the time since the first is too short for.
 */
export async function readSeals(read: ReadPublic, latestMs = Infinity): Promise<readonly PublicSeal[]> {
  const newest = await readNewestSeal(read)
  const first = await readSeal(read, sealKey(1))
  if (newest === null || first === null) return newest === null ? [] : [newest]
  const { n, toMs } = newest.seal
  if (toMs > latestMs || n > (toMs - first.seal.fromMs) / format.SEAL_MS + 1)
    throw new Error(
      `seal ${n} cannot end at ${toIsoInstant(toMs)}: each takes ten minutes, and this is not in the future`,
    )
  const day = toEpochDay(first.seal.toMs)
  const dates = Array.from({ length: toEpochDay(toMs) - day + 1 }, (_, i) => toIsoDate(day + i))
  const days = await pMap(dates, date => readDay(read, date), { concurrency: READS_AT_ONCE })
  const found = new Map(days.flat().map(each => [each.seal.n, each]))
  const missing = Array.from({ length: newest.seal.n }, (_, i) => i + 1).filter(n => !found.has(n))
  const single = await pMap(missing, n => readSeal(read, sealKey(n)), { concurrency: READS_AT_ONCE })
  return [...found.values(), ...single.filter(each => each !== null)].sort((a, b) => a.seal.n - b.seal.n)
}

async function readDay(read: ReadPublic, date: string): Promise<readonly PublicSeal[]> {
  const key = sealDayKey(date)
  const bytes = await read(key)
  return bytes === null ? [] : format.splitSeals(bytes).map(each => toPublic(key, each))
}

/** The first seal of each origin. */
export const startsOf = (seals: readonly PublicSeal[]): readonly PublicSeal[] =>
  seals.filter(({ seal }, i) => seal.origin !== seals[i - 1]?.seal.origin)

/**
 * What is wrong with a chain, one sentence each; `publicKeyOf` gives the key in PEM form of an origin, null if it is not trusted.
 * Without it no signature is checked, which is most of the work.
 */
export function chainFaults(
  seals: readonly PublicSeal[],
  publicKeyOf?: (origin: string) => string | null,
): readonly string[] {
  const checkOf = (key: string | null) => (key === null ? () => false : format.sealCheck(key))
  const origins = publicKeyOf === undefined ? [] : startsOf(seals).map(({ seal }) => seal.origin)
  const checks = new Map(origins.map(origin => [origin, checkOf(publicKeyOf!(origin))]))
  return seals.flatMap(({ seal, bytes }, i) => [
    ...(checks.get(seal.origin)?.(bytes) === false
      ? [`seal ${seal.n} is not signed by the key of ${seal.origin}`]
      : []),
    ...stepFaults(seal, seals[i - 1]),
  ])
}

function stepFaults(seal: format.Seal, before: PublicSeal | undefined): readonly string[] {
  const { n } = seal
  const expected = (before?.seal.n ?? 0) + 1
  if (n !== expected) return [`${missingText(expected, n - 1)} missing: withheld or removed`]
  const faults: string[] = []
  if (seal.prev !== (before?.digest ?? format.NO_DIGEST))
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
  seals: readonly Pick<PublicSeal, 'seal'>[],
): Promise<ReadonlyMap<string, string>> {
  const origins = [...new Set(seals.map(({ seal }) => seal.origin))]
  const readKey = async (origin: string) => {
    const key = parsePublicKey(Buffer.from((await read(format.keyOfOrigin(origin))) ?? []).toString())
    return key?.id === format.keyIdOf(origin) ? [[origin, key.pem] as const] : []
  }
  return new Map((await pMap(origins, readKey, { concurrency: READS_AT_ONCE })).flat())
}

/** An item of an opened seal. `stampedMs` is when an authority had seen the seal at the latest, null without a stamp. */
export type OpenedItem = {
  readonly n: number
  readonly item: string
  /** `to` of its seal, epoch milliseconds. */
  readonly sealedMs: number
  readonly stampedMs: number | null
}

export type Opened = Awaited<ReturnType<typeof openSeals>>

/**
 * Opens every seal up to and with day `until`, as far as it is published, and checks that each fits. `seals` ascend. `stamps` are
 * as the publisher states them; `openedTo` is the last day that is opened, ISO, null before the first.
 */
export async function openSeals(read: ReadPublic, seals: readonly PublicSeal[], until: string) {
  const days = [...Map.groupBy(seals, ({ seal }) => format.dateOf(seal))].filter(([date]) => date <= until)
  const openings = await pMap(days, ([date]) => readOpening(read, date), { concurrency: READS_AT_ONCE })
  const last = openings.findLastIndex(opening => opening !== null)
  const openedTo = days[last]?.[0] ?? null
  const stamps = openings.flatMap(opening => opening?.stamps ?? [])
  const stamped = stampTimes(seals, stamps)
  const items: OpenedItem[] = []
  const faults: string[] = []
  /** Seals that can never be opened, with the reason of the publisher. */
  const lost: { readonly n: number; readonly why: string }[] = []
  /** Numbers of signals that no batch has, although later ones do. */
  const skipped: { readonly from: number; readonly to: number }[] = []
  let seq: number | null = null
  let origin: string | null = null
  for (const [i, [date, own]] of days.slice(0, last + 1).entries()) {
    const opening = openings[i] ?? null
    if (opening === null)
      faults.push(`the seals of ${date} are not opened, although those of ${openedTo} are`)
    else if (!isOf(own, opening.lines) || !isOf(own, opening.stamps))
      faults.push(`the opening of ${date} has lines twice, in another order, or of other seals`)
    const lines = new Map(opening?.lines.map(line => [line.n, line]))
    for (const { seal } of own) {
      const line = lines.get(seal.n)
      const isStart: boolean = seal.origin !== origin
      origin = seal.origin
      if (line !== undefined && 'lost' in line) lost.push({ n: seal.n, why: line.lost })
      if (opening === null || (line !== undefined && 'lost' in line)) seq = null
      else {
        seq = openSeal({ faults, skipped }, seal, opening.day_key, line, seq, isStart)
        const times = { sealedMs: seal.toMs, stampedMs: stamped.get(seal.n) ?? null }
        items.push(...(line?.items ?? []).map(item => ({ n: seal.n, item, ...times })))
      }
    }
  }
  const isOpened = ({ seal }: PublicSeal) => format.dateOf(seal) <= (openedTo ?? '')
  faults.push(...lossFaults(seals, isOpened, items, lost))
  return { items, faults, lost, skipped, stamps, openedTo }
}

async function readOpening(read: ReadPublic, date: string): Promise<format.Opening | null> {
  const bytes = await read(openingKey(date))
  if (bytes === null) return null
  const opening = format.parseOpening(bytes)
  if (opening?.date === date) return opening
  throw new Error(`${openingKey(date)} is not an opening: it was altered; restore it from a copy`)
}

/** Whether some lines are of these seals, at most one of each, in their order. */
function isOf(seals: readonly PublicSeal[], lines: readonly { readonly n: number }[]): boolean {
  const own = new Set(seals.map(({ seal }) => seal.n))
  return lines.every(({ n }, i) => own.has(n) && n > (lines[i - 1]?.n ?? 0))
}

/** The first stamp of each seal or a later one, which proves when it was there; epoch milliseconds. Both ascend. */
export function stampTimes(
  seals: readonly PublicSeal[],
  stamps: format.Opening['stamps'],
): ReadonlyMap<number, number> {
  let next = 0
  return new Map(
    seals.flatMap(({ seal: { n } }) => {
      while (stamps[next] !== undefined && stamps[next]!.n < n) next++
      const stamp = stamps[next]
      return stamp === undefined ? [] : [[n, Date.parse(stamp.at)] as const]
    }),
  )
}

/**
 * A seal is lost if and only if a later beginning of a chain says so, which was sealed before its opening: else a publisher chooses
 * when he opens. One that is not opened yet may still say so.
 */
function lossFaults(
  seals: readonly PublicSeal[],
  isOpened: (seal: PublicSeal) => boolean,
  items: readonly OpenedItem[],
  lost: readonly { readonly n: number }[],
): readonly string[] {
  const starts = startsOf(seals)
  const said = format.beginningsOf(items).filter(({ n }) => starts.some(({ seal }) => seal.n === n))
  const [isLost, isPending] = [new Set(lost.map(({ n }) => n)), starts.some(start => !isOpened(start))]
  return seals.filter(isOpened).flatMap(({ seal: { n } }) => {
    const isSaid = format.lossOf(n, said) !== undefined
    if (isLost.has(n) && !isSaid && !isPending)
      return [`seal ${n} is said to be lost, and no chain that begins after it says so`]
    return isSaid && !isLost.has(n) ? [`seal ${n} is opened, and a later beginning says that it is lost`] : []
  })
}

/**
 * Opens one seal. Without a line of its own it has to be empty. `seq` is the last number before it, null if that is not known; the
 * first seal of a chain may go on with a higher one. Returns the last number with it.
 */
function openSeal(
  { faults, skipped }: { readonly faults: string[]; readonly skipped: { from: number; to: number }[] },
  seal: format.Seal,
  dayKey: string,
  line: Extract<format.OpeningLine, { batch: string }> | undefined,
  seq: number | null,
  isStart: boolean,
): number {
  const { day_key = dayKey, items = [], batch = format.batchOf(seq ?? 0, []) } = line ?? {}
  const { n } = seal
  const parsed = format.parseBatch(batch)
  if (parsed === null) faults.push(`the batch of seal ${n} has another form`)
  const { after } = parsed ?? { after: seq ?? 0 }
  if (format.commitmentTo(format.batchSalt(day_key, n), batch) !== seal.commitment)
    faults.push(`what is opened of seal ${n} is not what was sealed: a signal was altered, added or left out`)
  if (items.some(item => format.parseItem(item) === null))
    faults.push(`seal ${n} has an item that is neither a signal nor an event`)
  if (parsed !== null && format.toRecord({ n, day_key }, after, items).batch !== batch)
    faults.push(`the items of seal ${n} and those that are opened of it are not the same`)
  if (seq !== null && after !== seq && !isStart)
    faults.push(`seal ${n} begins after signal ${after}, and the seals before it end with signal ${seq}`)
  if (seq !== null && after > seq && isStart) skipped.push({ from: seq + 1, to: after })
  let last = after
  for (const each of items.map(format.seqOf).filter(each => each !== null)) {
    if (each <= last) faults.push(`signal ${each} of seal ${n} is not numbered above the signal before it`)
    if (each > last + 1) skipped.push({ from: last + 1, to: each - 1 })
    last = each
  }
  return last
}

/** Gaps of the service: seals that span more than they should. UTC instants. */
export const gapsOf = (
  seals: readonly PublicSeal[],
): readonly { readonly from: string; readonly to: string }[] =>
  seals.flatMap(({ seal: { fromMs, toMs } }) =>
    toMs - fromMs > format.SEAL_MS ? [{ from: toIsoInstant(fromMs), to: toIsoInstant(toMs) }] : [],
  )
