// Whether the log bears out what is said of time, by the name of a version, by its manifest and by its strategies; and whether time
// stamps bear out the log, of an authority that the caller trusts, as the installed openssl finds.
import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { anchorKey } from '#core/contract/pointer.ts'
import { enteredText, isLongBefore } from '#core/dataset/entered.ts'
import { listed } from '#core/dataset/lineage.ts'
import { codeOf, messageOf } from '#storage/error-code.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { firstTimes, type LoggedEntry, type Publication, publicationsOf } from '#storage/pointer-log.ts'
import { isReply, readTimeStamp } from '#storage/time-stamps.ts'
import type { AuditedEntry } from './audit-log.ts'
import { absenceOf, type Check, demand, type Fault, faultAt, isFault, toCheck } from './check.ts'
import { filePlace, manifestPlace, type Place, type PublicReader, placeOf, tryRead } from './reader.ts'

/** A backfill of years would fill the screen. */
const MOST_NAMED = 20

/** Names the versions whose names are more than 36 hours before their entries, which is no fault; no check if there are none. */
export function auditNames(entries: readonly LoggedEntry[]): readonly Check[] {
  const late = publicationsOf(entries).filter(({ entered }) => entered !== null)
  if (late.length === 0) return []
  const named = late.map(({ version, entered }) => `${version} was ${enteredText(entered)}`)
  return [toCheck('clock', null, `older by name than by entry: ${listed(named, MOST_NAMED)}`, [])]
}

/** What the log contradicts in a version; in the served one, `published_since` of its strategies too. */
export async function auditTimes(
  reader: PublicReader,
  manifest: Manifest,
  { published, is_served }: Publication,
  entries: readonly LoggedEntry[],
): Promise<readonly Check[]> {
  const { version, entered } = manifest
  const isContradicted =
    entered !== null && (isLongBefore(entered, published) || isLongBefore(published, entered))
  const rest = `says that the version was entered at ${entered}, and the log names it first at ${published}`
  const faults = [
    ...(isContradicted ? [faultAt(reader, manifestPlace(version), 'dated otherwise', rest)] : []),
    ...(is_served ? await sinceFaults(reader, manifest, entries) : []),
  ]
  return faults.length === 0 ? [] : [toCheck('clock', version, 'the log says otherwise', faults)]
}

const listing = z.object({
  data: z.array(z.looseObject({ id: z.string(), published_since: z.string().nullish() })),
})

/** A file that is missing or altered is the fault of another check. */
async function sinceFaults(reader: PublicReader, manifest: Manifest, entries: readonly LoggedEntry[]) {
  const { version, artifacts } = manifest
  const artifact = artifacts.find(({ url }) => url === '/v1/strategies')
  if (artifact === undefined) return []
  const place = filePlace(version, artifact)
  const bytes = await demand(reader, place, artifact.sha256)
  if (isFault(bytes)) return []
  const times = [...firstTimes(entries)]
  /** Whether a version of the log can be known since then: see `effectiveInstant`. */
  const isBorneOut = (since: string): boolean =>
    times.some(([name, at]) => !isLongBefore(since, at) && (since <= at || since === name))
  const strategies = listing.safeParse(parseJson(bytes)).data?.data ?? []
  const wrong = strategies.filter(({ published_since: since }) => since != null && !isBorneOut(since))
  if (wrong.length === 0) return []
  const ids = `${wrong[0]!.id}${wrong.length === 1 ? '' : ` (and ${wrong.length - 1} more)`}`
  const rest =
    `says that ${ids} is published since ${wrong[0]!.published_since}, and no entry of the log is of that time: the first is ` +
    `of ${times[0]?.[1]}; the next version that is built corrects it`
  return [faultAt(reader, place, 'dated otherwise', rest)]
}

/** A line for each entry. One without a time stamp is no fault, and neither is a late one: both are named. */
export async function auditStamps(reader: PublicReader, entries: readonly AuditedEntry[], caFile: string) {
  const subjects = entries.map(({ entry, sha256 }) => ({
    ...{ name: `entry ${entry.seq}`, of: ` of ${entry.at}`, place: placeOf(anchorKey(sha256)), sha256 },
  }))
  const found = await provenTimes(reader, subjects, caFile)
  const isLate = (each: Stamp | Fault, i: number): boolean =>
    'at' in each && each.at !== null && isLongBefore(entries[i]!.entry.at, each.at)
  const late = found.filter(isLate).length
  const summary =
    `${found.filter(each => 'at' in each && each.at !== null).length} of ${entries.length} entries are time-stamped by an authority ` +
    `that is trusted here${late === 0 ? '' : `, ${late} of them ${LATE}`}`
  const faults = found.filter(each => 'told' in each)
  const lines = found.flatMap((each, i) =>
    'line' in each ? each.line + (isLate(each, i) ? `, ${LATE}` : '') : [],
  )
  return toCheck('stamps', null, summary, faults, lines)
}

const LATE = 'more than 36 hours after the time that the entry says'

/** What a time stamp is of. `of` follows its name in a line. */
type Subject = { readonly name: string; readonly of?: string; readonly place: Place; readonly sha256: string }

/** What is known of the time of a subject, as a line; `at` is null without a time stamp, and the line says why. */
type Stamp = { readonly line: string; readonly at: string | null }

/** The time of each subject, or what is wrong with its time stamp, under the certificate of an authority. */
export async function provenTimes(reader: PublicReader, subjects: readonly Subject[], caFile: string) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'highwater-stamps-'))
  const found: (Stamp | Fault)[] = []
  for (const subject of subjects)
    found.push(await stampOf(reader, subject, caFile, join(folder.path, 'reply')))
  return found
}

async function stampOf(reader: PublicReader, subject: Subject, caFile: string, file: string) {
  const { name, of = '', place, sha256 } = subject
  const without = (why: string) => ({ line: `${name}${of}: ${why}`, at: null })
  const bytes = await tryRead(reader, place)
  if (bytes === null) return without('no time stamp')
  if (!(bytes instanceof Uint8Array)) return absenceOf(reader, place, bytes)
  if (!isReply(bytes)) return without('a proof of another kind, which was not checked')
  await writeFile(file, bytes)
  try {
    const text = await openssl('-reply', '-in', file, '-text') // the last is signed; before it may be anything
    const atMs = Date.parse([...text.matchAll(/^Time stamp: (.+)$/gm)].at(-1)?.[1] ?? '')
    const at = toIsoInstant(atMs) // the certificate of the authority may have expired since
    const trusted = ['-CAfile', caFile, '-attime', `${Math.floor(atMs / 1000)}`]
    await openssl('-verify', '-digest', sha256, '-in', file, ...trusted)
    const by = readTimeStamp(bytes, sha256)?.by ?? 'an authority that it does not name'
    return { line: `${name}${of}: time-stamped by ${by} at ${at}`, at }
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new Error('--tsa-ca needs openssl, which is not installed', { cause: error })
    const why = messageOf(error).split('\n').slice(1).join(' ').trim()
    return faultAt(reader, place, 'wrongly stamped', `is no time stamp of ${name} by that authority: ${why}`)
  }
}

const openssl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('openssl', ['ts', ...args])).stdout
