import { beforeAll, describe, expect, test } from 'vitest'
import { documentKey, manifestKey, manifestSignatureKey, versionFolder } from '#core/contract/artifacts.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { CURRENT_KEY, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { type AuditOrder, faultsIn } from '#static-build/audit/audit.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { ENTRY_LIFETIME_MS } from '#static-build/move-pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import type { MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { damage, meddled, outage } from '#test/support/stores/store-doubles.ts'
import { BEFORE } from './hand-order.ts'
import { auditStore, copyOf, faultsOf, keyOf, newSigner, publishTwo } from './signed-store.ts'

const signer = newSigner()
const other = newSigner()
let stores: MemoryStores
let digests: readonly string[]

beforeAll(async () => {
  stores = await publishTwo(signer, signer)
  digests = (await readLog(stores.store)).map(each => each.sha256)
})

const SUMMARY = `${versionFolder(HAND_VERSION)}/summary.json`
const OCTETS = { content_type: 'application/octet-stream' }

type Spoil = (store: ObjectStore) => Promise<void>

const alter =
  (key: string, change: (bytes: Uint8Array) => Uint8Array): Spoil =>
  async store =>
    store.replace(key, change((await store.read(key))!), OCTETS)

const replaceText = (from: string, to: string) => (bytes: Uint8Array) =>
  new TextEncoder().encode(new TextDecoder().decode(bytes).replace(from, to))

const removing =
  (...keys: string[]): Spoil =>
  async store => {
    for (const key of keys) await store.remove(key)
  }

describe('no object can be altered or removed unnoticed', () => {
  /** The hint is derived and proves nothing; a missing signature of the first entry is one of a log signed later. */
  const isProven = (key: string) => key !== CURRENT_KEY && key !== 'index.html'
  const isRemovable = (key: string) => isProven(key) && key !== signatureKey(digests[0]!)

  test('a bit turned over in any of them is a fault', async () => {
    const keys = (await stores.store.list('')).filter(isProven)
    expect(keys.length).toBeGreaterThan(50)
    for (const key of keys) {
      const reader = createStoreReader(
        meddled(
          stores.store,
          each => each === key,
          bytes => damage(bytes!),
        ),
      )
      expect(faultsOf(await auditStore(stores.store, { reader })), key).not.toEqual([])
    }
  })

  test('any of them that is gone is a fault', async () => {
    const served = { versions: { version: BEFORE } } // by name: a version that is only listed may have been removed
    for (const key of (await stores.store.list('')).filter(isRemovable)) {
      const reader = createStoreReader(
        meddled(
          stores.store,
          each => each === key,
          () => null,
        ),
      )
      const found = [
        ...faultsOf(await auditStore(stores.store, { reader })),
        ...faultsOf(await auditStore(stores.store, { reader, ...served })),
      ]
      expect(found, key).not.toEqual([])
    }
  })
})

