// Checks sealed live signals from public bytes: the chain, the openings, and the live records that follow from them.
import { z } from 'zod'
import { toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { SEALS_PREFIX, sealAnchorKey, sealKeyKey } from '#core/contract/seals.ts'
import { sha256 } from '#storage/digest.ts'
import { messageOf } from '#storage/error-code.ts'
import { parseJson } from '#storage/json-bytes.ts'
import {
  chainFaults,
  gapsOf,
  type Opened,
  openSeals,
  type ReadPublic,
  readOriginKeys,
  readSeals,
  stampTimes,
  startsOf,
} from '#storage/seals/chain.ts'
import * as format from '#storage/seals/seal.ts'
import { parsePublicKey } from '#storage/signature.ts'
import { provenTimes } from './audit-clock.ts'
import { checkRecords, readDataset } from './audit-live-records.ts'
import type { TrustedKey } from './audit-signatures.ts'
import { type Check, checkOf } from './check.ts'
import { type PublicReader, placeOf } from './reader.ts'

/** What a monitor keeps of the chain that it saw. */
export const seenChain = z.object({
  n: z.int(),
  digest: z.string(),
  keys: z.array(z.string()),
  opened_to: z.string().nullable(),
  /** Beginnings of chains, lost seals, and strategies that are not in the catalogue: each is a fault once. */
  known: z.array(z.string()),
})
export type SeenChain = z.infer<typeof seenChain>

export type LiveOrder = {
  readonly reader: PublicReader
  readonly nowMs: number
  /** The only keys that may sign; null trusts those that are published. */
  readonly keys: readonly TrustedKey[] | null
  readonly seen: SeenChain | null
  readonly tsaCa: string | null
  readonly receipts: ReturnType<typeof parseReceipts> | null
}

/** Checks everything that is sealed; every fault is found in one run. `seen` is null if the chain could not be read. */
export async function auditLive(order: LiveOrder) {
  try {
    const all = await readAll(order)
    const { newest, opened, trusted } = all
    const records = await checkRecords(all.read, all.seals, all.data)
    const chain = checkChain(all)
    const known = [...chain.notes, ...lostNotes(opened), ...records.hidden]
    const found = [
      ...[checkKeys(all), chain, await checkTimes(all), checkOpenings(all)],
      ...[await checkStamps(all), checkReceipts(all), records.check, checkNews(all, known)],
    ]
    const kept = { n: newest.seal.n, digest: newest.digest, keys: trusted.map(({ pem }) => pem) }
    const seen: SeenChain = { ...kept, opened_to: opened.openedTo, known }
    return { checks: found.filter(each => each !== null), seen, trusted }
  } catch (error) {
    return { checks: [checkOf('chain', 'it cannot be read', [messageOf(error)])], seen: null, trusted: [] }
  }
}

type Live = Awaited<ReturnType<typeof readAll>>

/** What is asked, all that is public of the chain, and the keys: those that are pinned, null without any, and those that are used. */
async function readAll(order: LiveOrder) {
  const read = remembering(order.reader)
  const seals = await readSeals(read, order.nowMs + HOUR_MS)
  const newest = seals.at(-1)
  if (newest === undefined)
    throw new Error(`there are no seals at /${SEALS_PREFIX}: nothing live is sealed there`)
  const data = await readDataset(read)
  const opened = await openSeals(read, seals, '9999-12-31')
  const published = [...(await readOriginKeys(read, seals)).values()].flatMap(
    pem => parsePublicKey(pem) ?? [],
  )
  const pinned = order.keys ?? order.seen?.keys.flatMap(pem => parsePublicKey(pem) ?? []) ?? null
  const ids = [...new Set(seals.map(({ seal }) => format.keyIdOf(seal.origin)))]
  const trusted = ids.flatMap(id => (pinned ?? published).find(key => key.id === id) ?? [])
  return { ...order, read, seals, newest, data, opened, published, pinned, trusted }
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

function checkKeys({ seals, keys, seen, pinned, trusted }: Live): Check {
  const faults = startsOf(seals).flatMap(({ seal: { n, origin } }) => {
    const id = format.keyIdOf(origin)
    if (trusted.some(key => key.id === id)) return []
    if (pinned === null) return `/${sealKeyKey(id)} is not the key that ${origin} names`
    const from = `from seal ${n} on the chain is of the key ${id}, which is none of those that are trusted here`
    return `${from}: name it with --key if the publisher confirms it`
  })
  const ids = trusted.map(({ id }) => id).join(' and ') || 'no key'
  const how = keys !== null ? 'pinned' : seen !== null ? 'as it was seen before' : 'as it is published there'
  return checkOf('keys', `${ids}, ${how}`, faults)
}

function checkChain({ seals, seen, newest, pinned, published }: Live): Check {
  const keys = [...(pinned ?? []), ...published]
  const faults = [
    ...chainFaults(seals, origin => keys.find(({ id }) => id === format.keyIdOf(origin))?.pem ?? null),
  ]
  const same = seals.find(({ seal }) => seal.n === seen?.n)
  if (seen !== null && same?.digest !== seen.digest)
    faults.push(
      `seal ${seen.n} was seen here before and is ${same === undefined ? 'gone' : 'another one'}: another chain is shown now`,
    )
  const notes = startsOf(seals).map(({ seal }) => `seal ${seal.n} begins the chain ${seal.origin}`)
  const span = `${toIsoInstant(seals[0]!.seal.fromMs)} to ${toIsoInstant(newest.seal.toMs)}`
  const summary = `${seals.length} seals from ${span}, ${gapsOf(seals).length} of more than ten minutes`
  return checkOf('chain', summary, faults, notes, ', each signed and with the digest of the one before')
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** A seal is published 20 s after its end, and ends ten minutes after the one before: what is older is chosen with hindsight. */
const OLDEST_MS = 20 * MINUTE_MS

/** Clocks are not all alike. */
const AHEAD_MS = MINUTE_MS

const logEntry = z.object({ at: z.string() })

async function checkTimes({ nowMs, read, seals, newest }: Live): Promise<Check> {
  const { n, toMs } = newest.seal
  const faults: string[] = []
  if (toMs > nowMs + AHEAD_MS)
    faults.push(`seal ${n} ends at ${toIsoInstant(toMs)}, which is ahead of this clock`)
  if (toMs < nowMs - OLDEST_MS)
    faults.push(
      `seal ${n} of ${toIsoInstant(toMs)} is the newest: nothing is sealed since, or newer seals are withheld`,
    )
  const named = seals.filter(
    ({ seal }, i) => seal.entrySeq > 0 && seal.entrySha256 !== seals[i - 1]?.seal.entrySha256,
  )
  for (const { seal } of named) {
    const bytes = await read(pointerKey(seal.entrySeq))
    const at = logEntry.safeParse(parseJson(bytes ?? '')).data?.at ?? ''
    if (bytes === null || Buffer.from(sha256(bytes), 'hex').toString('base64') !== seal.entrySha256)
      faults.push(
        `seal ${seal.n} names another entry ${seal.entrySeq} of the log of versions than is published`,
      )
    else if (Date.parse(at) > seal.toMs)
      faults.push(`seal ${seal.n} of ${toIsoInstant(seal.toMs)} names an entry of ${at}: it is dated back`)
  }
  const minutes = Math.max(0, Math.round((nowMs - toMs) / MINUTE_MS))
  const summary = `the newest ended ${minutes} min ago by the publisher's clock; entries of the log of versions that seals name: ${named.length}`
  return checkOf('times', summary, faults)
}

function checkOpenings({ nowMs, seen, tsaCa, seals, opened, data }: Live): Check {
  const { items, lost, skipped, stamps, faults: found } = opened
  const [openedTo, end] = [opened.openedTo ?? '', data?.window.to ?? '']
  const faults = [...found]
  const closed = [...new Set(seals.map(({ seal }) => format.dateOf(seal)))].filter(date => date > openedTo)
  const over = data === null ? '' : toIsoDate(toEpochDay(nowMs) - data.embargo_days - NIGHTS)
  const [withheld = ''] = closed
  const why =
    withheld <= end ? `data are published up to ${end}` : `the embargo of ${data?.embargo_days} days is over`
  if (withheld !== '' && (withheld <= end || withheld <= over))
    faults.push(`the seals of ${withheld} are not opened, although ${why}`)
  const before = seals.findLast(({ seal }) => format.dateOf(seal) <= (seen?.opened_to ?? ''))?.seal.n ?? 0
  for (const { n } of lost)
    if (n <= before && !seen?.known.some(each => each.startsWith(`seal ${n} is lost`)))
      faults.push(`seal ${n} was opened when it was seen before, and is said to be lost now`)
  const begun = format.beginningsOf(items)
  for (const { seal } of startsOf(seals).slice(1))
    if (format.dateOf(seal) <= openedTo && !begun.some(({ n }) => n === seal.n))
      faults.push(`seal ${seal.n} begins another chain, and what was sealed does not say why`)
  const notes = [
    ...begun.map(({ n, why }) => `seal ${n} begins another chain. Reason: ${why}`),
    ...lostNotes(opened),
    ...skipped.map(({ from, to }) => `no signal has a number from ${from} to ${to}`),
  ]
  if (stamps.length > 0 && tsaCa === null)
    notes.push(
      `time stamps name ${stamps.at(-1)!.by}, as the publisher states: check them (${stamps.length}) with --tsa-ca`,
    )
  const signals = items.filter(({ item }) => format.seqOf(item) !== null).length
  const summary =
    `opened up to ${opened.openedTo ?? 'no day yet'}: ${signals} signals and ${items.length - signals} events, ${lost.length} seals ` +
    `lost, ${skipped.length} holes in the numbers; days that are sealed and not opened: ${closed.length}`
  return checkOf('openings', summary, faults, notes)
}

/** A build opens the last day of its data in the night after it, and may fail once. */
const NIGHTS = 2

const lostNotes = ({ lost }: Opened) => lost.map(({ n, why }) => `seal ${n} is lost for ever. Reason: ${why}`)

/** How long after its end each opened seal was seen by the authority, by its own stamp or that of a later one. */
async function checkStamps({ reader, tsaCa, seals, opened: { stamps, openedTo } }: Live) {
  if (tsaCa === null) return null
  const digests = new Map(seals.map(({ seal, digest }) => [seal.n, digest]))
  const subjects = stamps.map(({ n }) => {
    const digest = Buffer.from(digests.get(n) ?? '', 'base64').toString('hex')
    return { name: `seal ${n}`, place: placeOf(sealAnchorKey(n)), sha256: digest }
  })
  const found = await provenTimes(reader, subjects, tsaCa)
  const faults = found.flatMap((each, i) => {
    if ('told' in each) return each.told
    const { n, at } = stamps[i]!
    return each.at === at
      ? []
      : `the opening says that seal ${n} was stamped at ${at}, and not so: ${each.line}`
  })
  const own = seals.filter(({ seal }) => format.dateOf(seal) <= (openedTo ?? ''))
  const times = stampTimes(own, stamps)
  const delays = own.flatMap(({ seal: { n, toMs } }) => (times.has(n) ? [times.get(n)! - toMs] : []))
  const latest = Math.ceil(delays.reduce((most, each) => Math.max(most, each), 0) / MINUTE_MS)
  const summary =
    `by an authority that is trusted here: ${stamps.length}; opened seals with one at or after them: ${delays.length} of ${own.length}, ` +
    `at most ${latest} min after their end`
  return checkOf('stamps', summary, faults)
}

const receipt = z.object({ seq: z.int(), n: z.int(), r: z.string(), s_n: z.string(), batch: z.string() })
const receiptsAnswer = z.object({ data: z.array(receipt) })

/** Of lines, each a signal as it was delivered, or an answer of `/v1/signals/seals`. Throws for any other. */
export function parseReceipts(text: string) {
  const delivered = new Map<number, string>()
  const rows = new Map<number, z.infer<typeof receipt>>()
  for (const [i, line] of text.split('\n').entries()) {
    const answer = receiptsAnswer.safeParse(parseJson(line))
    const seq = format.seqOf(line)
    if (answer.success) for (const row of answer.data.data) rows.set(row.seq, row)
    else if (seq !== null) delivered.set(seq, line)
    else if (line !== '')
      throw new Error(`line ${i + 1} is neither a signal nor an answer of /v1/signals/seals`)
  }
  return { delivered, rows }
}

function checkReceipts({ receipts, seals, opened: { items, openedTo } }: Live): Check | null {
  if (receipts === null) return null
  const { delivered, rows } = receipts
  const faults: string[] = []
  const opened = new Set(items.map(({ n, item }) => `${n} ${item}`))
  const delays = [0]
  for (const [seq, item] of delivered) {
    const row = rows.get(seq)
    const seal = row && seals.find(each => each.seal.n === row.n)?.seal
    if (row === undefined) faults.push(`signal ${seq} was delivered and has no receipt: it is not sealed`)
    else if (seal === undefined || format.commitmentTo(row.s_n, row.batch) !== seal.commitment)
      faults.push(
        `the receipt of signal ${seq} is not of seal ${row.n} of this chain: another chain was shown to its client`,
      )
    else if (!format.parseBatch(row.batch)?.commitments.includes(format.commitmentToItem(row.r, item)))
      faults.push(`signal ${seq} is not in seal ${row.n} as it was delivered`)
    else if (format.dateOf(seal) <= (openedTo ?? '') && !opened.has(`${row.n} ${item}`))
      faults.push(`signal ${seq} is in seal ${row.n}, and is not what was opened of it`)
    const found = format.parseItem(item)
    if (seal !== undefined && found?.kind === 'signal')
      delays.push(seal.toMs - Date.parse(found.signal.timestamp))
  }
  const latest = Math.ceil(Math.max(...delays) / MINUTE_MS)
  const summary = `delivered signals: ${delivered.size}, sealed at most ${latest} min after the time in the signal`
  return checkOf('receipts', summary, faults, [], ', each in its seal')
}

/** What the state of a reader does not have: each is a fault once. */
function checkNews({ seen }: Live, known: readonly string[]): Check | null {
  if (seen === null) return null
  const news = known.filter(each => !seen.known.includes(each))
  return checkOf('news', `${news.length} facts that the state does not have`, news)
}
