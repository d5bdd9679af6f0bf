// A build on a fleet publishes the bytes of the build on one machine, whatever happens to its workers, or ends clearly.
import { expect, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { readPlan, readResult, saveResult } from '#fleet/run-files.ts'
import { doTask, joinRun } from '#fleet/worker.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { HAND_VERSION } from '#test/support/books/hand-snapshot.ts'
import { createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { damage } from '#test/support/stores/store-doubles.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'
import { pruneAll } from '../static-build/hand-order.ts'
import { digestsOf } from '../static-build/tree.ts'
import { asking, begun, CODE, expectUnpublished, IDS, RUN, share, useFleet } from './fleet-scene.ts'

const { coordinate, workerOf, altering, losing, expectWhole } = useFleet()

/** A store that refuses every write after the first `writes`: a worker that was killed there. */
function dyingAfter(store: ObjectStore, writes: number): ObjectStore {
  let left = writes
  return asking(store, () => {
    if (left-- <= 0) throw new Error('killed')
  })
}

/** Stores whose coordinator was killed when it had cut the parts. */
async function leftBehind() {
  const stores = createMemoryStores()
  const dying = { ...stores, store: dyingAfter(stores.store, 0) }
  await expect(coordinate(dying)).rejects.toThrow('killed')
  return stores
}

test.each([1, 3, 7])('the shares of %i workers publish the bytes of one machine', async of => {
  const stores = createMemoryStores()
  const shares = Array.from({ length: of }, (_, index) => share(workerOf(stores), index, of))
  await Promise.all([coordinate(stores), ...shares])
  await expectWhole(stores)
})

test('shares of a fleet that run twice, at the same time or later, change nothing', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores)
  await Promise.all([0, 1, 1, 0].map(index => share(workerOf(stores), index, 2)))
  await building
  await expectWhole(stores)
  expect(await joinRun(workerOf(stores), RUN, 'render')).toBeNull()
})

test('a share of a fleet that is killed after any number of writes is finished by the other one', async () => {
  for (let writes = 0; writes < 40; writes += 5) {
    const stores = createMemoryStores()
    const building = coordinate(stores)
    const dying = workerOf(stores, { store: dyingAfter(stores.store, writes) })
    await expect(share(dying, 0, 2)).rejects.toThrow('killed')
    await Promise.all([building, share(workerOf(stores), 1, 2)])
    await expectWhole(stores)
  }
})

test('a share of a fleet is tried again if the store refuses for a moment', async () => {
  const stores = createMemoryStores()
  const refused = new Set<string>()
  const store = asking(stores.store, key => {
    if (!key.endsWith('meta.json') || refused.has(key)) return
    refused.add(key)
    throw new Error('503')
  })
  await Promise.all([coordinate(stores), share(workerOf(stores, { store }), 0, 1)])
  expect(refused.size).toBe(IDS.length)
  await expectWhole(stores)
})

test('a worker of other code, or of a machine that makes other bytes, is refused before it writes', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores)
  await begun(workerOf(stores))
  const before = await digestsOf(stores.privateStore)
  await expect(joinRun(workerOf(stores, { code: 'other' }), RUN, 'render')).rejects.toThrow(
    'the run night-1 was started by code c0de, and this worker has other: use the same release',
  )
  await expect(joinRun(workerOf(stores, { renderer: altering(() => true) }), RUN, 'render')).rejects.toThrow(
    'this worker makes other bytes of ash of the run night-1 than its coordinator',
  )
  expect(await digestsOf(stores.privateStore)).toEqual(before)
  await Promise.all([building, share(workerOf(stores), 0, 1)])
  await expectWhole(stores)
})

test('a worker that writes other bytes than another worker ends the build, which publishes nothing', async () => {
  const stores = createMemoryStores()
  const key = `${versionFolder(HAND_VERSION)}/strategies/yew/stats.json`
  await stores.store.create(key, new TextEncoder().encode('{}'), { content_type: 'application/json' })
  const refused = expect(coordinate(stores, { waitMs: 0 })).rejects.toThrow('exists with other bytes')
  const run = await begun(workerOf(stores))
  await expect(doTask(workerOf(stores), run, run.plan.tasks.at(-1)!)).rejects.toThrow(
    'exists with other bytes',
  )
  await refused
  await expectUnpublished(stores)
})

test('a worker that writes other bytes of a result than another worker is refused, and both are named', async () => {
  const place = { privateStore: createMemoryStores().privateStore, run: RUN, phase: 'compute' } as const
  const save = (worker: string, text: string) =>
    saveResult(place, 'ash', { worker, bytes: new TextEncoder().encode(text) })
  await save('a', 'the same')
  await save('b', 'the same')
  await expect(save('c', 'another')).rejects.toThrow(
    'the workers a and c have made other bytes of ash (compute): find out which of the two is wrong',
  )
  expect((await readResult(place, 'ash')).worker).toBe('a')
})

