import pMap from 'p-map'
import type { Manifest } from '#core/contract/manifest.ts'
import { countProgress, type Progress } from '#core/progress.ts'
import type { Described } from '#storage/measure.ts'
import type { StoreError } from '#storage/object-store.ts'
import { objectsOf } from '../published-points.ts'
import { absenceOf, type Fault, faultAt, OTHER_DIGEST, toCheck } from './check.ts'
import { attempt, filePlace, type Place, type PublicReader } from './reader.ts'

/** Concurrent requests: enough to hide the latency of a distant service, few enough not to load it. */
const READS_AT_ONCE = 16

/** Larger objects are read one after another: the correlations of a large book are gigabytes. */
const LARGE_BYTES = 2 ** 26

type Promised = Described & { readonly place: Place }

type Measured = Described | null | StoreError

/** Checks every file of a version against its length and digest, and its twins if they are objects too. */
export async function auditFiles(reader: PublicReader, manifest: Manifest, progress: Progress) {
  const faults = await fileFaults(reader, manifest, progress, place => attempt(reader.measure(place)))
  const count = promisedBy(reader, manifest).length
  const sound = faults.length === 0 ? `${count} objects, all` : `${count - faults.length} of ${count} objects`
  return toCheck('files', manifest.version, `${sound} as published`, faults)
}

/** The faults of the files. For an object that it cannot read `measure` returns the error, or throws it, which ends the check. */
export async function fileFaults(
  reader: PublicReader,
  manifest: Manifest,
  progress: Progress,
  measure: (place: Place) => Promise<Measured>,
): Promise<readonly Fault[]> {
  const promised = promisedBy(reader, manifest)
  const count = countProgress(progress, 'verify', promised.length, 'objects')
  const check = async (each: Promised): Promise<Fault | null> => {
    const fault = faultOf(reader, each, await measure(each.place))
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

const promisedBy = ({ hasTwins }: PublicReader, { version, artifacts }: Manifest): Promised[] =>
  artifacts.flatMap(artifact =>
    (hasTwins ? objectsOf(artifact) : [artifact]).map(({ key, bytes, sha256 }) => ({
      place: { ...filePlace(version, artifact), key },
      bytes,
      sha256,
    })),
  )

function faultOf(reader: PublicReader, { place, bytes, sha256 }: Promised, found: Measured): Fault | null {
  if (found === null || found instanceof Error) return absenceOf(reader, place, found)
  const length = `is altered: it has ${found.bytes} bytes, ${bytes} were published`
  if (found.bytes !== bytes) return faultAt(reader, place, 'altered', length)
  return found.sha256 === sha256 ? null : faultAt(reader, place, 'altered', OTHER_DIGEST)
}
