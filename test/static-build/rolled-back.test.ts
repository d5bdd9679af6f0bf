// What users have seen is published history, also where it was rolled back, or cannot be read any more: a version that would alter it is
// refused, and says so where it is allowed.

import { beforeEach, describe, expect, test } from 'vitest'
import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { definitionsSince, METHOD_REVISION } from '#core/dataset/definitions.ts'
import { changesOf as changesOnPage } from '#pages/versions.ts'
import { readPublishedSnapshot } from '#static-build/compare-with-published.ts'
import { declareAll } from '#static-build/declarations.ts'
import type { PublishOrder } from '#static-build/publish-version.ts'
import { StoreError } from '#storage/object-store.ts'
import { readHead, readLog } from '#storage/pointer-log.ts'
import { UnreadableError } from '#storage/published-files.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import {
  createMemoryStores,
  type MemoryStores,
  publishInMemory,
  storesAfter,
} from '#test/support/books/publish-in-memory.ts'
import { pointAt } from '#test/support/history/point-to.ts'
import {
  changesIn,
  dataIn,
  NOTHING_DECLARED,
  pruneAll,
  publishReturns,
  renderHere,
  versionOf,
} from './hand-order.ts'
import { backTo } from './program-store.ts'
import { describeDifferences, digestsOf } from './tree.ts'

const night = (day: number): string => `2024-06-0${day}T00:15:00Z`

const [A, B, C, D, E] = [night(1), night(2), night(3), night(4), night(5)]

let stores: MemoryStores

beforeEach(() => {
  stores = createMemoryStores()
})

const publish = (version: string, returns: readonly number[], changes: Partial<PublishOrder> = {}) =>
  publishReturns(stores, version, returns, changes)

const back = (version: string) => backTo(stores, version)

const changesOf = (version: string) => changesIn(stores.store, version)

/** Since when the served version says that oak is published, and what its page of versions says of it. */
async function saidOf(version: string): Promise<readonly string[]> {
  const head = await readHead(stores.store)
  const { dataset, strategies } = await readPublishedSnapshot(stores, head!.entry)
  expect(dataset.version).toBe(version)
  return [strategies[0]!.published_since!, ...changesOnPage(dataset.lineage.at(-1)!)]
}

const ALLOWED = { declared: declareAll('a test') }

