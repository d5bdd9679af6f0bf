// The audited objects: the key of each in a store, and its path in the service.
import { toCompactInstant } from '#core/calendar.ts'
import { privateKey, type VersionDocument } from '#core/contract/artifacts.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { sortedNumber } from '#core/contract/sorted-number.ts'
import type { Place } from './reader.ts'

/** Entries, signatures, hints and keys take less than a tenth of it. */
const SMALL_BYTES = 1 << 20

/** The manifest of ten thousand strategies takes less. */
const DOCUMENT_BYTES = 128 << 20

export const currentPlace: Place = placeOf('current', '', SMALL_BYTES)
export const keysPlace: Place = placeOf('keys', '', SMALL_BYTES)

export const entryPlace = (seq: number): Place => placeOf('pointer_entry', sortedNumber(seq), SMALL_BYTES)

export const entrySignaturePlace = (sha256: string): Place =>
  placeOf('pointer_signature', sha256, SMALL_BYTES)

/** The time stamp of the entry with a digest; a reply takes a few kilobytes. */
export const anchorPlace = (sha256: string): Place => placeOf('pointer_anchor', sha256, 1 << 16)

export const manifestPlace = (version: string): Place => placeOf('manifest', version, DOCUMENT_BYTES)

export const manifestSignaturePlace = (version: string): Place =>
  placeOf('manifest_signature', version, SMALL_BYTES)

/** A small object that the service does not serve. */
export const placeOfKey = (key: string): Place => ({ key, path: key, mostBytes: SMALL_BYTES })

export const privatePlace = (version: string, name: string): Place => placeOfKey(privateKey(version, name))

const DOCUMENT_ROUTES: { readonly [Name in VersionDocument]: string } = {
  'changes.json': 'changes',
  'datapackage.json': 'data_package',
  SHA256SUMS: 'checksums',
}

export const documentPlace = (version: string, name: VersionDocument): Place =>
  placeOf(DOCUMENT_ROUTES[name], version, DOCUMENT_BYTES)

export const filePlace = (version: string, { key, url, bytes }: Artifact): Place => ({
  key,
  path: pinnedPath(version, url),
  mostBytes: bytes,
})

function placeOf(id: string, variable: string, mostBytes: number): Place {
  const route = FILE_ROUTES.find(each => each.id === id)
  if (route === undefined) throw new Error(`the table of routes has no '${id}'`)
  const path = route.path.replace(/\{\w+\}/, route.of === 'version' ? toCompactInstant(variable) : variable)
  return { key: route.handler(variable), path, mostBytes }
}
