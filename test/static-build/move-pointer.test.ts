import { beforeEach, expect, test } from 'vitest'
import { manifestKey, versionFolder } from '#core/contract/artifacts.ts'
import { ENTRY_LIFETIME_MS, refreshPointer, rollBack } from '#static-build/move-pointer.ts'
import { prune, versionsToKeep } from '#static-build/prune.ts'
import { type Publication, publicationsOf, readHead, readLog, servedAt } from '#storage/pointer-log.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, type MemoryStores, storesAfter } from '#test/support/books/publish-in-memory.ts'
import { BEFORE, pruneAll, publishInProcess, versionOf } from './hand-order.ts'
import { digestsOf } from './tree.ts'

const TODAY = '2024-06-03T00:00:00Z'
const NOW = { nowMs: Date.parse(TODAY), signer: null }

let stores: MemoryStores

const openBoth = storesAfter(async own => {
  for (const version of [BEFORE, HAND_VERSION]) await publishInProcess(own, version)
})

beforeEach(async () => {
  stores = await openBoth()
})

test('rolling back serves the older version again, as one more entry, and deletes nothing', async () => {
  const before = await digestsOf(stores.store)
  const { entry } = await rollBack(stores.store, BEFORE, NOW)
  expect(entry).toMatchObject({ seq: 3, action: 'rollback', version: BEFORE, at: '2024-06-03T00:00:00Z' })
  expect(Date.parse(entry.expires) - NOW.nowMs).toBe(ENTRY_LIFETIME_MS)
  expect(await versionOf(stores.store)).toBe(BEFORE)
  const after = await digestsOf(stores.store)
  for (const key of before.keys()) expect(after.has(key), key).toBe(true)
})

test.each([
  ['a version that was never published', '2020-01-01T00:00:00Z', `the newest are ${HAND_VERSION}, ${BEFORE}`],
  ['the version that is served', HAND_VERSION, 'is served already'],
  ['a version whose manifest is gone', BEFORE, 'is missing'],
])('rolling back to %s is refused', async (_what, version, reason) => {
  await stores.store.remove(manifestKey(BEFORE))
  await expect(rollBack(stores.store, version, NOW)).rejects.toThrow(reason)
  expect(await versionOf(stores.store)).toBe(HAND_VERSION)
})

test('refreshing keeps the version and moves its expiry', async () => {
  const { entry } = await refreshPointer(stores.store, NOW)
  const expires = '2024-06-05T00:00:00Z'
  expect(entry).toMatchObject({ seq: 3, action: 'refresh', version: HAND_VERSION, expires })
  expect((await readHead(stores.store))?.entry).toEqual(entry)
})

test('refreshing does not confirm a version that is damaged, and says of an empty store what to do', async () => {
  await stores.store.remove(manifestKey(HAND_VERSION))
  await expect(refreshPointer(stores.store, NOW)).rejects.toThrow('is missing; restore it from a copy')
  expect(await readLog(stores.store)).toHaveLength(2)
  await expect(refreshPointer(createMemoryStores().store, NOW)).rejects.toThrow('nothing is published')
})

test('the list of versions is newest first, and shows which is served and since when', async () => {
  await rollBack(stores.store, BEFORE, NOW)
  const log = await readLog(stores.store)
  expect(publicationsOf(log)).toMatchObject([
    { version: HAND_VERSION, published: HAND_VERSION, is_served: false },
    { version: BEFORE, published: BEFORE, is_served: true },
  ])
  expect(servedAt(log, '2024-05-01T00:00:00Z')).toBeNull()
  expect(servedAt(log, BEFORE)).toBe(BEFORE)
  expect(servedAt(log, '2024-06-02T00:00:00Z')).toBe(HAND_VERSION)
  expect(servedAt(log, '2024-06-04T00:00:00Z')).toBe(BEFORE)
})

test('an entry that is dated before an earlier one counts as of the time of that one', async () => {
  const log = await readLog(stores.store)
  const { entry, sha256 } = log.at(-1)!
  const set = { seq: 3, version: '2024-06-02T00:15:00Z', at: '2021-01-01T00:00:00Z' }
  const back = { entry: { ...entry, ...set }, sha256 }
  expect(publicationsOf([...log, back])[0]).toMatchObject({ published: entry.at, entered: null })
  expect(servedAt([...log, back], '2023-01-01T00:00:00Z')).toBeNull()
})

