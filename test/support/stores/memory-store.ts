import { assertKey, type ObjectStore } from '#storage/object-store.ts'

/** An object store in this process's memory: with the behaviour of the real ones. */
export function createMemoryStore(name = 'memory'): ObjectStore {
  const objects = new Map<string, Uint8Array>()
  return {
    url: `memory:${name}`,
    async read(key) {
      assertKey(key)
      return objects.get(key)?.slice() ?? null
    },
    async has(key) {
      assertKey(key)
      return objects.has(key)
    },
    async create(key, bytes) {
      assertKey(key)
      if (objects.has(key)) return false
      objects.set(key, bytes.slice())
      return true
    },
    async replace(key, bytes) {
      assertKey(key)
      objects.set(key, bytes.slice())
    },
    async list(prefix) {
      return [...objects.keys()].filter(key => key.startsWith(prefix)).sort()
    },
    async remove(key) {
      assertKey(key)
      objects.delete(key)
    },
  }
}
