// Checks sealed live signals from public bytes: the chain, the openings, and the live records that follow from them.
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { openingKey, SEALS_PREFIX, sealKeyKey } from '#core/contract/seals.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf } from '#storage/error-code.ts'
import { parseJson } from '#storage/json-bytes.ts'
import {
  chainFaults,
  gapsOf,
  type Opened,
  openSeals,
  type PublicSeal,
  type ReadPublic,
  readOriginKeys,
  readSeals,
} from '#storage/seals/chain.ts'
import {
  commitmentTo,
  commitmentToItem,
  dateOf,
  parseBatch,
  parseItem,
  parseOpening,
  SEAL_MS,
  seqOf,
} from '#storage/seals/seal.ts'
import { parsePublicKey } from '#storage/signature.ts'
import { provenTimes } from './audit-clock.ts'
import { checkRecords, readDataset } from './audit-live-records.ts'
import type { TrustedKey } from './audit-signatures.ts'
import { type Check, checkOf } from './check.ts'
import { entryPlace, type PublicReader, sealStampPlace } from './reader.ts'

/** What a monitor keeps of the chain that it saw. */
export const seenChain = z.object({ n: z.int(), digest: z.string(), keys: z.array(z.string()) })
export type SeenChain = z.infer<typeof seenChain>

export type LiveOrder = {
  readonly reader: PublicReader
  readonly nowMs: number
  /** The only keys that may sign; null trusts those that are published. */
  readonly keys: readonly TrustedKey[] | null
  readonly seen: SeenChain | null
  readonly tsaCa: string | null
  /** Lines, each a signal as it was delivered, or an answer of `/v1/signals/seals`; null without. */
  readonly receipts: string | null
}

/** Checks everything that is sealed; every fault is found in one run. `seen` is null if the chain could not be read. */
export async function auditLive(order: LiveOrder) {
  const read = remembering(order.reader)
  try {
    const seals = await readSeals(read)
    const newest = seals.at(-1)
    if (newest === undefined)
      throw new Error(`there are no seals at /${SEALS_PREFIX}: nothing live is sealed there`)
    const keys = await checkKeys(read, seals, order)
    const data = await readDataset(read)
    const opened = await openSeals(read, seals, '9999-12-31')
    const checks = [
      keys.check,
      checkChain(seals, keys.pemOf, order.seen),
      await checkTimes(order, read, seals),
      checkOpenings(order, seals, opened, data?.window.to ?? ''),
      ...(order.tsaCa === null ? [] : [await checkStamps(order, order.tsaCa, seals, read)]),
      ...(order.receipts === null ? [] : [checkReceipts(order.receipts, seals, opened)]),
      await checkRecords(read, seals, data),
    ]
    const { n } = newest.seal
    const seen = { n, digest: newest.digest, keys: keys.trusted.map(({ pem }) => pem) }
    return { checks, seen, trusted: keys.trusted }
  } catch (error) {
    return { checks: [checkOf('chain', 'it cannot be read', [messageOf(error)])], seen: null, trusted: [] }
  }
}

/** An opening of a busy day takes a few megabytes. */
const MOST_BYTES = 64 << 20

/** Each object is read once. A key is a path, with a query too. */
function remembering(reader: PublicReader): ReadPublic {
  const known = new Map<string, Promise<Uint8Array | null>>()
  return key => {
    const found = known.get(key) ?? reader.read({ key, path: `/${key}`, mostBytes: MOST_BYTES })
    known.set(key, found)
    return found
  }
}

async function checkKeys(read: ReadPublic, seals: readonly PublicSeal[], { keys, seen }: LiveOrder) {
  const found = await readOriginKeys(read, seals)
  const pinned = keys ?? seen?.keys.flatMap(pem => parsePublicKey(pem) ?? []) ?? null
  const published = [...found.values()].flatMap(pem => parsePublicKey(pem) ?? [])
  const faults: string[] = []
  const trusted = new Set<TrustedKey>()
  for (const { seal } of startsOf(seals)) {
    const id = seal.origin.split('/')[1] ?? ''
    const key = (pinned ?? published).find(each => each.id === id)
    if (key !== undefined) trusted.add(key)
    else if (pinned === null) faults.push(`/${sealKeyKey(id)} is not the key that ${seal.origin} names`)
    else
      faults.push(
        `from seal ${seal.n} on the chain is of the key ${id}, which is none of those that are trusted here: name it with --key if ` +
          'the publisher confirms it',
      )
  }
  const ids = [...trusted].map(({ id }) => id).join(' and ') || 'no key'
  const how = keys !== null ? 'pinned' : seen !== null ? 'as it was seen before' : 'as it is published there'
  const pemOf = (origin: string) =>
    [...(pinned ?? []), ...published].find(({ id }) => id === origin.split('/')[1])?.pem ?? null
  return { check: checkOf('keys', `${ids}, ${how}`, faults), trusted: [...trusted], pemOf }
}

