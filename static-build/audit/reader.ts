// The audited objects, and how they are read: from a store, or over HTTP.
import { toCompactInstant } from '#core/calendar.ts'
import { privateKey, type VersionDocument } from '#core/contract/artifacts.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import type { Artifact } from '#core/contract/manifest.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { POINTER_PREFIX, seqOfKey } from '#core/contract/pointer.ts'
import { sortedNumber } from '#core/contract/sorted-number.ts'
import { type Described, measure } from '#storage/measure.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'

/** A published object: its key in a store, and its path in the service. */
export type Place = {
  readonly key: string
  /** Path and query below the address of a service. */
  readonly path: string
  /** A body of more bytes is not read to its end: it is something else. */
  readonly mostBytes: number
}

/** Reads published objects: for the publisher from the store, for a subscriber over HTTP. */
export type PublicReader = {
  /** What an object is called here: its key, or its path. */
  readonly nameOf: (place: Place) => string
  /** The bytes of an object, or null if it is missing. Rejects with a StoreError if the store fails. */
  readonly read: (place: Place) => Promise<Uint8Array | null>
  /** Its length and digest alone, which may take less. */
  readonly measure: (place: Place) => Promise<Described | null>
  /** The log has at least so many entries; 0 if nothing is known. Rejects with a StoreError. */
  readonly leastEntries: () => Promise<number>
  /** Whether it reads a store, in which the compressed twins of a file are objects of their own, and what is derived has a key. */
  readonly hasTwins: boolean
}

export const createStoreReader = (store: ObjectStore): PublicReader => ({
  nameOf: ({ key }) => key,
  read: ({ key }) => store.read(key),
  measure: ({ key }) => measure(store, key),
  leastEntries: async () => Math.max(0, ...(await store.list(POINTER_PREFIX)).map(key => seqOfKey(key) ?? 0)),
  hasTwins: true,
})

/** The same of a private store, whose objects are named with its address. */
export const createPrivateReader = (store: ObjectStore): PublicReader => ({
  ...createStoreReader(store),
  nameOf: ({ key }) => `${store.url}/${key}`,
})

/** The result of reading an object: its bytes, null, or the error of the store. */
export type Found = Uint8Array | null | StoreError

export const tryRead = (reader: PublicReader, place: Place): Promise<Found> => attempt(reader.read(place))

/** What was read; an error of the store is returned, any other is thrown. */
export async function attempt<Result>(reading: Promise<Result>): Promise<Result | StoreError> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

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