test('a worker that writes other bytes than the coordinator is found by one strategy of each worker', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores)
  const bad = workerOf(stores, { name: 'bad', renderer: altering(key => !key.includes('/ash/')) })
  const run = await begun(bad)
  const [, ...others] = run.plan.tasks
  for (const strategy of others) await doTask(bad, run, strategy)
  const refused = expect(building).rejects.toThrow(
    /^the worker bad made other bytes of the strategy \w+ than this machine \(render\)/,
  )
  await share(workerOf(stores), 0, 1)
  await refused
  await expectUnpublished(stores)
})

test('a worker that writes other bytes than its lines say is found when all files are read back', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores)
  const store: ObjectStore = {
    ...stores.store,
    create: (key, bytes, headers) =>
      stores.store.create(key, key.endsWith('curve.json') ? damage(bytes) : bytes, headers),
  }
  const refused = expect(building).rejects.toThrow('does not hold what was written to it')
  await share(workerOf(stores, { store }), 0, 1)
  await refused
  await expectUnpublished(stores)
})

test('a worker that writes fewer files than the strategy has is found by its lines', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores)
  const run = await begun(workerOf(stores))
  const refused = expect(building).rejects.toThrow(/^the worker lazy recorded \d+ of the \d+ files in v1/)
  await doTask(workerOf(stores, { name: 'lazy', renderer: losing() }), run, run.plan.tasks[2]!)
  await refused
  await expectUnpublished(stores)
})

test('pruning removes what is left of the runs of fleets', async () => {
  const stores = await leftBehind()
  expect((await stores.privateStore.list('fleet/')).length).toBeGreaterThan(IDS.length)
  await pruneAll(stores, HAND_VERSION)
  expect(await stores.privateStore.list('fleet/')).toEqual([])
})

test('the coordinator of a fleet renders everything itself if no worker comes', async () => {
  const stores = createMemoryStores()
  const notes: string[] = []
  const workers = await coordinate(stores, { waitMs: 0, note: line => notes.push(line) })
  await expectWhole(stores)
  expect(notes).toEqual([
    'note: no worker with code c0de finished a strategy for 0 s (render): this machine does the other 5',
  ])
  expect(workers).toEqual({ coordinator: 5 })
})

test.each([
  ['store', 60, 9],
  ['privateStore', 16, 1],
] as const)(
  'a coordinator that was killed after any number of writes to the %s is finished by the same command',
  async (part, most, step) => {
    for (let writes = 0; writes < most; writes += step) {
      const stores = createMemoryStores()
      const dying = { ...stores, [part]: dyingAfter(stores[part], writes) }
      await expect(coordinate(dying, { waitMs: 0 })).rejects.toThrow('killed')
      await coordinate(stores, { waitMs: 0 })
      await expectWhole(stores)
    }
  },
)

test('the coordinator of a fleet uses what workers finished while it was away', async () => {
  const stores = await leftBehind()
  await share(workerOf(stores), 0, 1)
  expect(await coordinate(stores)).toEqual({ worker: 5 })
  await expectWhole(stores)
})

test('the coordinator of a fleet refuses the run of another build, and one that is over', async () => {
  const stores = await leftBehind()
  await expect(coordinate(stores, { code: 'other', waitMs: 0 })).rejects.toThrow(
    'the run night-1 has the plan of another build: name another one in --run',
  )
  const plan = await readPlan({ privateStore: stores.privateStore, run: RUN, phase: 'render' })
  expect(plan).toMatchObject({ code: CODE, version: HAND_VERSION })
  await coordinate(stores, { waitMs: 0 })
  await expect(coordinate(stores, { waitMs: 0 })).rejects.toThrow(
    `the run night-1 is over, it published ${HAND_VERSION}: name another one in --run`,
  )
  await expectWhole(stores)
})

test('workers of a fleet refuse a part that was damaged', async () => {
  const stores = createMemoryStores()
  const building = coordinate(stores, { waitMs: 0 })
  building.catch(() => {})
  const run = await begun(workerOf(stores))
  const { input } = run.plan.tasks[1]!
  const key = `fleet/${RUN}/inputs/${input}`
  await stores.privateStore.replace(key, damage(await bytesOf(stores.privateStore, key)), {
    content_type: '',
  })
  await expect(doTask(workerOf(stores), run, { id: 'new', input })).rejects.toThrow(
    `memory:private/${key}, an input of the run ${RUN}, is damaged: remove fleet/${RUN}/ from the private store`,
  )
})
