// Orders to publish four days of one strategy: the smallest build there is.
import { z } from 'zod'
import { documentKey, versionFolder } from '#core/contract/artifacts.ts'
import { changes } from '#core/contract/payloads/changes.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { type Declarations, declareAll } from '#static-build/declarations.ts'
import { prune } from '#static-build/prune.ts'
import { type PublishOrder, publishVersion } from '#static-build/publish-version.ts'
import { renderPoint } from '#static-build/render-point.ts'
import { inLanes, writePoints } from '#static-build/render-version.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { type HandStrategy, handSnapshot } from '../support/books/hand-snapshot.ts'
import type { MemoryStores } from '../support/books/publish-in-memory.ts'
import { jsonAt } from './tree.ts'

const none = { has: () => false }

export const NOTHING_DECLARED: Declarations = {
  ...{ restate: none, remove: none, same_rules: none, after_lost: none },
  reason: '',
}

/** A version before `HAND_VERSION`. */
export const BEFORE = '2024-05-31T00:15:00Z'

/** The order to publish a version; `lastReturn` makes it another dataset. */
export const orderOf = (
  version: string,
  { store, privateStore }: Pick<PublishOrder, 'store' | 'privateStore'>,
  lastReturn = 0.01,
): PublishOrder => ({
  snapshot: handSnapshot([{ id: 'oak', returns: [0.01, -0.02, 0.03, lastReturn] }], { version }),
  program: null,
  store,
  privateStore,
  builtWith: { highwater: 'test', node: 'test', commit: null, lockfile_sha256: null },
  inputs: {},
  effort: 'quick',
  threads: 1,
  progress: () => {},
  now: () => Date.parse(version),
  signer: null,
  declared: lastReturn === 0.01 ? NOTHING_DECLARED : declareAll('another dataset'),
})

/** Publishes without threads. */
export const publishInProcess = (stores: MemoryStores, version: string, lastReturn?: number) =>
  publishVersion({ ...orderOf(version, stores, lastReturn), render: renderHere })

/** Publishes a version of these strategies without threads. */
export const publishStrategies = (
  stores: MemoryStores,
  version: string,
  strategies: readonly HandStrategy[],
  changes: Partial<PublishOrder> = {},
) =>
  publishVersion({
    ...orderOf(version, stores),
    snapshot: handSnapshot(strategies, { version }),
    render: renderHere,
    ...changes,
  })

/** The same of one strategy with these returns. */
export const publishReturns = (
  stores: MemoryStores,
  version: string,
  returns: readonly number[],
  changes: Partial<PublishOrder> = {},
) => publishStrategies(stores, version, [{ id: 'oak', returns }], changes)

/** The changes that a version announces. */
export const changesIn = async (store: ObjectStore, version: string): Promise<z.infer<typeof changes>> =>
  changes.parse(await jsonAt(store, documentKey(version, 'changes.json')))

/** The data of an answer of a version, such as `dataset`. */
export const dataIn = async (store: ObjectStore, version: string, name: string): Promise<unknown> =>
  envelope.parse(await jsonAt(store, `${versionFolder(version)}/${name}.json`)).data

const envelope = z.object({ data: z.unknown() })

/** Removes every version but the served one. */
export const pruneAll = (stores: MemoryStores, at: string) =>
  prune(stores, { keepDays: 0, keepMonthEnds: false }, Date.parse(at))

/** Renders in this thread, one point after the other. */
export const renderHere: NonNullable<PublishOrder['render']> = async ({ store, bytes, points, effort }) => {
  const decoded = decodeSnapshot(bytes)
  const artifacts = await inLanes(points, 1, async point => {
    const rendered = renderPoint(decoded, point, effort)
    await writePoints(store, [rendered])
    return rendered.artifact
  })
  return artifacts.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** The version that a store points to. */
export const versionOf = async (store: ObjectStore): Promise<string | null> =>
  (await readHead(store))?.entry.version ?? null