const publication = (version: string, is_served = false): Publication => ({
  version,
  manifest_sha256: '',
  published: version,
  entered: null,
  is_served,
  history_restated: false,
})
const day = (date: string) => `${date}T00:15:00Z`
const nights = ['2024-03-31', '2024-03-30', '2024-02-29', '2024-02-28', '2024-01-15'].map(date =>
  publication(day(date)),
)
const nowMs = Date.parse('2024-04-01T00:00:00Z')

test.each([
  ['days', { keepDays: 2, keepMonthEnds: false }, ['2024-03-31', '2024-03-30']],
  [
    'days and the last of each month',
    { keepDays: 1, keepMonthEnds: true },
    ['2024-03-31', '2024-02-29', '2024-01-15'],
  ],
  ['none', { keepDays: 0, keepMonthEnds: false }, []],
])(
  'pruning with a rule that keeps %s keeps those versions and what is served, however old, and no others',
  (_what, rule, kept) => {
    const served = publication(day('2020-01-01'), true)
    expect([...versionsToKeep([...nights, served], rule, nowMs)]).toEqual([...kept, '2020-01-01'].map(day))
  },
)

test('pruning counts the days from when a version was published, and the months by its name', () => {
  const late = { ...publication(day('2024-02-29')), published: day('2024-03-31') }
  const early = { ...publication(day('2024-03-31')), published: day('2024-02-29') }
  const kept = (keepMonthEnds: boolean) =>
    versionsToKeep([early, late, publication(day('2024-02-28'))], { keepDays: 2, keepMonthEnds }, nowMs)
  expect([...kept(false)]).toEqual([late.version])
  expect([...kept(true)]).toEqual([early.version, late.version])
})

test('pruning removes a version from both stores, and leaves the log and the others whole', async () => {
  const { store, privateStore } = stores
  const kept = [...(await digestsOf(store))].filter(([key]) => !key.startsWith(versionFolder(BEFORE)))
  expect(await pruneAll(stores, TODAY)).toEqual({ versions: [BEFORE], unfinished: [] })
  expect([...(await digestsOf(store))]).toEqual(kept)
  expect((await privateStore.list('')).filter(key => key.startsWith('20240531'))).toEqual([])
  expect(await readLog(store)).toHaveLength(2)
  expect(await pruneAll(stores, TODAY)).toEqual({ versions: [], unfinished: [] })
})

test('pruning finishes what a run left in the private store that was killed there', async () => {
  const { privateStore } = stores
  let left = 1
  const killed = {
    ...privateStore,
    remove: async (key: string) => {
      if (left-- === 0) throw new Error('killed')
      await privateStore.remove(key)
    },
  }
  await expect(pruneAll({ ...stores, privateStore: killed }, TODAY)).rejects.toThrow('killed')
  expect(await pruneAll(stores, TODAY)).toEqual({ versions: [BEFORE], unfinished: [] })
  expect((await privateStore.list('')).filter(key => key.startsWith('20240531'))).toEqual([])
})

test('pruning leaves alone what else an operator keeps in the private store', async () => {
  const { privateStore } = stores
  const others = ['notes/2024.txt', '20200101T001500Z/snapshot.json', 'read.me']
  for (const key of others)
    await privateStore.create(key, new Uint8Array([1]), { content_type: 'text/plain' })
  await pruneAll(stores, TODAY)
  expect(await privateStore.list('')).toEqual(expect.arrayContaining(others))
})

test('pruning removes what a build left that was never published', async () => {
  const left = `${versionFolder('2024-06-02T00:15:00Z')}/summary.json`
  const privateLeft = '20240602T001500Z/snapshot.json'
  await stores.store.create(left, new Uint8Array([1]), { content_type: 'application/json' })
  await stores.privateStore.create(privateLeft, new Uint8Array([1]), { content_type: 'application/json' })
  const before = '20240602T001600Z/inputs.json' // nothing public was written yet: the disk was full
  await stores.privateStore.create(before, new Uint8Array([1]), { content_type: 'application/json' })
  const rule = { keepDays: 999, keepMonthEnds: false }
  const pruned = await prune(stores, rule, NOW.nowMs)
  expect(pruned).toEqual({ versions: [], unfinished: ['20240602T001500Z', '20240602T001600Z'] })
  expect(await stores.store.read(left)).toBeNull()
  for (const key of [privateLeft, before]) expect(await stores.privateStore.read(key)).toBeNull()
})
