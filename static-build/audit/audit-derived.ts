import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { SERVED_KEY, servedLine } from '#storage/nginx-files.ts'
import { hintOf, INDEX_KEY, leadTo } from '#storage/pointer-log.ts'
import type { AuditedEntry } from './audit-log.ts'
import { type Check, type Fault, faultAt, toCheck } from './check.ts'
import { type PublicReader, tryRead } from './reader.ts'

/** What a publisher derives from an entry of the log and may write again at any time, each with its bytes. */
const DERIVED: Readonly<Record<string, (of: AuditedEntry) => Uint8Array>> = {
  [CURRENT_KEY]: ({ entry }) => hintOf(entry),
  [INDEX_KEY]: ({ entry }) => new TextEncoder().encode(leadTo(entry.version)),
  [SERVED_KEY]: ({ entry }) => new TextEncoder().encode(servedLine(entry.version)),
}

/**
 * Checks in a store what is derived from its log. Each must be of the newest entry. A publisher that was killed leaves one
 * of an older entry, or none, until the next command or the tier writes it again: a note.
 */
export async function auditDerived(reader: PublicReader, entries: readonly AuditedEntry[]): Promise<Check> {
  const faults: Fault[] = []
  const notes: string[] = []
  for (const [key, bytesOf] of Object.entries(DERIVED)) {
    const place = { key, path: key, mostBytes: 1 << 20 }
    const found = await tryRead(reader, place)
    if (!(found instanceof Uint8Array)) continue
    const of = entries.findLast(each => Buffer.compare(bytesOf(each), found) === 0)
    const rest = 'is not what the log gives: `highwater refresh` writes it again'
    if (of === undefined) faults.push(faultAt(reader, place, 'altered', rest))
    else if (Buffer.compare(bytesOf(entries.at(-1)!), found) !== 0)
      notes.push(
        `${key} is of entry ${of.entry.seq}, not of the newest: the next command or the service writes it again`,
      )
  }
  return toCheck('derived', null, 'what is derived from the log names its newest entry', faults, notes)
}
