import { beforeAll, expect, test } from 'vitest'
import { documentKey, manifestKey, manifestSignatureKey, versionFolder } from '#core/contract/artifacts.ts'
import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { CURRENT_KEY, pointerKey, signatureKey } from '#core/contract/pointer.ts'
import { type AuditOrder, faultsIn } from '#static-build/audit/audit.ts'
import { createStoreReader } from '#static-build/audit/reader.ts'
import { ENTRY_LIFETIME_MS } from '#static-build/move-pointer.ts'
import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { HAND_VERSION, handSnapshot } from '#test/support/books/hand-snapshot.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
} from '#test/support/books/publish-in-memory.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { damage, meddled, outage } from '#test/support/stores/store-doubles.ts'
import { BEFORE, pruneAll } from './hand-order.ts'
import { auditStore, copyOf, faultsOf, keyOf, newSigner, publishTwo } from './signed-store.ts'

const signer = newSigner()
const other = newSigner()
let stores: MemoryStores
let digests: readonly string[]

beforeAll(async () => {
  stores = await publishTwo(signer, signer)
  digests = (await readLog(stores.store)).map(each => each.sha256)
})

test('an audit finds what was published sound in every check, reported in the order of the steps', async () => {
  const found = await auditStore(stores.store, {
    privateStore: { store: stores.privateStore, isNamed: true },
  })
  expect(faultsOf(found)).toEqual([])
  const perVersion = ['manifest', 'documents', 'files', 'snapshot']
  expect(found.checks.map(({ check }) => check)).toEqual([
    ...['keys', 'log', 'head', 'signatures', 'derived'],
    ...perVersion,
    ...perVersion,
  ])
  expect(found.head).toMatchObject({ entry: { seq: 2, version: HAND_VERSION }, sha256: digests[1] })
  expect(found.checks.flatMap(({ notes }) => notes)).toEqual([])
})

test('signing that began later leaves older entries without a signature, which the chain covers, and signing that ended is a fault', async () => {
  const { store } = await publishTwo(null, signer)
  const found = await auditStore(store)
  expect(faultsOf(found)).toEqual([])
  expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(/older than the first signature/)
  const ended = await auditStore((await publishTwo(signer, null)).store)
  expect(faultsOf(ended)).toContain(`${pointerKey(2)}: unsigned`)
})

test('a store that was never signed is a fault for a subscriber and a note if it is allowed', async () => {
  const { store } = await publishTwo(null, null)
  expect(faultsOf(await auditStore(store))).toEqual([`${pointerKey(2)}: unsigned`])
  const allowed = await auditStore(store, { isUnsignedFault: false })
  expect(faultsOf(allowed)).toEqual([])
  expect(allowed.checks.flatMap(({ notes }) => notes).join()).toMatch(/nothing is signed/)
})

test('signatures cannot be taken away where a key is published, whatever is allowed', async () => {
  const copy = await copyOf(stores.store)
  for (const key of await copy.list('')) if (key.endsWith('.sig')) await copy.remove(key)
  expect(faultsOf(await auditStore(copy, { isUnsignedFault: false }))).toContain(`${pointerKey(2)}: unsigned`)
})

test('signing may change its key: an audit trusts both where both are named, and not one alone', async () => {
  const { store } = await publishTwo(signer, other)
  const trusting = (...keys: (typeof signer)[]) =>
    auditStore(store, {
      trust: { kind: 'fingerprints', fingerprints: keys.map(key => keyOf(key).fingerprint) },
    })
  expect(faultsOf(await trusting(signer, other))).toEqual([])
  expect(faultsOf(await trusting(other))).toContain(`${pointerKey(1)}: wrongly signed`)
})

test('a key of which only the wrong fingerprint is known is a fault of the audit', async () => {
  const trust = { kind: 'fingerprints', fingerprints: ['0'.repeat(16)] } as const
  expect(faultsOf(await auditStore(stores.store, { trust }))).toContain(`${KEYS_KEY}: missing`)
})

test('a manifest that names files outside its version is refused before anything of it is asked for', async () => {
  const stray = createMemoryStores()
  await publishInMemory(stray, handSnapshot([{ id: 'oak', returns: [0.01, 0.02] }]), manifest => ({
    ...manifest,
    artifacts: manifest.artifacts.map(each => ({ ...each, key: 'v1/keys.json' })),
  }))
  const found = await auditStore(stray.store, { isUnsignedFault: false })
  expect(faultsOf(found)).toEqual([`${manifestKey(HAND_VERSION)}: of another form`])
})

test('a version that was pruned is skipped and reported, and is a fault if an audit requests it by name', async () => {
  const store = await copyOf(stores.store)
  await pruneAll({ store, privateStore: await copyOf(stores.privateStore) }, HAND_VERSION)
  const found = await auditStore(store)
  expect(faultsOf(found)).toEqual([])
  expect(found.checks).toContainEqual(
    expect.objectContaining({ version: BEFORE, told: 'removed', notes: [] }),
  )
  expect(faultsOf(await auditStore(store, { versions: { version: BEFORE } }))).toEqual([
    `${manifestKey(BEFORE)}: missing`,
  ])
})

