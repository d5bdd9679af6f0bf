import pMap from 'p-map'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'
import type { Artifact, Manifest } from '#core/contract/manifest.ts'
import type { Progress } from '#core/progress.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'

/** Objects that are read at the same time: enough to hide the latency of a far store, little enough for memory. */
const READS_AT_ONCE = 16

/** What is wrong with a published object. */
export type Fault = { readonly key: string; readonly what: 'missing' | 'altered' }

type Promised = { readonly key: string; readonly bytes: number; readonly sha256: string }

/** Reads every public object of a version back from the store and holds it to the manifest. */
export async function findFaults(
  store: ObjectStore,
  published: Manifest,
  progress: Progress,
): Promise<readonly Fault[]> {
  const promised = published.artifacts.flatMap(promisedBy)
  let done = 0
  const tell = () => progress({ step: 'verify', done, total: promised.length, unit: 'objects' })
  tell()
  const check = async (each: Promised): Promise<Fault | null> => {
    const fault = await faultOf(store, each)
    done++
    tell()
    return fault
  }
  const found = await pMap(promised, check, { concurrency: READS_AT_ONCE })
  return found.filter(fault => fault !== null)
}

/** How many public objects a version has beside its documents. */
export const objectCount = ({ artifacts }: Manifest): number => artifacts.flatMap(promisedBy).length

const promisedBy = (artifact: Artifact): Promised[] => [
  { key: artifact.key, bytes: artifact.bytes, sha256: artifact.sha256 },
  ...TWIN_CODINGS.flatMap(coding => {
    const twin = artifact.encodings[coding]
    return twin === undefined ? [] : [{ key: artifact.key + TWIN_ENDINGS[coding], ...twin }]
  }),
]

async function faultOf(store: ObjectStore, { key, bytes, sha256: digest }: Promised): Promise<Fault | null> {
  const read = await store.read(key)
  if (read === null) return { key, what: 'missing' }
  return read.length === bytes && sha256(read) === digest ? null : { key, what: 'altered' }
}
