import pMap from 'p-map'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Artifact, Manifest } from '#core/contract/manifest.ts'
import type { Progress } from '#core/progress.ts'
import { sha256Aside } from '#storage/digest.ts'
import { absenceOf, type Check, type Fault, faultAt, toCheck } from './check.ts'
import { filePlace } from './places.ts'
import { type Found, type Place, type PublicReader, tryRead } from './reader.ts'

/** Concurrent requests: enough to hide the latency of a distant service, few enough not to load it. */
const READS_AT_ONCE = 16

/** Larger objects are read one after another: the correlations of a large book are gigabytes. */
const LARGE_BYTES = 2 ** 26

/** An object, and what the manifest says of it. */
type Promised = { readonly place: Place; readonly bytes: number; readonly sha256: string }

/** How an object is read: what cannot be read is an answer, or is thrown and ends the whole check. */
type Read = (place: Place) => Promise<Found>

/** Checks every file of a version against its length and digest, and its twins if they are objects too. */
export async function auditFiles(
  reader: PublicReader,
  manifest: Manifest,
  progress: Progress,
): Promise<Check> {
  const faults = await fileFaults(reader, manifest, progress, place => tryRead(reader, place))
  const count = objectsOf(reader, manifest).length
  const sound = faults.length === 0 ? `${count} objects, all` : `${count - faults.length} of ${count} objects`
  return toCheck('files', manifest.version, `${sound} as published`, faults)
}

/** What is wrong with the files of a version. */
export async function fileFaults(
  reader: PublicReader,
  manifest: Manifest,
  progress: Progress,
  read: Read,
): Promise<readonly Fault[]> {
  const promised = objectsOf(reader, manifest)
  let done = 0
  const count = () => progress({ step: 'verify', done: done++, total: promised.length, unit: 'objects' })
  count() // none yet
  const check = async (each: Promised): Promise<Fault | null> => {
    const fault = await faultOf(reader, each, await read(each.place))
    count()
    return fault
  }
  const { small = [], large = [] } = Object.groupBy(promised, ({ bytes }) =>
    bytes > LARGE_BYTES ? 'large' : 'small',
  )
  const found = [
    ...(await pMap(large, check, { concurrency: 1 })),
    ...(await pMap(small, check, { concurrency: READS_AT_ONCE })),
  ]
  return found.filter(fault => fault !== null)
}

const objectsOf = (reader: PublicReader, { version, artifacts }: Manifest): Promised[] =>
  artifacts.flatMap(artifact => promisedBy(reader, version, artifact))

function promisedBy({ hasTwins }: PublicReader, version: string, artifact: Artifact): Promised[] {
  const place = filePlace(version, artifact)
  const plain = { place, bytes: artifact.bytes, sha256: artifact.sha256 }
  if (!hasTwins) return [plain]
  const twins = TWIN_CODINGS.flatMap(coding => {
    const twin = artifact.encodings[coding]
    return twin === undefined ? [] : [{ place: { ...place, key: place.key + TWIN_ENDINGS[coding] }, ...twin }]
  })
  return [plain, ...twins]
}

async function faultOf(
  reader: PublicReader,
  { place, bytes, sha256: digest }: Promised,
  found: Found,
): Promise<Fault | null> {
  if (!(found instanceof Uint8Array)) return absenceOf(reader, place, found)
  if (found.length !== bytes) {
    return faultAt(
      reader,
      place,
      'altered',
      `is altered: it has ${found.length} bytes, ${bytes} were published`,
    )
  }
  return (await sha256Aside(found)) === digest
    ? null
    : faultAt(reader, place, 'altered', 'is altered: its digest is not the one in the manifest')
}