describe('a rollback', () => {
  const openRolledBack = storesAfter(async own => {
    await publishReturns(own, A, [0.01, 0.02])
    await publishReturns(own, B, [0.01, 0.02, 0.03])
    await backTo(own, A)
  })

  beforeEach(async () => {
    stores = await openRolledBack()
  })

  test('after a rollback, a day that only the version rolled back had shown is not altered unnoticed', async () => {
    const before = await digestsOf(stores.store)
    const refused = publish(C, [0.01, 0.02, 0.031])
    await expect(refused).rejects.toThrow(
      `the version ${C} would alter history that ${B} published before it was rolled back:\n` +
        '  oak: return of 2024-01-03: 0.03 -> 0.031',
    )
    expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
  })

  test('after a rollback, the same day again, and one more, is only appended to what is served', async () => {
    const { manifest } = await publish(C, [0.01, 0.02, 0.03, 0.04])
    expect(manifest).toMatchObject({ previous: A, history_restated: false })
    const changes = await changesOf(C)
    expect(changes.strategies[0]?.daily.appended).toMatchObject({ from: '2024-01-03', n: 2 })
    expect(changes).not.toHaveProperty('rolled_back')
  })

  test('after a rollback, users see on every page which version had shown what where a restatement is allowed, the same if the build is run again, and no later night is refused', async () => {
    const { manifest } = await publish(C, [0.01, 0.02, 0.031], ALLOWED)
    expect(manifest).toMatchObject({ previous: A, history_restated: true })
    const changes = await changesOf(C)
    expect(changes.strategies[0]?.daily.restated_count).toBe(0)
    expect(changes.rolled_back).toMatchObject({
      version: B,
      strategies: [{ daily: { restated: [{ t: '2024-01-03', old: 0.03, new: 0.031 }] } }],
    })
    expect(await saidOf(C)).toEqual([C, 'Restated: oak, 1 daily return. Reason: a test'])
    const before = await digestsOf(stores.store)
    await publish(C, [0.01, 0.02, 0.031], ALLOWED)
    expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
    const { manifest: next } = await publish(D, [0.01, 0.02, 0.031, 0.04])
    expect(next).toMatchObject({ previous: C, history_restated: false })
  })

  test('after a rollback and forth again to a restatement, what that one replaced raises no alarm', async () => {
    await publish(C, [0.01, 0.021, 0.03], ALLOWED)
    await back(A)
    await back(C)
    expect((await publish(D, [0.01, 0.021, 0.03, 0.04])).manifest.history_restated).toBe(false)
  })

  test('after a rollback, a version that was removed is followed only if that is declared, and the one before it is compared', async () => {
    await publish(C, [0.01, 0.02, 0.03, 0.04])
    await back(A)
    await stores.store.remove(manifestKey(C))
    await expect(publish(D, [0.01, 0.02, 0.031])).rejects.toThrow(`with --after-lost ${C} --reason TEXT`)
    const lost = { ...NOTHING_DECLARED, after_lost: new Set([C]), reason: 'a test' }
    await expect(publish(D, [0.01, 0.02, 0.031], { declared: lost })).rejects.toThrow(
      `that ${B} published before`,
    )
    await publish(D, [0.01, 0.02, 0.03], { declared: lost })
    expect(await saidOf(D)).toEqual([D, `Not compared with ${C}, which could not be read. Reason: a test`])
  })

  test('a version that was rolled back and pruned cannot be built again with other days', async () => {
    await pruneAll(stores, D)
    await expect(publish(B, [0.01, 0.02, 0.031])).rejects.toThrow(
      `${B} was published with other files: build under a new --version`,
    )
    expect(await versionOf(stores.store)).toBe(A)
  })

  test('after a rollback, a version whose snapshot is lost is shown to users, beside what is known of the served one', async () => {
    await stores.privateStore.remove(privateKey(B, 'snapshot.json'))
    await expect(publish(C, [0.01, 0.02, 0.03])).rejects.toThrow(`the change from ${B} cannot be computed`)
    await publish(C, [0.01, 0.02, 0.03], ALLOWED)
    const changes = await changesOf(C)
    expect(changes).toMatchObject({ previous: A, history_restated: true, not_compared: [B] })
    expect(changes.strategies[0]?.daily.appended).toMatchObject({ n: 1 })
    expect(changes).not.toHaveProperty('rolled_back')
  })
})

test('what an allowed restatement replaced raises no alarm, even where a rollback goes to before it', async () => {
  await publish(A, [0.01, 0.02])
  await publish(B, [0.01, 0.02, 0.03])
  await publish(C, [0.01, 0.02, 0.031], ALLOWED)
  expect((await publish(D, [0.01, 0.02, 0.031, 0.04])).manifest.history_restated).toBe(false)
  await back(A)
  expect((await publish(E, [0.01, 0.02, 0.031, 0.04, 0.05])).manifest).toMatchObject({
    previous: A,
    history_restated: false,
  })
})

