// Time stamps of the entries of a log, checked by the installed openssl under the certificate of an authority that the caller trusts.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toIsoInstant } from '#core/calendar.ts'
import { isLongBefore } from '#core/dataset/entered.ts'
import { codeOf, messageOf } from '#storage/error-code.ts'
import { isReply, readTimeStamp } from '#storage/time-stamps.ts'
import type { AuditedEntry } from './audit-log.ts'
import { absenceOf, type Check, type Fault, faultAt, toCheck } from './check.ts'
import { anchorPlace } from './places.ts'
import { type PublicReader, tryRead } from './reader.ts'

/** A line for each entry. One without a time stamp is no fault, and neither is a late one: both are named. */
export async function auditStamps(
  reader: PublicReader,
  entries: readonly AuditedEntry[],
  caFile: string,
): Promise<Check> {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-stamps-'))
  try {
    const found: (string | Fault)[] = []
    for (const entry of entries) found.push(await stampOf(reader, entry, caFile, join(folder, 'reply')))
    const lines = found.filter(each => typeof each === 'string')
    const late = lines.filter(line => line.endsWith(LATE)).length
    const summary =
      `${lines.filter(line => line.includes(STAMPED)).length} of ${entries.length} entries are time-stamped by an authority ` +
      `that is trusted here${late === 0 ? '' : `, ${late} of them${LATE}`}`
    const faults = found.filter(each => typeof each !== 'string')
    return toCheck('stamps', null, summary, faults, lines)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const STAMPED = ': time-stamped by '
const LATE = ' more than 36 hours after the time that the entry says'

async function stampOf(
  reader: PublicReader,
  { entry, sha256 }: AuditedEntry,
  caFile: string,
  file: string,
): Promise<string | Fault> {
  const place = anchorPlace(sha256)
  const bytes = await tryRead(reader, place)
  if (bytes === null) return `entry ${entry.seq} of ${entry.at}: no time stamp`
  if (!(bytes instanceof Uint8Array)) return absenceOf(reader, place, bytes)
  if (!isReply(bytes))
    return `entry ${entry.seq} of ${entry.at}: a proof of another kind, which was not checked`
  await writeFile(file, bytes)
  try {
    await openssl('-verify', '-digest', sha256, '-in', file, '-CAfile', caFile)
    const text = await openssl('-reply', '-in', file, '-text') // the last is signed; before it may be anything
    const at = toIsoInstant(Date.parse([...text.matchAll(/^Time stamp: (.+)$/gm)].at(-1)?.[1] ?? ''))
    const by = readTimeStamp(bytes, sha256)?.by ?? 'an authority that it does not name'
    return `entry ${entry.seq} of ${entry.at}${STAMPED}${by} at ${at}${isLongBefore(entry.at, at) ? `,${LATE}` : ''}`
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new Error('--tsa-ca needs openssl, which is not installed', { cause: error })
    const why = messageOf(error).split('\n').slice(1).join(' ').trim()
    return faultAt(
      reader,
      place,
      'wrongly stamped',
      `is no time stamp of entry ${entry.seq} by that authority: ${why}`,
    )
  }
}

const openssl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('openssl', ['ts', ...args])).stdout