const startsOf = (seals: readonly PublicSeal[]): readonly PublicSeal[] =>
  seals.filter(({ seal }, i) => seal.origin !== seals[i - 1]?.seal.origin)

function checkChain(
  seals: readonly PublicSeal[],
  pemOf: (origin: string) => string | null,
  seen: SeenChain | null,
): Check {
  const faults = [...chainFaults(seals, pemOf)]
  const same = seals.find(({ seal }) => seal.n === seen?.n)
  if (seen !== null && same?.digest !== seen.digest)
    faults.push(
      `seal ${seen.n} was seen here before and is ${same === undefined ? 'gone' : 'another one'}: another chain is shown now`,
    )
  const [first, last] = [seals[0]!.seal, seals.at(-1)!.seal]
  const gaps = gapsOf(seals, SEAL_MS)
  const notes = startsOf(seals).map(({ seal }) => `seal ${seal.n} begins the chain ${seal.origin}`)
  const summary =
    `${seals.length} seals from ${toIsoInstant(first.fromMs)} to ${toIsoInstant(last.toMs)}, each signed and with the digest of the ` +
    `one before; ${gaps.length} span more than ten minutes`
  return checkOf('chain', summary, faults, notes)
}

const HOUR_MS = 3_600_000

/** Clocks are not all alike. */
const AHEAD_MS = 60_000

const logEntry = z.object({ at: z.string() })

async function checkTimes(
  { nowMs }: LiveOrder,
  read: ReadPublic,
  seals: readonly PublicSeal[],
): Promise<Check> {
  const { n, toMs } = seals.at(-1)!.seal
  const faults: string[] = []
  if (toMs > nowMs + AHEAD_MS)
    faults.push(`seal ${n} ends at ${toIsoInstant(toMs)}, which is ahead of this clock`)
  if (toMs < nowMs - HOUR_MS)
    faults.push(
      `seal ${n} of ${toIsoInstant(toMs)} is the newest: nothing is sealed since, or newer seals are withheld`,
    )
  const named = seals.filter(
    ({ seal }, i) => seal.entrySeq > 0 && seal.entrySha256 !== seals[i - 1]?.seal.entrySha256,
  )
  for (const { seal } of named) {
    const bytes = await read(entryPlace(seal.entrySeq).key)
    const at = logEntry.safeParse(parseJson(bytes ?? '')).data?.at ?? ''
    if (bytes === null || Buffer.from(sha256(bytes), 'hex').toString('base64') !== seal.entrySha256)
      faults.push(
        `seal ${seal.n} names another entry ${seal.entrySeq} of the log of versions than is published`,
      )
    else if (Date.parse(at) > seal.toMs)
      faults.push(`seal ${seal.n} of ${toIsoInstant(seal.toMs)} names an entry of ${at}: it is dated back`)
  }
  const summary = `the newest ends at ${toIsoInstant(toMs)} by the publisher's clock; seals name ${named.length} entries of the log of versions`
  return checkOf('times', summary, faults)
}

function checkOpenings(
  { tsaCa }: LiveOrder,
  seals: readonly PublicSeal[],
  opened: Opened,
  end: string,
): Check {
  const { items, lost, skipped, openedTo, stampedBy, faults: found } = opened
  const faults = [...found]
  const withheld = datesOf(seals).find(date => date > (openedTo ?? '') && date <= end)
  if (withheld !== undefined)
    faults.push(`the seals of ${withheld} are not opened, although data are published up to ${end}`)
  const starts = startsOf(seals)
  for (const { n } of lost)
    if (!starts.some(({ seal }) => seal.n > n))
      faults.push(`seal ${n} is said to be lost, and no chain begins after it`)
  const reasons = new Map(
    items.map(({ n, item }) => [n, whyAnew(item)] as const).filter(([, why]) => why !== null),
  )
  for (const { seal } of starts.slice(1))
    if (dateOf(seal) <= (openedTo ?? '') && !reasons.has(seal.n))
      faults.push(`seal ${seal.n} begins another chain, and what was sealed does not say why`)
  const notes = [
    ...[...reasons].map(([n, why]) => `seal ${n} begins another chain. Reason: ${why}`),
    ...lost.map(({ n, why }) => `seal ${n} is lost for ever. Reason: ${why}`),
    ...skipped.map(({ from, to }) => `no signal has a number from ${from} to ${to}`),
  ]
  if (stampedBy !== null && tsaCa === null)
    notes.push(`time stamps of ${stampedBy} were not checked: name its certificate with --tsa-ca`)
  const signals = items.filter(({ item }) => seqOf(item) !== null).length
  const summary = `opened up to ${openedTo ?? 'no day yet'}: ${signals} signals and ${items.length - signals} events`
  const missing = `, ${lost.length} seals lost, ${skipped.length} holes in the numbers`
  return checkOf('openings', summary + (lost.length + skipped.length > 0 ? missing : ''), faults, notes)
}

