import type { VersionDocument } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { sha256 } from '#storage/digest.ts'
import { type Check, demand, type Fault, faultAt, toCheck } from './check.ts'
import { documentPlace } from './places.ts'
import type { PublicReader } from './reader.ts'

/** Holds the documents of a version to the digests in its manifest. */
export async function auditDocuments(reader: PublicReader, manifest: Manifest): Promise<Check> {
  const names = Object.keys(manifest.documents) as VersionDocument[] // the schema knows no others
  const found = await Promise.all(names.map(name => faultOf(reader, manifest, name)))
  const faults = found.filter(fault => fault !== null)
  return toCheck('documents', manifest.version, `${names.join(', ')} as published`, faults)
}

async function faultOf(
  reader: PublicReader,
  { version, documents }: Manifest,
  name: VersionDocument,
): Promise<Fault | null> {
  const place = documentPlace(version, name)
  const bytes = await demand(reader, place)
  if (!(bytes instanceof Uint8Array)) return bytes
  return sha256(bytes) === documents[name]
    ? null
    : faultAt(reader, place, 'altered', 'is altered: the manifest names another')
}
