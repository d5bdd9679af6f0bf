// Stores that behave like a real one on a bad day.
import { type ObjectStore, StoreError } from '#storage/object-store.ts'

type Meddle = (bytes: Uint8Array | null, key: string) => Uint8Array | null | Promise<Uint8Array | null>

/** A store whose reads of some keys are meddled with; it writes to the real one. */
export const meddled = (
  store: ObjectStore,
  concerns: (key: string) => boolean,
  meddle: Meddle,
): ObjectStore => ({
  ...store,
  read: async key => {
    const bytes = await store.read(key)
    return concerns(key) ? meddle(bytes, key) : bytes
  },
  has: async key => (concerns(key) ? (await meddle(await store.read(key), key)) !== null : store.has(key)),
})

/** The same bytes with one bit of the one in the middle turned over. */
export function damage(bytes: Uint8Array): Uint8Array {
  const damaged = Uint8Array.from(bytes)
  const middle = damaged.length >> 1
  damaged[middle] = damaged[middle]! ^ 1
  return damaged
}

/** What a store does that cannot be reached. */
export const outage =
  (store: ObjectStore): Meddle =>
  (_bytes, key) => {
    throw new StoreError('read', store.url, key, new Error('connection refused'))
  }

/** A gate that blocks every caller until it is opened; `reached` resolves when the first one waits. */
export function createGate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: async (): Promise<void> => {
      reached.resolve()
      await opened.promise
    },
  }
}

/** Artifacts and their twins, and nothing else of the public store. */
export const isArtifact = (key: string): boolean =>
  key.startsWith('v1/snapshots/') && !key.endsWith('/manifest.json')
