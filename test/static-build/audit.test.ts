import { beforeAll, describe, expect, test } from 'vitest'
import { manifestKey } from '#core/contract/artifacts.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { faultsIn } from '#static-build/audit/audit.ts'
import { refreshPointer } from '#static-build/move-pointer.ts'
import { prune } from '#static-build/prune.ts'
import { readLog } from '#storage/pointer-log.ts'
import { HAND_VERSION, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
} from '#test/support/books/publish-in-memory.ts'
import { damage, meddled } from '#test/support/stores/store-doubles.ts'
import { BEFORE } from './hand-order.ts'
import { auditStore, copyOf, faultsOf, keyOf, NOW_MS, newSigner, publishTwo } from './signed-store.ts'

const signer = newSigner()
const other = newSigner()
let stores: MemoryStores
let digests: readonly string[]

beforeAll(async () => {
  stores = await publishTwo(signer, signer)
  digests = (await readLog(stores.store)).map(each => each.sha256)
})

test('what was published is sound in every check, reported in the order of the steps', async () => {
  const found = await auditStore(stores.store, {
    privateStore: { store: stores.privateStore, isNamed: true },
  })
  expect(faultsOf(found)).toEqual([])
  const perVersion = ['manifest', 'documents', 'files', 'snapshot']
  expect(found.checks.map(({ check }) => check)).toEqual([
    ...['keys', 'log', 'head', 'signatures'],
    ...perVersion,
    ...perVersion,
  ])
  expect(found.head).toMatchObject({ entry: { seq: 2, version: HAND_VERSION }, sha256: digests[1] })
  expect(found.checks.flatMap(({ notes }) => notes)).toEqual([])
})

describe('signing', () => {
  test('that began later leaves older entries without a signature, which the chain covers', async () => {
    const { store } = await publishTwo(null, signer)
    const found = await auditStore(store)
    expect(faultsOf(found)).toEqual([])
    expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(/older than the first signature/)
  })

  test('that ended is a fault', async () => {
    const { store } = await publishTwo(signer, null)
    expect(faultsOf(await auditStore(store))).toContain(`${pointerKey(2)}: unsigned`)
  })

  test('that never was is a fault for a subscriber and a note if it is allowed', async () => {
    const { store } = await publishTwo(null, null)
    expect(faultsOf(await auditStore(store))).toEqual([`${pointerKey(2)}: unsigned`])
    const allowed = await auditStore(store, { isUnsignedFault: false })
    expect(faultsOf(allowed)).toEqual([])
    expect(allowed.checks.flatMap(({ notes }) => notes).join()).toMatch(/nothing is signed/)
  })

  test('cannot be taken away where a key is published, whatever is allowed', async () => {
    const copy = await copyOf(stores.store)
    for (const key of await copy.list('')) if (key.endsWith('.sig')) await copy.remove(key)
    expect(faultsOf(await auditStore(copy, { isUnsignedFault: false }))).toContain(
      `${pointerKey(2)}: unsigned`,
    )
  })

  test('may change its key: both are trusted where both are named, one alone is not', async () => {
    const { store } = await publishTwo(signer, other)
    const trusting = (...keys: (typeof signer)[]) =>
      auditStore(store, {
        trust: { kind: 'fingerprints', fingerprints: keys.map(key => keyOf(key).fingerprint) },
      })
    expect(faultsOf(await trusting(signer, other))).toEqual([])
    expect(faultsOf(await trusting(other))).toContain(`${pointerKey(1)}: wrongly signed`)
  })

  test('with a key of which only the wrong fingerprint is known is a fault', async () => {
    const trust = { kind: 'fingerprints', fingerprints: ['0'.repeat(16)] } as const
    expect(faultsOf(await auditStore(stores.store, { trust }))).toContain(`${KEYS_KEY}: missing`)
  })
})

test('a manifest that sends its reader out of its version is refused before anything of it is asked for', async () => {
  const stray = createMemoryStores()
  await publishInMemory(stray, handSnapshot([{ id: 'oak', returns: [0.01, 0.02] }]), manifest => ({
    ...manifest,
    artifacts: manifest.artifacts.map(each => ({ ...each, key: 'v1/keys.json' })),
  }))
  const found = await auditStore(stray.store, { isUnsignedFault: false })
  expect(faultsOf(found)).toEqual([`${manifestKey(HAND_VERSION)}: of another form`])
})

describe('a version that was removed', () => {
  const rule = { keepDays: 0, keepMonthEnds: false }

  test('is skipped and reported, and is a fault if it is requested by name', async () => {
    const { store, privateStore } = await publishTwo(signer, signer)
    await prune(store, privateStore, rule, NOW_MS)
    const found = await auditStore(store)
    expect(faultsOf(found)).toEqual([])
    expect(found.checks).toContainEqual(
      expect.objectContaining({ version: BEFORE, told: 'removed', notes: [] }),
    )
    expect(faultsOf(await auditStore(store, { versions: { version: BEFORE } }))).toEqual([
      `${manifestKey(BEFORE)}: missing`,
    ])
  })

  test('and left files behind is reported, and is no fault', async () => {
    const copy = await copyOf(stores.store)
    await copy.remove(manifestKey(BEFORE))
    const found = await auditStore(copy)
    expect(faultsOf(found)).toEqual([])
    expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(
      /files of .* are left without its manifest/,
    )
  })
})

describe('the private snapshot', () => {
  const spoilt = (concerns: (key: string) => boolean, change: (bytes: Uint8Array) => Uint8Array | null) =>
    meddled(stores.privateStore, concerns, bytes => change(bytes!))

  test('is checked against the digests of the manifest', async () => {
    const store = spoilt(key => key.startsWith('20240601') && key.endsWith('/snapshot.daily.arrow'), damage)
    const found = await auditStore(stores.store, { privateStore: { store, isNamed: false } })
    expect(faultsOf(found)).toEqual(['memory:private/20240601T001500Z/snapshot.daily.arrow: altered'])
  })

  test('an altered or missing record of the inputs is a fault', async () => {
    const record = '20240601T001500Z/inputs.json'
    for (const [change, kind] of [
      [damage, 'altered'],
      [() => null, 'missing'],
    ] as const) {
      const store = meddled(
        stores.privateStore,
        key => key === record,
        bytes => change(bytes!),
      )
      const found = await auditStore(stores.store, { privateStore: { store, isNamed: true } })
      expect(faultsOf(found)).toEqual([`memory:private/${record}: ${kind}`])
    }
  })

  test('that is nowhere is a fault where its store was named, and a note where it was not', async () => {
    const store = spoilt(
      () => true,
      () => null,
    )
    const named = await auditStore(stores.store, { privateStore: { store, isNamed: true } })
    expect(faultsIn(named).length).toBe(14)
    const found = await auditStore(stores.store, { privateStore: { store, isNamed: false } })
    expect(faultsOf(found)).toEqual([])
    expect(found.checks.flatMap(({ notes }) => notes)).toHaveLength(2)
  })
})

test('a clock of the publisher that was set back is reported, and is not a fault for ever', async () => {
  const { store } = await publishTwo(signer, signer)
  await refreshPointer(store, { nowMs: Date.parse(BEFORE), signer })
  const found = await auditStore(store, { nowMs: Date.parse(BEFORE) })
  expect(faultsOf(found)).toEqual([])
  expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(/entry 3 .* clock was set back/)
})
