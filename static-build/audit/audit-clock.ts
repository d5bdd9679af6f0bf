// Whether the log bears out what is said of time: by the name of a version, by its manifest, and by its strategies.
import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { enteredText, isLongBefore } from '#core/dataset/entered.ts'
import { sha256 } from '#storage/digest.ts'
import { parseJson } from '#storage/parse-json.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { firstTimes, type Publication, publicationsOf } from '#storage/publications.ts'
import { type Check, type Fault, faultAt, toCheck } from './check.ts'
import { filePlace, manifestPlace } from './places.ts'
import { type PublicReader, tryRead } from './reader.ts'

/** A backfill of years would fill the screen. */
const MOST_NAMED = 20

/** Names the versions whose names are more than 36 hours before their entries, which is no fault; none if there is none. */
export function auditNames(entries: readonly LoggedEntry[]): readonly Check[] {
  const all = publicationsOf(entries)
  const late = all.filter(({ entered }) => entered !== null)
  if (late.length === 0) return []
  const named = late.slice(0, MOST_NAMED).map(({ version, entered }) => `${version} was ${enteredText(entered)}`)
  const more = late.length > MOST_NAMED ? [`and ${late.length - MOST_NAMED} more`] : []
  const summary = `the name of ${late.length} of ${all.length} version(s) is more than 36 hours before its entry: `
  return [toCheck('clock', null, summary + [...named, ...more].join(', '), [])]
}

/** What the log contradicts in a version; `published_since` of its strategies is compared in the served one. */
export async function auditTimes(
  reader: PublicReader,
  manifest: Manifest,
  publication: Publication,
  entries: readonly LoggedEntry[],
): Promise<readonly Check[]> {
  const faults = [
    ...enteredFaults(reader, manifest, publication),
    ...(publication.is_served ? await sinceFaults(reader, manifest, entries) : []),
  ]
  return faults.length === 0 ? [] : [toCheck('clock', manifest.version, 'the log says otherwise', faults)]
}

function enteredFaults(
  reader: PublicReader,
  { version, entered }: Manifest,
  { published }: Publication,
): readonly Fault[] {
  if (entered === null) return []
  const isInstant = parseIsoInstant(entered) !== null
  if (isInstant && !isLongBefore(entered, published) && !isLongBefore(published, entered)) return []
  const rest = `says that the version was entered at ${entered}, and the log names it first at ${published}`
  return [faultAt(reader, manifestPlace(version), 'dated otherwise', rest)]
}

const listed = z.object({
  data: z.array(z.looseObject({ id: z.string(), published_since: z.string().nullable().optional() })),
})

/** A file that is missing or altered is the fault of another check. */
async function sinceFaults(
  reader: PublicReader,
  { version, artifacts }: Manifest,
  entries: readonly LoggedEntry[],
): Promise<readonly Fault[]> {
  const artifact = artifacts.find(({ url }) => url === '/v1/strategies')
  if (artifact === undefined) return []
  const place = filePlace(version, artifact)
  const bytes = await tryRead(reader, place)
  if (!(bytes instanceof Uint8Array) || sha256(bytes) !== artifact.sha256) return []
  const strategies = listed.safeParse(parseJson(bytes)).data?.data ?? []
  const times = [...firstTimes(entries)]
  const wrong = strategies.filter(({ published_since: since }) => since != null && !isBorneOut(since, times))
  return [...Map.groupBy(wrong, ({ published_since }) => published_since)].map(([since, all]) => {
    const ids = `${all[0]!.id}${all.length === 1 ? '' : ` and ${all.length - 1} more`}`
    const rest =
      `says that ${ids} is published since ${since}, and no entry of the log is of that time: the first is of ${times[0]?.[1]}; ` +
      'the next version that is built corrects it'
    return faultAt(reader, place, 'dated otherwise', rest)
  })
}

/** Whether a version that a log names can be known since then: see `effectiveInstant`. */
const isBorneOut = (since: string, times: readonly (readonly [string, string])[]): boolean =>
  parseIsoInstant(since) !== null &&
  times.some(([version, at]) => !isLongBefore(since, at) && (since <= at || since === version))