test('a version that was removed and left files behind is reported, and is no fault', async () => {
  const copy = await copyOf(stores.store)
  await copy.remove(manifestKey(BEFORE))
  const found = await auditStore(copy)
  expect(faultsOf(found)).toEqual([])
  expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(
    /files of .* are left without its manifest/,
  )
})

const spoilt = (concerns: (key: string) => boolean, change: (bytes: Uint8Array) => Uint8Array | null) =>
  meddled(stores.privateStore, concerns, bytes => change(bytes!))

test.each<[string, string, (bytes: Uint8Array) => Uint8Array | null]>([
  ['snapshot.daily.arrow', 'altered', damage],
  ['inputs.json', 'altered', damage],
  ['inputs.json', 'missing', () => null],
])('a private %s that is %s is a fault of the audit', async (name, kind, change) => {
  const own = `20240601T001500Z/${name}`
  const store = spoilt(key => key === own, change)
  const found = await auditStore(stores.store, { privateStore: { store, isNamed: false } })
  expect(faultsOf(found)).toEqual([`memory:private/${own}: ${kind}`])
})

test('a private snapshot that is nowhere is a fault where its store was named, and a note where it was not', async () => {
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

test('a clock of the publisher that was set back is reported, and is not a fault for ever', async () => {
  const store = await copyOf(stores.store)
  const { entry, sha256: digest } = (await readLog(store)).at(-1)!
  const older = toJsonBytes({ ...entry, seq: 3, action: 'refresh', at: BEFORE, prev_entry_sha256: digest })
  await store.create(pointerKey(3), older, OCTETS) // as releases wrote it that did not refuse it
  await store.create(signatureKey(sha256(older)), signer.sign(older), OCTETS)
  const found = await auditStore(store, { nowMs: Date.parse(BEFORE) })
  expect(faultsOf(found)).toEqual([])
  expect(found.checks.flatMap(({ notes }) => notes).join()).toMatch(/entry 3 .* clock was set back/)
})

test('a manifest that names another time of entry than the log, and a history that the log does not bear out, are faults', async () => {
  const forged = createMemoryStores()
  const published_since = '2021-01-01T00:15:00Z'
  const snapshot = handSnapshot([
    { id: 'oak', returns: [0.01, 0.02] },
    { id: 'elm', returns: [0.01] },
  ])
  const claims = snapshot.strategies.map(strategy => ({ ...strategy, published_since }))
  await publishInMemory(forged, { ...snapshot, strategies: claims }, manifest => ({
    ...manifest,
    entered: '2024-05-29T00:15:00Z',
  }))
  const found = await auditStore(forged.store, { isUnsignedFault: false })
  expect(faultsIn(found).map(({ told }) => told)).toEqual([
    `${manifestKey(HAND_VERSION)} says that the version was entered at 2024-05-29T00:15:00Z, and the log names it first at ${HAND_VERSION}`,
    `${versionFolder(HAND_VERSION)}/strategies.json says that oak (and 1 more) is published since ${published_since}, and no ` +
      `entry of the log is of that time: the first is of ${HAND_VERSION}; the next version that is built corrects it`,
  ])
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

/** What is derived is written again; a missing signature of the first entry is one of a log signed later. */
const isRemovable = (key: string) => ![CURRENT_KEY, 'index.html', signatureKey(digests[0]!)].includes(key)

/** Every object, but of the files of a version one of each format and coding: an audit reads them alike. */
async function keysOf(isIn: (key: string) => boolean): Promise<string[]> {
  const keys = (await stores.store.list('')).filter(isIn)
  const kinds = keys.map(key =>
    key.replace(/^(v1\/snapshots\/\w+\/).*?(\.(?:csv|json|arrow|parquet|html|js|css|svg|png)\b.*)/, '$1*$2'),
  )
  return keys.filter(
    (key, i) => kinds.indexOf(kinds[i]!) === i || /(?:manifest|changes|datapackage)\.json/.test(key),
  )
}

/** Audits the store with one object of it changed, or gone. */
function auditWith(
  key: string,
  change: (bytes: Uint8Array | null) => Uint8Array | null,
  order: Partial<AuditOrder> = {},
) {
  const reader = createStoreReader(meddled(stores.store, each => each === key, change))
  return auditStore(stores.store, { reader, ...order })
}

test('a bit turned over in any published object is a fault of the audit', async () => {
  const keys = await keysOf(() => true)
  expect(keys.length).toBeGreaterThan(30)
  for (const key of keys) expect(faultsOf(await auditWith(key, bytes => damage(bytes!))), key).not.toEqual([])
})

test('any published object that is gone is a fault of the audit', async () => {
  const served = { versions: { version: BEFORE } } // by name: a version that is only listed may have been removed
  for (const key of await keysOf(isRemovable)) {
    const found = faultsOf(await auditWith(key, () => null))
    if (found.length === 0) expect(faultsOf(await auditWith(key, () => null, served)), key).not.toEqual([])
  }
})

const manifest = manifestKey(HAND_VERSION)
const entrySignature = (i: number) => signatureKey(digests[i]!)

test.each(casesOf<[string, () => Spoil, string]>`
an altered file -> ${() => alter(SUMMARY, damage)} -> ${SUMMARY}: altered
a truncated file -> ${() => alter(SUMMARY, bytes => bytes.slice(0, 9))} -> ${SUMMARY}: altered
an altered twin -> ${() => alter(`${SUMMARY}.br`, damage)} -> ${SUMMARY}.br: altered
a missing file -> ${() => removing(SUMMARY)} -> ${SUMMARY}: missing
an altered manifest -> ${() => alter(manifest, damage)} -> ${manifest}: altered
a missing manifest -> ${() => removing(manifest)} -> ${manifest}: missing
an altered signature of a manifest -> ${() => alter(manifestSignatureKey(HAND_VERSION), damage)} -> ${manifest}: wrongly signed
a manifest without signature -> ${() => removing(`${manifest}.sig`)} -> ${manifest}: unsigned
an altered signature of an entry -> ${() => alter(entrySignature(0), damage)} -> ${pointerKey(1)}: wrongly signed
a newest entry without signature -> ${() => removing(entrySignature(1))} -> ${pointerKey(2)}: unsigned
an altered newest entry -> ${() => alter(pointerKey(2), replaceText('2024-06-03', '2034-06-03'))} -> ${pointerKey(2)}: unsigned
an altered older entry -> ${() => alter(pointerKey(1), replaceText('2024-06-02', '2034-06-02'))} -> ${pointerKey(2)}: not in the chain
an entry that is none -> ${() => alter(pointerKey(1), replaceText('"seq": 1', '"seq": 7'))} -> ${pointerKey(1)}: of another form
a gap in the log -> ${() => removing(pointerKey(1))} -> ${pointerKey(1)}: missing
a key under the id of another -> ${() => alter(KEYS_KEY, replaceText('"id": "', '"id": "0'))} -> ${KEYS_KEY}: of another form
invalid keys -> ${() => alter(KEYS_KEY, replaceText('BEGIN', 'BEGONE'))} -> ${KEYS_KEY}: of another form
changes that are others -> ${() => alter(documentKey(HAND_VERSION, 'changes.json'), damage)} -> ${documentKey(HAND_VERSION, 'changes.json')}: altered
a data package of other digests -> ${() => alter(documentKey(HAND_VERSION, 'datapackage.json'), replaceText('sha256:', 'sha256:0'))} -> ${documentKey(HAND_VERSION, 'datapackage.json')}: altered
checksums of other files -> ${() => alter(documentKey(BEFORE, 'SHA256SUMS'), damage)} -> ${documentKey(BEFORE, 'SHA256SUMS')}: altered`)(
  'an audit names %s, with its object',
  async (_what, spoil, fault) => {
    const copy = await copyOf(stores.store)
    await spoil()(copy)
    expect(faultsOf(await auditStore(copy))).toContain(fault)
  },
)

test.each<[string, Partial<AuditOrder>, string]>([
  ['a newest entry that expired', { nowMs: Date.parse(HAND_VERSION) + ENTRY_LIFETIME_MS }, 'expired'],
  ['a clock that is set back', { nowMs: Date.parse(BEFORE) }, 'from the future'],
])('an audit names %s, with its object', async (_what, changes, kind) => {
  expect(faultsOf(await auditStore(stores.store, changes))).toEqual([`${pointerKey(2)}: ${kind}`])
})

test('an audit names each object that is signed with a key that is not trusted, and the key', async () => {
  const found = await auditStore(stores.store, { trust: { kind: 'keys', keys: [keyOf(other)] } })
  expect(faultsOf(found)).toEqual(
    [pointerKey(1), pointerKey(2), manifest, manifestKey(BEFORE)].map(key => `${key}: wrongly signed`),
  )
  for (const { told } of faultsIn(found)) expect(told).toContain(`signed with the key ${signer.keyId}`)
})

test('an audit names an entry with another manifest of a version that stands', async () => {
  const { store } = await publishTwo(null, null)
  const head = (await readLog(store)).at(-1)!
  const forged = { ...head.entry, seq: 3, prev_entry_sha256: head.sha256, manifest_sha256: '0'.repeat(64) }
  await store.create(pointerKey(3), new TextEncoder().encode(JSON.stringify(forged)), OCTETS)
  expect(faultsOf(await auditStore(store, { isUnsignedFault: false }))).toContain(
    `${pointerKey(3)}: not in the chain`,
  )
})

test('an audit names newest entries that are withheld, where the hint knows of them', async () => {
  const reader = { ...createStoreReader(stores.store), leastEntries: () => Promise.resolve(40) }
  expect(faultsOf(await auditStore(stores.store, { reader }))).toEqual([`${pointerKey(3)}: missing`])
})

test('an audit names what cannot be read of a store, and checks the rest all the same', async () => {
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
