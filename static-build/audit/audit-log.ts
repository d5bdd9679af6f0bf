import { parseIsoInstant } from '#core/calendar.ts'
import { CURRENT_KEY, pointerEntry } from '#core/contract/pointer.ts'
import type { Progress } from '#core/progress.ts'
import { sha256 } from '#storage/digest.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { StoreError } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { absenceOf, type Check, type Fault, faultAt, toCheck } from './check.ts'
import { attempt, entryPlace, type Found, type PublicReader, placeOf, tryRead } from './reader.ts'

/** Concurrent requests for entries; as many requests after the newest entry find nothing. */
const WINDOW = 16

/** One entry a day for more than two centuries: a longer log is an attempt to keep the reader busy. */
const MOST_ENTRIES = 100_000

/** An entry with the bytes that its signature is of. */
export type AuditedEntry = LoggedEntry & { readonly bytes: Uint8Array }

/** Reads the log until an entry is missing, and checks each against the one before. Returns those that are sound, oldest first. */
export async function auditLog(reader: PublicReader, progress: Progress) {
  const least = await attempt(reader.leastEntries())
  // An unreadable hint is a fault: without it readers do not notice that the newest entries are withheld.
  const [hint, count] =
    least instanceof StoreError ? [[absenceOf(reader, placeOf(CURRENT_KEY), least)], 0] : [[], least]
  const found = await walk(reader, progress)
  const { entries, faults } = chainOf(reader, found)
  const summary =
    entries.length === 0
      ? 'no entry of a log'
      : `${entries.length === 1 ? '1 entry' : `${entries.length} entries`} without a gap, each with the digest of the one before`
  const all = [...hint, ...faults, ...endFaults(reader, found.length, count)]
  return { entries, check: toCheck('log', null, summary, all, notesOn(entries)) }
}

/** What is wrong with the end of the log: empty, shorter than the hint says, or endless. */
function endFaults(reader: PublicReader, length: number, least: number): readonly Fault[] {
  const next = entryPlace(length + 1)
  if (length >= MOST_ENTRIES)
    return [faultAt(reader, next, 'of another form', 'is there: a log of so many entries is none of nights')]
  if (length >= least && length > 0) return []
  if (least === 0) return [faultAt(reader, next, 'missing', 'is missing: nothing is published there')]
  const rest =
    `is missing, though the log is said to reach entry ${least}: entries were lost or are withheld; run the command ` +
    'again in a minute if a version was published just now'
  return [faultAt(reader, next, 'missing', rest)]
}

/** The objects with the numbers from 1 to the last one found; gaps shorter than a window are included. */
async function walk(reader: PublicReader, progress: Progress): Promise<readonly Found[]> {
  const found: Found[] = []
  while (found.length < MOST_ENTRIES) {
    const first = found.length + 1
    const window = await Promise.all(
      Array.from({ length: WINDOW }, (_, i) => tryRead(reader, entryPlace(first + i))),
    )
    const isOutage = window.every(each => each instanceof StoreError)
    found.push(...(isOutage ? window.slice(0, 1) : window)) // an outage is reported once
    if (isOutage || window.includes(null)) break
    progress({ step: 'log', done: found.length, total: found.length + WINDOW, unit: 'entries' })
  }
  const last = found.findLastIndex(each => each !== null)
  if (last >= 0) progress({ step: 'log', done: last + 1, total: last + 1, unit: 'entries' })
  return found.slice(0, last + 1)
}

/** The chain of the objects 1, 2, 3 and so on: the valid entries, and the faults of the others. */
function chainOf(reader: PublicReader, found: readonly Found[]) {
  const entries: AuditedEntry[] = []
  const faults: Fault[] = []
  const manifests = new Map<string, string>()
  found.forEach((each, i) => {
    const place = entryPlace(i + 1)
    const entry = each instanceof Uint8Array ? toEntry(each, i + 1) : null
    if (!(each instanceof Uint8Array)) faults.push(absenceOf(reader, place, each))
    else if (entry === null)
      faults.push(faultAt(reader, place, 'of another form', 'is no entry of a pointer log'))
    else {
      const why = whyNotNext(entry, entries.at(-1) ?? null, manifests)
      if (why !== null) faults.push(faultAt(reader, place, 'not in the chain', why))
      manifests.set(entry.entry.version, entry.entry.manifest_sha256)
      entries.push(entry)
    }
  })
  return { entries, faults }
}

function toEntry(bytes: Uint8Array, seq: number): AuditedEntry | null {
  const parsed = pointerEntry.safeParse(parseJson(bytes))
  if (!parsed.success || parsed.data.seq !== seq) return null
  const { version, at, expires } = parsed.data
  const areInstants = [version, at, expires].every(text => parseIsoInstant(text) !== null)
  return areInstants ? { entry: parsed.data, sha256: sha256(bytes), bytes } : null
}

/** Why an entry does not continue the log, or null if it does. A gap before it is a fault of its own. */
function whyNotNext(
  { entry }: AuditedEntry,
  before: AuditedEntry | null,
  manifests: ReadonlyMap<string, string>,
): string | null {
  const isNeighbour = entry.seq === (before?.entry.seq ?? 0) + 1
  if (isNeighbour && entry.prev_entry_sha256 !== (before?.sha256 ?? null))
    return `does not continue entry ${entry.seq - 1}, which has another digest: one of the two was altered`
  const known = manifests.get(entry.version)
  if (known === undefined || known === entry.manifest_sha256) return null
  return `names another manifest of ${entry.version} than an entry before it: a version never changes`
}

/** A clock that was once set back cannot be corrected in the log: a note, not a fault. */
const notesOn = (entries: readonly AuditedEntry[]): string[] =>
  entries.flatMap(({ entry }, i) => {
    const before = entries[i - 1]?.entry
    if (before === undefined || before.at <= entry.at) return []
    return `entry ${entry.seq} is dated ${entry.at}, before entry ${before.seq}: the publisher's clock was set back`
  })

/** Clocks of two machines that are kept in step differ by less. */
const CLOCK_SKEW_MS = 5 * 60_000

/** Whether the newest entry is valid. An expired one is a note for the operator, a fault for a subscriber. */
export function auditHead(
  reader: PublicReader,
  { entry }: AuditedEntry,
  nowMs: number,
  isExpiryFault: boolean,
): Check {
  const place = entryPlace(entry.seq)
  const { action, version, at, expires } = entry
  const summary = `entry ${entry.seq} of ${at} (${action} ${version}), valid until ${expires}`
  const expired = `expired at ${expires}: it no longer proves which version is served; its publisher runs \`highwater refresh\``
  const isExpired = nowMs >= parseIsoInstant(expires)! // `toEntry` took no others
  const future =
    `was written at ${at}, later than the clock of this machine says it is: one of the two clocks is wrong, so ` +
    'it is not known whether it expired'
  const isEarly = nowMs + CLOCK_SKEW_MS < parseIsoInstant(at)!
  const faults = [
    ...(isExpired && isExpiryFault ? [faultAt(reader, place, 'expired', expired)] : []),
    ...(isEarly ? [faultAt(reader, place, 'from the future', future)] : []),
  ]
  const notes = isExpired && !isExpiryFault ? [`entry ${entry.seq} ${expired}`] : []
  return toCheck('head', null, summary, faults, notes)
}
