import { beforeEach, expect, test } from 'vitest'
import { manifestKey } from '#core/contract/artifacts.ts'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { publishVersion } from '#static-build/publish-version.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { BEFORE, orderOf, publishInProcess, renderHere, versionOf } from './hand-order.ts'
import { describeDifferences, digestsOf } from './tree.ts'

let stores: MemoryStores

beforeEach(async () => {
  stores = createMemoryStores()
  await publishInProcess(stores, BEFORE)
})

test('publishing points to the version when it is complete, and keeps every object of the one before', async () => {
  const before = await digestsOf(stores.store)
  await publishInProcess(stores, HAND_VERSION)
  expect(await versionOf(stores.store)).toBe(HAND_VERSION)
  const gone = describeDifferences(before, await digestsOf(stores.store)).filter(
    difference => !difference.startsWith('unexpected: '),
  )
  expect(gone).toEqual(['index.html', CURRENT_KEY].map(key => expect.stringContaining(`changed: ${key} `)))
})

test('publishing the same a second time is fine and changes nothing', async () => {
  const first = await publishInProcess(stores, HAND_VERSION)
  const before = await digestsOf(stores.store)
  const again = await publishInProcess(stores, HAND_VERSION)
  expect(again).toEqual(first)
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
})

test('publishing other bytes under the same version is refused, says why, and changes nothing', async () => {
  await publishInProcess(stores, HAND_VERSION)
  const [before, privateBefore] = [await digestsOf(stores.store), await digestsOf(stores.privateStore)]
  await expect(publishInProcess(stores, HAND_VERSION, 0.02)).rejects.toThrow(
    'exists with other bytes, and what is published never changes: build under a new --version, or use the code, the ' +
      'book and the --effort that made it',
  )
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
  expect(describeDifferences(privateBefore, await digestsOf(stores.privateStore))).toEqual([])
})

test('publishing by other code under the same version is refused although every artifact is the same', async () => {
  await publishInProcess(stores, HAND_VERSION)
  const before = await digestsOf(stores.store)
  const order = orderOf(HAND_VERSION, stores)
  const other = publishVersion({
    ...order,
    builtWith: { ...order.builtWith, commit: 'another' },
    render: renderHere,
  })
  await expect(other).rejects.toThrow(`${manifestKey(HAND_VERSION)} exists with other bytes`)
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
})

test('a build that another one has overtaken writes its files and leaves the pointer alone', async () => {
  const overtaken = publishVersion({
    ...orderOf(HAND_VERSION, stores),
    render: renderHere,
    assertAlone: () => Promise.reject(new Error('another has begun since')),
  })
  await expect(overtaken).rejects.toThrow('another has begun since')
  expect(await versionOf(stores.store)).toBe(BEFORE)
})

test('publishing makes the same files on any number of threads, and in this one', async () => {
  const here = await publishInProcess(stores, HAND_VERSION)
  for (const threads of [1, 3]) {
    const other = createMemoryStores()
    await publishInProcess(other, BEFORE)
    expect(await publishVersion({ ...orderOf(HAND_VERSION, other), threads })).toEqual(here)
    expect(describeDifferences(await digestsOf(stores.store), await digestsOf(other.store))).toEqual([])
  }
})