describe('a lost private snapshot', () => {
  beforeEach(async () => {
    await publish(A, [0.01, 0.02])
    await stores.privateStore.remove(privateKey(A, 'snapshot.json'))
  })

  test('a served version whose private snapshot is lost ends the build with the way out, although it is the only version', async () => {
    const refused = publish(B, [0.01, 0.02, 0.03])
    await expect(refused).rejects.toThrow(UnreadableError)
    await expect(refused).rejects.toThrow(
      /is missing: restore it from a copy.* publish with --after-lost \S+ --reason TEXT/,
    )
    expect(await versionOf(stores.store)).toBe(A)
  })

  test.each([
    ['only that', () => {}],
    ['its manifest too', () => stores.store.remove(manifestKey(A))],
  ])(
    'a served version that lost %s is followed if that is allowed, and users see that it is unknown',
    async (_what, harm) => {
      await harm()
      const { manifest } = await publish(B, [0.01, 0.02, 0.03], ALLOWED)
      expect(manifest).toMatchObject({ previous: A, history_restated: true })
      expect(await changesOf(B)).toEqual({
        version: B,
        previous: A,
        history_restated: true,
        added: [],
        removed: [],
        strategies: [],
        not_compared: [A],
        declared: [{ what: 'after_lost', of: A, reason: 'a test' }],
      })
      expect((await publish(C, [0.01, 0.02, 0.03, 0.04])).manifest.history_restated).toBe(false)
    },
  )

  test('a private store that is away ends the build, whatever is allowed', async () => {
    const away = {
      ...stores.privateStore,
      read: async (key: string) => Promise.reject(new StoreError('read', 'memory:private', key, 'no route')),
    }
    await expect(publish(B, [0.01, 0.02], { ...ALLOWED, privateStore: away })).rejects.toThrow(StoreError)
    expect(await versionOf(stores.store)).toBe(A)
  })
})

test('a version that came in between while another was made has won, and the other was compared with too little', async () => {
  await publish(A, [0.01, 0.02])
  const between: PublishOrder['render'] = async order => {
    await pointAt(stores.store, C, 'c'.repeat(64))
    return renderHere(order)
  }
  const late = publish(B, [0.01, 0.02, 0.03], { render: between })
  await expect(late).rejects.toThrow(`was faster: entry 2 (publish ${C})`)
  expect((await readHead(stores.store))?.entry.version).toBe(C)
  expect(await readLog(stores.store)).toHaveLength(2)
})

test('a version with other definitions is published without permission, and announces them once', async () => {
  const at = (version: string, method_revision: number, returns: readonly number[]) =>
    publish(version, returns, {
      snapshot: handSnapshot([{ id: 'oak', returns }], { version, method_revision }),
    })
  await at(A, 1, [0.01, -0.02])
  await at(B, METHOD_REVISION, [0.01, -0.02, 0.03])
  await at(C, METHOD_REVISION, [0.01, -0.02, 0.03])
  expect(await changesOf(B)).toMatchObject({ history_restated: false, definitions: definitionsSince(1) })
  expect((await changesOf(C)).definitions).toEqual([])
})

test('a version in another snapshot format is compared with none: the build ends, or says that it is unknown', async () => {
  const old = handSnapshot([{ id: 'oak', returns: [0.01] }], { version: A })
  await publishInMemory(stores, old, manifest => ({ ...manifest, snapshot_format: 0 }))
  await expect(publish(B, [0.01, -0.02])).rejects.toThrow(
    /has format 0, and this program reads format 1: use the program that made it\. Nothing was published.*--after-lost 2024-06-01T00:15:00Z --reason TEXT/,
  )
  await publish(B, [0.01, -0.02], ALLOWED)
  expect(await changesOf(B)).toMatchObject({ history_restated: true, not_compared: [A] })
})

test('a version that alters what was published is refused with strategy, date, old and new, and nothing is written; where it is allowed it says so in manifest, changes, pointer and answer, which the version after it does not', async () => {
  await publish(A, [0.01, -0.02, 0.03])
  const before = await digestsOf(stores.store)
  const altered = [0.01, -0.02, 0.0301, 0.04]
  const refused = publish(B, altered)
  await expect(refused).rejects.toThrow('oak: return of 2024-01-03: 0.03 -> 0.0301')
  await expect(refused).rejects.toThrow(
    'publish the new ones with --restate oak --reason TEXT, which every user sees',
  )
  expect(describeDifferences(before, await digestsOf(stores.store))).toEqual([])
  const restated = { version: B, history_restated: true }
  expect((await publish(B, altered, ALLOWED)).manifest).toMatchObject(restated)
  expect(await changesOf(B)).toMatchObject(restated)
  expect((await readHead(stores.store))?.entry).toMatchObject(restated)
  expect(await dataIn(stores.store, B, 'dataset')).toMatchObject(restated)
  await publish(C, altered)
  expect(await dataIn(stores.store, C, 'dataset')).toMatchObject({ version: C, history_restated: false })
})
