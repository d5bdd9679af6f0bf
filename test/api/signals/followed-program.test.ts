// The service serves the program of the served version, and keeps the one before where a new one cannot be read.

import { beforeEach, expect, test } from 'vitest'
import { followVersion } from '#cli/services/open-signals.ts'
import type { Alert } from '#signals/alerts.ts'
import { declareAll } from '#static-build/declarations.ts'
import { StoreError } from '#storage/object-store.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { manifestOf } from '#test/support/stores/stored-bytes.ts'
import { orderOf } from '../../static-build/hand-order.ts'
import { A, B, backTo, C, programOf, publishWith, spoil } from '../../static-build/program-store.ts'

let stores: MemoryStores
let errors: unknown[]
let alerts: Alert[]

beforeEach(() => {
  stores = createMemoryStores()
  errors = []
  alerts = []
})

/** A follower of the served version that looks only on request. */
async function follow({ store, privateStore }: MemoryStores = stores) {
  const { look, program, aliases, baseRiskOf } = followVersion(store, privateStore, {
    onError: error => errors.push(error),
    raise: alert => alerts.push(alert),
  })
  await look()
  return { look, current: program, aliases, baseRiskOf }
}

test('the program of the served version is served, whether it is newer or was rolled back to', async () => {
  const { look, current } = await follow()
  await look()
  expect(current()).toBeNull() // nothing is published
  await publishWith(stores, A, programOf([100]))
  await look()
  expect(current()?.version).toBe(A)
  await publishWith(stores, B, programOf([100, 101]))
  await look()
  expect(current()).toMatchObject({ version: B, alias: 'accumulation' })
  await backTo(stores, A)
  await look()
  expect(current()?.version).toBe(A)
  expect([errors, alerts]).toEqual([[], []])
})

test('the program is served with what its version says of itself', async () => {
  const { look, current } = await follow()
  const { dataset } = orderOf(A, stores).snapshot
  const said = { ...dataset, synthetic: true, public_url: 'https://h.example' }
  await publishWith(stores, A, programOf([100]), {
    snapshot: { ...orderOf(A, stores).snapshot, dataset: said },
  })
  await look()
  const { name, disclaimer, methodology_url } = dataset
  const stated = { public_url: 'https://h.example', embargo_days: 0, synthetic: true }
  expect(current()?.dataset).toEqual({ version: A, name, disclaimer, methodology_url, ...stated })
  await publishWith(stores, B, programOf([100, 101]))
  await spoil(stores, B, 'snapshot.json')
  await look()
  expect(current()?.version).toBe(A)
  expect(alerts[0]?.message).toMatch(/snapshot.json is not the file that was published/)
})

test('a version without a program leaves no program of an earlier one, and says the base risk of its strategies', async () => {
  const { look, current, baseRiskOf } = await follow()
  await publishWith(stores, A, programOf([100]))
  await look()
  await publishWith(stores, B, null)
  await look()
  expect(current()).toBeNull()
  expect([baseRiskOf('oak'), baseRiskOf('elm')]).toEqual([0.02, undefined])
})

test('a program that is not as published leaves the one before, is logged and alerted, and tried again', async () => {
  const { look, current } = await follow()
  await publishWith(stores, A, programOf([100]))
  await look()
  await publishWith(stores, B, programOf([100, 101]))
  await spoil(stores, B, 'program/data.json')
  await look()
  await look()
  expect(current()?.version).toBe(A)
  expect(errors).toHaveLength(2)
  expect(alerts[0]).toMatchObject({ kind: 'program_unreadable', subject: 'program' })
  expect(alerts[0]?.message).toMatch(new RegExp(`that of ${A} is served on: .*data.json is not the file`))
  await publishWith(stores, C, programOf([100, 101]), { declared: declareAll('a test') })
  await look()
  expect(current()?.version).toBe(C)
})

test('a store that is away changes nothing of the served program, and two looks at once read it once', async () => {
  let outage: Error | null = null
  let reads = 0
  const read = async (key: string) => {
    reads++
    if (outage !== null) throw outage
    return stores.privateStore.read(key)
  }
  const { look, current } = await follow({ ...stores, privateStore: { ...stores.privateStore, read } })
  await publishWith(stores, A, programOf([100]))
  outage = new StoreError('read', 'memory:private', 'program', 'away')
  await look()
  expect([current(), errors]).toEqual([null, [outage]])
  outage = null
  reads = 0
  await Promise.all([look(), look()])
  expect([current()?.version, reads]).toEqual([A, 10]) // the program's index and 8 files, and the document of the snapshot
})

test('the manifest of a version is read once for all its followers, and again only for another version', async () => {
  await publishWith(stores, A, programOf([100]))
  const keys: string[] = []
  const read = async (key: string) => {
    keys.push(key)
    return stores.store.read(key)
  }
  let programReads = 0
  const readPrivately = async (key: string) => {
    programReads++
    return stores.privateStore.read(key)
  }
  const { look, current, aliases } = await follow({
    store: { ...stores.store, read },
    privateStore: { ...stores.privateStore, read: readPrivately },
  })
  const readAtFirst = programReads
  await look()
  expect(programReads).toBe(readAtFirst)
  const manifests = () => keys.filter(key => key.endsWith('/manifest.json')).length
  expect([current()?.version, manifests()]).toEqual([A, 1])
  await publishWith(stores, B, programOf([100, 101]))
  await look()
  expect([current()?.version, manifests()]).toEqual([B, 2])
  expect(aliases()).toEqual((await manifestOf(stores.store, B)).strategies)
})

test('a program that cannot be read withholds the aliases of its version from no client', async () => {
  const { look, current, aliases } = await follow()
  expect(aliases()).toEqual([])
  await publishWith(stores, A, programOf([100]))
  await spoil(stores, A, 'program/data.json')
  await look()
  expect(current()).toBeNull()
  expect(aliases()).not.toEqual([])
})
