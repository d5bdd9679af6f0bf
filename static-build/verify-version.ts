import type { Manifest } from '#core/contract/manifest.ts'
import type { Progress } from '#core/progress.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { fileFaults } from './audit/audit-files.ts'
import type { Fault } from './audit/check.ts'
import { createStoreReader } from './audit/reader.ts'

/**
 * Reads every file of a version back from the store and holds it to the manifest. Throws a StoreError at the first
 * that cannot be read: nothing is published from a store that is away.
 */
export function findFaults(
  store: ObjectStore,
  published: Manifest,
  progress: Progress,
): Promise<readonly Fault[]> {
  const reader = createStoreReader(store)
  return fileFaults(reader, published, progress, reader.read)
}
