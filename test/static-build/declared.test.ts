// What a build publishes only if its operator declares it: for which strategy, why, and where readers see it.
import { beforeEach, expect, test } from 'vitest'
import { privateKey, versionFolder } from '#core/contract/artifacts.ts'
import type { Declaration } from '#core/contract/payloads/changes.ts'
import { changesOf } from '#pages/versions.ts'
import { readPublishedSnapshot } from '#static-build/compare-with-published.ts'
import type { Declarations } from '#static-build/declarations.ts'
import { readHead } from '#storage/pointer-log.ts'
import type { HandStrategy } from '#test/support/books/hand-snapshot.ts'
import { type MemoryStores, storesAfter } from '#test/support/books/publish-in-memory.ts'
import { changesIn, dataIn, NOTHING_DECLARED, publishStrategies } from './hand-order.ts'
import { textAt } from './tree.ts'

const A = '2024-01-05T00:15:00Z'
const B = '2024-01-06T00:15:00Z'
const C = '2024-01-07T00:15:00Z'
const D = '2024-01-08T00:15:00Z'

let stores: MemoryStores

const oak: HandStrategy = {
  id: 'oak',
  name: 'Oak',
  returns: [0.01, 0.02],
  module_version: '1',
  rules_sha256: 'a',
}
const elm: HandStrategy = { id: 'elm', name: 'Elm', returns: [0.03, 0.01, 0.02] }

const openFirst = storesAfter(own => publishStrategies(own, A, [oak, elm]))

beforeEach(async () => {
  stores = await openFirst()
})

const publish = (version: string, strategies: readonly HandStrategy[], declared = NOTHING_DECLARED) =>
  publishStrategies(stores, version, strategies, { declared })

const declaring = (what: Declaration['what'], ...names: readonly string[]): Declarations => ({
  ...NOTHING_DECLARED,
  [what]: new Set(names),
  reason: 'as it must be',
})

const dataOf = (version: string, name: string) => dataIn(stores.store, version, name)

/** What the versions page says of the served version. */
async function wordsOf(): Promise<readonly string[]> {
  const head = await readHead(stores.store)
  const { dataset } = await readPublishedSnapshot(stores, head!.entry)
  return changesOf(dataset.lineage.at(-1)!)
}

/** Takes away what a publisher has of a version for himself. */
const lose = (...versions: readonly string[]) =>
  Promise.all(versions.map(version => stores.privateStore.remove(privateKey(version, 'snapshot.json'))))

const restated = { ...oak, returns: [0.011, 0.02] }

test('a declaration that a version does not need is not published', async () => {
  await publish(B, [oak, elm], declaring('restate', 'oak'))
  expect(await changesIn(stores.store, B)).not.toHaveProperty('declared')
})

test('a strategy that was published is removed by name and with a reason only, and a restatement of it is not enough', async () => {
  for (const declared of [NOTHING_DECLARED, declaring('restate', 'elm'), declaring('remove', 'oak')]) {
    const refused = publish(B, [oak], declared)
    await expect(refused).rejects.toThrow('elm: the strategy is gone')
    await expect(refused).rejects.toThrow('or remove it with --remove elm --reason TEXT')
  }
})

const REMOVED = {
  ...{ id: 'elm', name: 'Elm', on: '2024-01-06', reason: 'as it must be' },
  ...{ published_since: A, days: 3 },
}

test('a removed strategy leaves a line that stays, in the dataset and the summary of every later version', async () => {
  await publish(B, [oak], declaring('remove', 'elm'))
  expect(await wordsOf()).toEqual(['Removed: elm. Reason: as it must be'])
  await publish(C, [oak])
  for (const version of [B, C]) {
    expect(await dataOf(version, 'dataset')).toMatchObject({ removed: [REMOVED] })
    expect(await dataOf(version, 'summary')).toMatchObject({ removed: [REMOVED] })
  }
  await publish(D, [oak, elm])
  expect(await dataOf(D, 'dataset')).toMatchObject({ removed: [REMOVED] })
})