const datesOf = (seals: readonly PublicSeal[]): readonly string[] => [
  ...new Set(seals.map(({ seal }) => dateOf(seal))),
]

/** The reason in an item that begins a chain after another one; null of others. */
function whyAnew(item: string): string | null {
  const found = parseItem(item)
  return found?.kind === 'event' && found.event.event === 'begin_anew' ? (found.event.why ?? 'none') : null
}

async function checkStamps(
  { reader }: LiveOrder,
  tsaCa: string,
  seals: readonly PublicSeal[],
  read: ReadPublic,
): Promise<Check> {
  const openings = await Promise.all(
    datesOf(seals).map(async date => parseOpening((await read(openingKey(date))) ?? new Uint8Array())),
  )
  const claimed = openings.flatMap(opening => opening?.stamps ?? [])
  const bySeal = new Map(seals.map(each => [each.seal.n, each]))
  const subjects = claimed.map(({ n }) => {
    const digest = Buffer.from(bySeal.get(n)?.digest ?? '', 'base64').toString('hex')
    return { name: `seal ${n}`, place: sealStampPlace(n), sha256: digest }
  })
  const found = await provenTimes(reader, subjects, tsaCa)
  const faults = found.flatMap((each, i) => {
    if ('told' in each) return each.told
    const { n, at } = claimed[i]!
    return each.at === at
      ? []
      : `the opening says that seal ${n} was stamped at ${at}, and not so: ${each.line}`
  })
  const delays = claimed.map(({ n, at }) => Date.parse(at) - (bySeal.get(n)?.seal.toMs ?? 0))
  const latest = Math.ceil(Math.max(0, ...delays) / 60_000)
  const summary = `${claimed.length} opened seals are time-stamped by an authority that is trusted here, at most ${latest} minutes after their end`
  return checkOf('stamps', summary, faults)
}

const receipt = z.object({ seq: z.int(), n: z.int(), r: z.string(), s_n: z.string(), batch: z.string() })
const receiptsAnswer = z.object({ data: z.array(receipt) })

function checkReceipts(text: string, seals: readonly PublicSeal[], { items, openedTo }: Opened): Check {
  const faults: string[] = []
  const delivered = new Map<number, string>()
  const rows = new Map<number, z.infer<typeof receipt>>()
  for (const [i, line] of text.split('\n').entries()) {
    const answer = receiptsAnswer.safeParse(parseJson(line))
    const seq = seqOf(line)
    if (answer.success) for (const row of answer.data.data) rows.set(row.seq, row)
    else if (seq !== null) delivered.set(seq, line)
    else if (line !== '')
      faults.push(`line ${i + 1} of the receipts is neither a signal nor an answer of /v1/signals/seals`)
  }
  const opened = new Set(items.map(({ n, item }) => `${n} ${item}`))
  for (const [seq, item] of delivered) {
    const row = rows.get(seq)
    const seal = seals.find(each => each.seal.n === row?.n)?.seal
    if (row === undefined) faults.push(`signal ${seq} was delivered and has no receipt: it is not sealed`)
    else if (seal === undefined || commitmentTo(row.s_n, row.batch) !== seal.commitment)
      faults.push(
        `the receipt of signal ${seq} is not of seal ${row.n} of this chain: another chain was shown to its client`,
      )
    else if (!parseBatch(row.batch).commitments.includes(commitmentToItem(row.r, item)))
      faults.push(`signal ${seq} is not in seal ${row.n} as it was delivered`)
    else if (dateOf(seal) <= (openedTo ?? '') && !opened.has(`${row.n} ${item}`))
      faults.push(`signal ${seq} is in seal ${row.n}, and is not what was opened of it`)
  }
  return checkOf('receipts', `${delivered.size} delivered signals, each in its seal`, faults)
}
