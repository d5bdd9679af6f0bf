import type { ObjectStore } from '#storage/object-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import type { RenderedPoint } from './render-point.ts'

/**
 * Writes the files of a point, at the same time: each is flushed by itself, and a store flushes several together in
 * the time of one. The manifest comes after all points, so their order tells nobody anything. Resolves or rejects
 * when all of them have ended.
 */
export async function writePoint(store: ObjectStore, { files }: RenderedPoint): Promise<void> {
  const writes = await Promise.allSettled(
    files.map(({ key, bytes, headers }) => writeOnce(store, key, bytes, headers)),
  )
  for (const write of writes) if (write.status === 'rejected') throw write.reason
}