test('a version after a lost one carries on what was removed, and takes no other strategy away', async () => {
  await publish(B, [oak], declaring('remove', 'elm'))
  await publish(C, [oak])
  await lose(C)
  await expect(publish(D, [elm], declaring('after_lost', C))).rejects.toThrow('oak: the strategy is gone')
  await publish(D, [oak, elm], declaring('after_lost', C))
  expect(await dataOf(D, 'dataset')).toMatchObject({ removed: [REMOVED] })
  expect(await wordsOf()).toEqual([`Not compared with ${C}, which could not be read. Reason: as it must be`])
})

test('after the loss of every private snapshot the public files say which strategies were there, what was removed, and what each version changed', async () => {
  await publish(B, [oak], declaring('remove', 'elm'))
  await publish(C, [oak, { ...elm, id: 'fir', name: 'Fir' }])
  await lose(A, B, C)
  const lost = declaring('after_lost', C)
  await expect(publish(D, [oak], lost)).rejects.toThrow('fir: the strategy is gone')
  await publish(D, [oak], { ...lost, remove: new Set(['fir']) })
  const fir = { id: 'fir', name: 'Fir', on: '2024-01-08', published_since: null, days: 3 }
  expect(await dataOf(D, 'dataset')).toMatchObject({ removed: [REMOVED, fir] })
  const page = await textAt(stores.store, `${versionFolder(D)}/versions.html`)
  for (const words of [
    'Removed: elm. Reason: as it must be',
    'Removed: fir. Reason: as it must be',
    'New strategies: fir.',
  ])
    expect(page).toContain(words)
})

test('a strategy that came after the newest snapshot which can be read is known from the public files', async () => {
  await publish(B, [oak, elm, { ...elm, id: 'fir' }])
  await lose(B)
  await expect(publish(C, [oak, elm], declaring('after_lost', B))).rejects.toThrow(
    'fir: the strategy is gone',
  )
})

test('public files that were altered do not count, and those of the version before them do', async () => {
  await publish(B, [oak], declaring('remove', 'elm'))
  await lose(A, B)
  const key = `${versionFolder(B)}/dataset.json`
  const text = await textAt(stores.store, key)
  await stores.store.replace(key, new TextEncoder().encode(text.replace('as it must be', 'fine')), {
    content_type: 'application/json',
  })
  await expect(publish(C, [oak], declaring('after_lost', B))).rejects.toThrow('elm: the strategy is gone')
})

test('a version that is declared lost and another one that is lost are not the same', async () => {
  await lose(A)
  await expect(publish(B, [oak, elm], declaring('after_lost', B))).rejects.toThrow(
    `publish with --after-lost ${A} --reason TEXT`,
  )
})

const edited = { ...oak, returns: [0.01, 0.02, 0.03], rules_sha256: 'b' }

test('rules that are declared the same keep their date and that of the history, and the declaration is published', async () => {
  await publish(B, [edited, elm], declaring('same_rules', 'oak'))
  expect(await wordsOf()).toEqual([
    'Rules declared the same, other files of the module: oak. Reason: as it must be',
    'Changed: rules_sha256 of oak, a -> b.',
  ])
  await publish(C, [edited, elm])
  expect(await dataOf(C, 'strategies/oak/meta')).toMatchObject({
    ...{ rules_sha256: 'b', rules_since: A, published_since: A },
    rules_declared_same: [{ at: B, reason: 'as it must be' }],
  })
})

test('rules of a raised version begin with it, and restated values of the same rules leave their date', async () => {
  await publish(B, [{ ...restated, rules_sha256: 'a' }, elm], declaring('restate', 'oak'))
  expect(await dataOf(B, 'strategies/oak/meta')).toMatchObject({ rules_since: A, published_since: B })
  await publish(
    C,
    [{ ...restated, rules_sha256: 'b', module_version: '2' }, elm],
    declaring('restate', 'oak'),
  )
  expect(await dataOf(C, 'strategies/oak/meta')).toMatchObject({ rules_since: C, published_since: C })
  expect(await dataOf(C, 'strategies/elm/meta')).toMatchObject({ rules_since: null, rules_sha256: null })
})
