import type { VersionDocument } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { sha256 } from '#storage/digest.ts'
import { IMMUTABLE_JSON, IMMUTABLE_TEXT } from '#storage/immutable-headers.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectHeaders } from '#storage/object-store.ts'
import { dataPackage } from './data-package.ts'
import { sha256Sums } from './sha256-sums.ts'

/** A document of a version, before it is written. */
export type Document = {
  readonly name: VersionDocument
  readonly bytes: Uint8Array
  readonly headers: ObjectHeaders
}

/** What a version has beside its artifacts. The list of digests comes last: it names the others. */
export function versionDocuments(
  manifest: Pick<Manifest, 'version' | 'strategies' | 'artifacts'>,
  changes: Changes,
): readonly Document[] {
  const described: Document[] = [
    { name: 'changes.json', bytes: toJsonBytes(changes), headers: IMMUTABLE_JSON },
    { name: 'datapackage.json', bytes: toJsonBytes(dataPackage(manifest)), headers: IMMUTABLE_JSON },
  ]
  const sums = new TextEncoder().encode(sha256Sums({ ...manifest, documents: digestsOf(described) }))
  return [...described, { name: 'SHA256SUMS', bytes: sums, headers: IMMUTABLE_TEXT }]
}

/** The digest of each, by name. */
export const digestsOf = (documents: readonly Document[]): Manifest['documents'] =>
  Object.fromEntries(documents.map(({ name, bytes }) => [name, sha256(bytes)]))
