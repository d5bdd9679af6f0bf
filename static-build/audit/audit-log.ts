import { parseIsoInstant } from '#core/calendar.ts'
import { type PointerEntry, pointerEntry } from '#core/contract/pointer.ts'
import type { Progress } from '#core/progress.ts'
import { sha256 } from '#storage/digest.ts'
import { StoreError } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { absenceOf, type Check, type Fault, faultAt, toCheck } from './check.ts'
import { currentPlace, entryPlace } from './places.ts'
import { type Found, type PublicReader, tryRead } from './reader.ts'

/** Entries that are asked for at the same time; as many are asked for in vain after the newest. */
const WINDOW = 16

/** A night a day for more than two centuries: whoever shows more shows them without end. */
const MOST_ENTRIES = 100_000

/** An entry with the bytes that its signature is of. */
export type AuditedEntry = LoggedEntry & { readonly bytes: Uint8Array }

/** The entries that could be read, oldest first, and whether the log is whole. */
export type AuditedLog = { readonly entries: readonly AuditedEntry[]; readonly check: Check }

/** Walks the log from its first entry until one is missing, and holds each entry to the one before. */
export async function auditLog(reader: PublicReader, progress: Progress): Promise<AuditedLog> {
  const least = await leastEntries(reader)
  const found = await walk(reader, progress)
  const { entries, faults } = chainOf(reader, found)
  const told =
    entries.length === 0
      ? 'no entry of a log'
      : `${entries.length} entries without a gap, each with the digest of the one before`
  const all = [...least.faults, ...faults, ...endFaults(reader, found.length, least.count)]
  return { entries, check: toCheck('log', null, told, all, notesOn(entries)) }
}

/** A hint that cannot be read is a fault of its own: without it nobody notices that the newest entries are withheld. */
async function leastEntries(reader: PublicReader): Promise<{ count: number; faults: readonly Fault[] }> {
  try {
    return { count: await reader.leastEntries(), faults: [] }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { count: 0, faults: [absenceOf(reader, currentPlace, error)] }
  }
}

/** What is wrong with where the log ends: before it begins, before the number that is told, or nowhere. */
function endFaults(reader: PublicReader, length: number, least: number): readonly Fault[] {
  const next = entryPlace(length + 1)
  if (length >= MOST_ENTRIES) {
    return [faultAt(reader, next, 'of another form', 'is there: a log of so many entries is none of nights')]
  }
  if (length >= least && length > 0) return []
  if (least === 0) return [faultAt(reader, next, 'missing', 'is missing: nothing is published there')]
  const rest =
    `is missing, though the log is said to reach entry ${least}: entries were lost or are withheld; run the command ` +
    'again in a minute if a version was published just now'
  return [faultAt(reader, next, 'missing', rest)]
}

/** What lies under the numbers from 1 on, up to the last that is there; a gap shorter than a window is in it. */
async function walk(reader: PublicReader, progress: Progress): Promise<readonly Found[]> {
  const found: Found[] = []
  while (found.length < MOST_ENTRIES) {
    const first = found.length + 1
    const window = await Promise.all(
      Array.from({ length: WINDOW }, (_, i) => tryRead(reader, entryPlace(first + i))),
    )
    const isOutage = window.every(each => each instanceof StoreError)
    found.push(...(isOutage ? window.slice(0, 1) : window)) // an outage is told once
    if (isOutage || window.includes(null)) break
    progress({ step: 'log', done: found.length, total: found.length + WINDOW, unit: 'entries' })
  }
  const last = found.findLastIndex(each => each !== null)
  if (last >= 0) progress({ step: 'log', done: last + 1, total: last + 1, unit: 'entries' })
  return found.slice(0, last + 1)
}

/** The chain of what was found under 1, 2, 3 and so on: the entries that are such, and what is wrong with the others. */
export function chainOf(
  reader: PublicReader,
  found: readonly Found[],
): { readonly entries: readonly AuditedEntry[]; readonly faults: readonly Fault[] } {
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

/** Why an entry does not continue the log, or null where it does. A gap before it is told by itself. */
function whyNotNext(
  { entry }: AuditedEntry,
  before: AuditedEntry | null,
  manifests: ReadonlyMap<string, string>,
): string | null {
  const isNeighbour = entry.seq === (before?.entry.seq ?? 0) + 1
  if (isNeighbour && entry.prev_entry_sha256 !== (before?.sha256 ?? null)) {
    return `does not continue entry ${entry.seq - 1}, whose digest is another: one of the two was altered`
  }
  const known = manifests.get(entry.version)
  if (known === undefined || known === entry.manifest_sha256) return null
  return `names another manifest of ${entry.version} than an entry before it: a version never changes`
}

/** A clock that was set back once is a fault of the publisher that stands in the log for ever: it is told, no more. */
const notesOn = (entries: readonly AuditedEntry[]): string[] =>
  entries.flatMap(({ entry }, i) => {
    const before = entries[i - 1]?.entry
    return before === undefined || before.at <= entry.at
      ? []
      : [
          `entry ${entry.seq} is dated ${entry.at}, before entry ${before.seq}: the publisher's clock was set back`,
        ]
  })

/** Clocks of two machines that are kept in step differ by less. */
const CLOCK_SKEW_MS = 5 * 60_000

/** Whether the newest entry proves what is served now. An operator is told of one that expired, a subscriber warned. */
export function auditHead(
  reader: PublicReader,
  { entry }: AuditedEntry,
  nowMs: number,
  isExpiryFault: boolean,
): Check {
  const place = entryPlace(entry.seq)
  const { action, version, at, expires } = entry
  const told = `entry ${entry.seq} of ${at} (${action} ${version}), valid until ${expires}`
  const expired = `expired at ${expires}: it proves no more what is served now; its publisher runs \`highwater refresh\``
  const isExpired = nowMs >= instantOf(entry, 'expires')
  const future =
    `was written at ${at}, later than the clock of this machine says it is: one of the two clocks is wrong, and nobody ` +
    'can tell whether it expired'
  const isEarly = nowMs + CLOCK_SKEW_MS < instantOf(entry, 'at')
  const faults = [
    ...(isExpired && isExpiryFault ? [faultAt(reader, place, 'expired', expired)] : []),
    ...(isEarly ? [faultAt(reader, place, 'from the future', future)] : []),
  ]
  return toCheck(
    'head',
    null,
    told,
    faults,
    isExpired && !isExpiryFault ? [`entry ${entry.seq} ${expired}`] : [],
  )
}

/** Entries have valid instants: `toEntry` took no others. */
const instantOf = (entry: PointerEntry, field: 'at' | 'expires'): number => parseIsoInstant(entry[field])!
