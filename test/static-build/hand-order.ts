// Orders to publish four days of one strategy: the smallest build there is.
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import { currentVersionOf, type PublishOrder, publishVersion } from '#static-build/publish-version.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { handSnapshot } from '#test/setup/hand-snapshot.ts'
import { type MemoryStores, renderAll } from '#test/setup/publish-in-memory.ts'

/** A version before `HAND_VERSION`. */
export const BEFORE = '2024-05-31T00:15:00Z'

/** The order to publish a version; `lastReturn` makes it another dataset. */
export const orderOf = (
  version: string,
  { store, privateStore }: Pick<PublishOrder, 'store' | 'privateStore'>,
  lastReturn = 0.01,
): PublishOrder => ({
  snapshot: handSnapshot([{ id: 'oak', returns: [0.01, -0.02, 0.03, lastReturn] }], { version }),
  store,
  privateStore,
  builtWith: { highwater: 'test', node: 'test', commit: null, lockfile_sha256: null },
  threads: 1,
  progress: () => {},
})

/** Publishes in this process, because threads cannot open a memory store. */
export const publishInProcess = (stores: MemoryStores, version: string, lastReturn?: number) =>
  publishVersion({
    ...orderOf(version, stores, lastReturn),
    render: renderInto(stores.store),
  })

/** Renders as the threads do, into a store of this process. */
export const renderInto =
  (store: ObjectStore): NonNullable<PublishOrder['render']> =>
  async ({ snapshot, strategies }) =>
    (await renderAll(store, decodeSnapshot(snapshot), strategies)).sort((a, b) => (a.key < b.key ? -1 : 1))

/** The version that a store points to. */
export const versionOf = async (store: ObjectStore): Promise<string | null> =>
  (await currentVersionOf(store))?.version ?? null
