// A version that would alter published history is refused, and says so where it is allowed.

import { beforeEach, expect, test } from 'vitest'
import { definitionsSince, METHOD_REVISION } from '#core/dataset/definitions.ts'
import { declareAll, RestatementError } from '#static-build/declarations.ts'
import type { PublishOrder } from '#static-build/publish-version.ts'
import { readHead } from '#storage/pointer-log.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
  storesAfter,
} from '#test/support/books/publish-in-memory.ts'
import { BEFORE, changesIn, dataIn, publishInProcess, publishReturns } from './hand-order.ts'
import { describeDifferences, digestsOf } from './tree.ts'

const NEXT = '2024-06-02T00:15:00Z'
const LATER = '2024-06-03T00:15:00Z'

let stores: MemoryStores

const openBefore = storesAfter(own => publishInProcess(own, BEFORE))

beforeEach(async () => {
  stores = await openBefore()
})

const publish = (returns: readonly number[], changes: Partial<PublishOrder> = {}) =>
  publishReturns(stores, NEXT, returns, changes)

const changesOf = (version: string) => changesIn(stores.store, version)

const datasetOf = (version: string) => dataIn(stores.store, version, 'dataset')

test('a version with other definitions is published without permission, and announces them once', async () => {
  stores = createMemoryStores()
  const [returns, grown] = [
    [0.01, -0.02],
    [0.01, -0.02, 0.03],
  ]
  const at = (version: string, method_revision: number, series: readonly number[]) =>
    publishReturns(stores, version, series, {
      snapshot: handSnapshot([{ id: 'oak', returns: series }], { version, method_revision }),
    })
  await at(BEFORE, 1, returns)
  await at(NEXT, METHOD_REVISION, grown)
  await at(LATER, METHOD_REVISION, grown)
  const announced = await changesOf(NEXT)
  expect(announced.history_restated).toBe(false)
  expect(announced.definitions).toEqual(definitionsSince(1))
  expect((await changesOf(LATER)).definitions).toEqual([])
})

test('a version in another snapshot format is compared with none: the build ends, or says that it is unknown', async () => {
  stores = createMemoryStores()
  const old = handSnapshot([{ id: 'oak', returns: [0.01] }], { version: BEFORE })
  await publishInMemory(stores, old, manifest => ({ ...manifest, snapshot_format: 0 }))
  const returns = [0.01, -0.02]
  await expect(publish(returns)).rejects.toThrow(
    /has format 0, and this program reads format 1: use the program that made it\. Nothing was published.*--after-lost 2024-05-31T00:15:00Z --reason TEXT/,
  )
  await publish(returns, { declared: declareAll('a test') })
  expect(await changesOf(NEXT)).toMatchObject({ history_restated: true, not_compared: [BEFORE] })
})

const altered = [0.01, -0.02, 0.0301, 0.01, 0.04]

test('a version that alters what was published is refused with strategy, date, old and new, and nothing is written', async () => {
  const before = await digestsOf(stores.store)
  const refused = publish(altered)
  await expect(refused).rejects.toThrow(RestatementError)
  await expect(refused).rejects.toThrow('oak: return of 2024-01-03: 0.03 -> 0.0301')
  await expect(refused).rejects.toThrow(
    'publish the new ones with --restate oak --reason TEXT, which every user sees',
  )
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
})

test('a version that alters what was published is published where that is allowed, and says so in manifest, changes, pointer and answer, which the version after it does not', async () => {
  const { manifest } = await publish(altered, { declared: declareAll('a test') })
  expect(manifest.history_restated).toBe(true)
  expect((await changesOf(NEXT)).history_restated).toBe(true)
  expect((await readHead(stores.store))?.entry).toMatchObject({ version: NEXT, history_restated: true })
  expect(await datasetOf(NEXT)).toMatchObject({ version: NEXT, history_restated: true })
  await publishReturns(stores, LATER, altered)
  expect(await datasetOf(LATER)).toMatchObject({ version: LATER, history_restated: false })
})