describe('each kind of fault is named, with its object', () => {
  const manifest = manifestKey(HAND_VERSION)
  const entrySignature = (i: number) => signatureKey(digests[i]!)

  test.each<[string, () => Spoil, string]>([
    ['an altered file', () => alter(SUMMARY, damage), `${SUMMARY}: altered`],
    ['a truncated file', () => alter(SUMMARY, bytes => bytes.slice(0, 9)), `${SUMMARY}: altered`],
    ['an altered twin', () => alter(`${SUMMARY}.br`, damage), `${SUMMARY}.br: altered`],
    ['a missing file', () => removing(SUMMARY), `${SUMMARY}: missing`],
    ['an altered manifest', () => alter(manifest, damage), `${manifest}: altered`],
    ['a missing manifest', () => removing(manifest), `${manifest}: missing`],
    [
      'an altered signature of a manifest',
      () => alter(manifestSignatureKey(HAND_VERSION), damage),
      `${manifest}: wrongly signed`,
    ],
    ['a manifest without signature', () => removing(`${manifest}.sig`), `${manifest}: unsigned`],
    [
      'an altered signature of an entry',
      () => alter(entrySignature(0), damage),
      `${pointerKey(1)}: wrongly signed`,
    ],
    ['a newest entry without signature', () => removing(entrySignature(1)), `${pointerKey(2)}: unsigned`],
    [
      'an altered newest entry',
      () => alter(pointerKey(2), replaceText('2024-06-03', '2034-06-03')),
      `${pointerKey(2)}: unsigned`,
    ],
    [
      'an altered older entry',
      () => alter(pointerKey(1), replaceText('2024-06-02', '2034-06-02')),
      `${pointerKey(2)}: not in the chain`,
    ],
    [
      'an entry that is none',
      () => alter(pointerKey(1), replaceText('"seq": 1', '"seq": 7')),
      `${pointerKey(1)}: of another form`,
    ],
    ['a gap in the log', () => removing(pointerKey(1)), `${pointerKey(1)}: missing`],
    ['invalid keys', () => alter(KEYS_KEY, replaceText('BEGIN', 'BEGONE')), `${KEYS_KEY}: of another form`],
    [
      'changes that are others',
      () => alter(documentKey(HAND_VERSION, 'changes.json'), damage),
      `${documentKey(HAND_VERSION, 'changes.json')}: altered`,
    ],
    [
      'a data package of other digests',
      () => alter(documentKey(HAND_VERSION, 'datapackage.json'), replaceText('sha256:', 'sha256:0')),
      `${documentKey(HAND_VERSION, 'datapackage.json')}: altered`,
    ],
    [
      'checksums of other files',
      () => alter(documentKey(BEFORE, 'SHA256SUMS'), damage),
      `${documentKey(BEFORE, 'SHA256SUMS')}: altered`,
    ],
  ])('%s', async (_what, spoil, fault) => {
    const copy = await copyOf(stores.store)
    await spoil()(copy)
    expect(faultsOf(await auditStore(copy))).toContain(fault)
  })

  test.each<[string, Partial<AuditOrder>, string]>([
    ['a newest entry that expired', { nowMs: Date.parse(HAND_VERSION) + ENTRY_LIFETIME_MS }, 'expired'],
    ['a clock that is set back', { nowMs: Date.parse(BEFORE) }, 'from the future'],
  ])('%s', async (_what, changes, kind) => {
    expect(faultsOf(await auditStore(stores.store, changes))).toEqual([`${pointerKey(2)}: ${kind}`])
  })

  test('a key that is not trusted, which is named', async () => {
    const found = await auditStore(stores.store, { trust: { kind: 'keys', keys: [keyOf(other)] } })
    expect(faultsOf(found)).toEqual(
      [pointerKey(1), pointerKey(2), manifest, manifestKey(BEFORE)].map(key => `${key}: wrongly signed`),
    )
    for (const { told } of faultsIn(found)) expect(told).toContain(`signed with the key ${signer.keyId}`)
  })

  test('a version that was never published', async () => {
    const version = '2020-01-01T00:00:00Z'
    const found = await auditStore(stores.store, { versions: { version } })
    expect(faultsOf(found)).toEqual([`${manifestKey(version)}: missing`])
  })

  test('an entry that names another manifest of a version that stands', async () => {
    const { store } = await publishTwo(null, null)
    const head = (await readLog(store)).at(-1)!
    const forged = { ...head.entry, seq: 3, prev_entry_sha256: head.sha256, manifest_sha256: '0'.repeat(64) }
    await store.create(pointerKey(3), new TextEncoder().encode(JSON.stringify(forged)), OCTETS)
    expect(faultsOf(await auditStore(store, { isUnsignedFault: false }))).toContain(
      `${pointerKey(3)}: not in the chain`,
    )
  })

  test('newest entries that are withheld, where the hint knows of them', async () => {
    const reader = { ...createStoreReader(stores.store), leastEntries: () => Promise.resolve(40) }
    expect(faultsOf(await auditStore(stores.store, { reader }))).toEqual([`${pointerKey(3)}: missing`])
  })

  test('a store that cannot be read in places, and the rest is checked all the same', async () => {
    const copy = await copyOf(stores.store)
    await copy.remove(SUMMARY)
    const down = meddled(copy, key => key.endsWith('/dataset.json'), outage(copy))
    const folders = [HAND_VERSION, BEFORE].map(versionFolder)
    expect(faultsOf(await auditStore(copy, { reader: createStoreReader(down) }))).toEqual([
      `${folders[0]}/dataset.json: unreadable`,
      `${SUMMARY}: missing`,
      `${folders[1]}/dataset.json: unreadable`,
    ])
  })
})
