import { POINTER_PREFIX, seqOfKey } from '#core/contract/pointer.ts'
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
