// The purge after a publication, against a small cache: in what order it asks, and what becomes of it when things fail.
import { describe, expect, test } from 'vitest'
import type { Cdn } from '#cli/cdn.ts'
import { type PurgeOrder, pauseAfter, purgeCaches, SETTLE_MS } from '#cli/purge-caches.ts'
import { readPurgeDue } from '#static-build/purge-due.ts'
import { createMemoryStore } from '#storage/memory-store.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { pointAt } from '#test/support/history/point-to.ts'
import { type SmallCache, startSmallCache } from '#test/support/history/small-cache.ts'

const [OLD, NEW, NEWEST] = ['2025-02-24T00:15:00Z', '2025-02-25T00:15:00Z', '2025-02-26T00:15:00Z'] as const

/** A path that the purge itself does not ask for. */
const OTHER = '/v1/strategies'

type World = {
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly cache: SmallCache
  /** The pauses that were made. */
  readonly pauses: number[]
  /** Purges; `during` is what happens in each pause. */
  readonly purge: (
    during?: (pause: number) => void | Promise<void>,
    cdn?: Partial<Cdn>,
  ) => ReturnType<typeof purgeCaches>
}

/** A cache full of the old version, whose tier still serves it, and a pointer that has just moved on. */
async function justPublished(): Promise<World> {
  const [store, privateStore] = [createMemoryStore(), createMemoryStore()]
  await pointAt(store, OLD, 'digest of the old one')
  await pointAt(store, NEW, 'digest of the new one')
  const cache = await startSmallCache(OLD)
  for (const path of ['/v1/dataset', OTHER]) cache.kept.set(path, OLD)
  const pauses: number[] = []
  const purge: World['purge'] = (during = () => {}, changes = {}) => {
    const cdn: Cdn = { purgeUrls: [cache.url], purgeCommand: null, urls: [cache.url], ...changes }
    const pause: PurgeOrder['pause'] = async ms => {
      await during(pauses.push(ms))
    }
    return purgeCaches({ store, privateStore, cdn, env: { PATH: process.env.PATH }, pause })
  }
  return { store, privateStore, cache, pauses, purge }
}

const isDue = async ({ store, privateStore }: World): Promise<boolean> =>
  (await readPurgeDue(store, privateStore)) !== null

const holdsOld = ({ cache }: World): boolean => [...cache.kept.values()].includes(OLD)

test('caches give the new version afterwards, and nothing is due any more', async () => {
  const world = await justPublished()
  world.cache.served = NEW
  expect(await world.purge()).toEqual({ kind: 'purged', seq: 2, version: NEW })
  expect([holdsOld(world), await isDue(world)]).toEqual([false, false])
  const asked = world.cache.asked.length
  expect(await world.purge()).toEqual({ kind: 'nothing due' })
  expect(world.cache.asked.length).toBe(asked)
})

test('nothing is purged before the tier serves the new version: it would fill the cache with the old one', async () => {
  const world = await justPublished()
  const outcome = await world.purge(pause => {
    if (pause < 4) expect(world.cache.asked.every(line => line === 'GET /readyz')).toBe(true)
    if (pause === 4) world.cache.served = NEW
  })
  expect(outcome).toMatchObject({ kind: 'purged', version: NEW })
  expect(holdsOld(world)).toBe(false)
})

test('an answer of the old version that reaches the cache after a purge is met by the last one', async () => {
  const world = await justPublished()
  world.cache.served = NEW
  await world.purge(() => {
    world.cache.kept.set(OTHER, OLD)
  })
  expect(world.pauses).toEqual([SETTLE_MS])
  expect(holdsOld(world)).toBe(false)
})

test('a tier beside it that still serves the old version sends it back to the start', async () => {
  const world = await justPublished()
  world.cache.served = NEW
  const outcome = await world.purge(pause => {
    world.cache.served = pause === 1 ? OLD : NEW // whom the balancer sends one to
  })
  expect(outcome).toMatchObject({ kind: 'purged' })
  expect(world.pauses).toEqual([SETTLE_MS, pauseAfter(1), SETTLE_MS])
})

describe('a purge that is lost', () => {
  test.each([403, 500, 503])('because the cache answers %i for a while is sent again', async status => {
    const world = await justPublished()
    world.cache.served = NEW
    world.cache.failure = status
    const outcome = await world.purge(pause => {
      if (pause === 5) world.cache.failure = null
    })
    expect(outcome).toMatchObject({ kind: 'purged' })
    expect(holdsOld(world)).toBe(false)
  })

  test('for good is told with its reason, stays due, and is done by the next one', async () => {
    const world = await justPublished()
    world.cache.served = NEW
    world.cache.failure = 403
    const outcome = await world.purge()
    expect(outcome).toEqual({
      kind: 'late',
      why: `${world.cache.url}/readyz answers 403 with no version, not with ${NEW}`,
    })
    expect([holdsOld(world), await isDue(world)]).toEqual([true, true])
    world.cache.failure = null
    expect(await world.purge()).toMatchObject({ kind: 'purged' })
    expect(holdsOld(world)).toBe(false)
  })

  test('while one of two caches takes it counts as lost', async () => {
    const world = await justPublished()
    world.cache.served = NEW
    const second = await startSmallCache(NEW)
    second.kept.set('/v1/dataset', OLD)
    second.failure = 503
    const urls = [world.cache.url, second.url]
    const outcome = await world.purge(() => {}, { purgeUrls: urls, urls })
    expect(outcome).toMatchObject({ kind: 'late', why: expect.stringContaining(second.url) })
    expect(await isDue(world)).toBe(true)
  })
})

test('whoever dies in any pause leaves it due, and the next one finishes', async () => {
  for (const lastPause of [1, 2, 3]) {
    const world = await justPublished()
    const dying = world.purge(pause => {
      if (pause === 2) world.cache.served = NEW
      if (pause === lastPause) throw new Error('killed')
    })
    await expect(dying).rejects.toThrow('killed')
    expect(await isDue(world)).toBe(true)
    world.cache.served = NEW
    expect(await world.purge()).toMatchObject({ kind: 'purged', version: NEW })
    expect(holdsOld(world)).toBe(false)
  }
})

test('a version that is published meanwhile is the one that caches must give', async () => {
  const world = await justPublished()
  world.cache.served = NEW
  const outcome = await world.purge(async pause => {
    if (pause !== 1) return
    await pointAt(world.store, NEWEST, 'digest of the newest')
    world.cache.served = NEWEST
  })
  expect(outcome).toEqual({ kind: 'purged', seq: 3, version: NEWEST })
  expect([...world.cache.kept.values()]).toEqual([NEWEST])
})

test('pauses grow and are bounded, and all of them are longer than a tier needs to follow the pointer', async () => {
  const world = await justPublished()
  expect(await world.purge()).toMatchObject({ kind: 'late' })
  expect(world.pauses).toEqual(world.pauses.toSorted((a, b) => a - b))
  const total = world.pauses.reduce((a, b) => a + b, 0)
  expect(total).toBeGreaterThan(45_000)
  expect(total).toBeLessThan(90_000)
})

describe('a command that purges', () => {
  test('is told tags and version in its environment', async () => {
    const world = await justPublished()
    world.cache.served = NEW
    const url = `${world.cache.url}/$PURGE_TAGS/$PURGE_VERSION`
    const purgeCommand = `${process.execPath} -e 'fetch(process.argv[1],{method:"PURGE",headers:{xkey:"unpinned"}})' "${url}"`
    expect(await world.purge(undefined, { purgeUrls: [], purgeCommand })).toMatchObject({ kind: 'purged' })
    expect(world.cache.asked).toContain(`PURGE /v-20250224T001500Z/${NEW}`)
    expect(holdsOld(world)).toBe(false)
  })

  test('that fails is told by how it ended, and nothing of what it holds or prints', async () => {
    const world = await justPublished()
    world.cache.served = NEW
    const purgeCommand = 'echo token-in-output >&2; : token-in-command; exit 7'
    const outcome = await world.purge(undefined, { purgeUrls: [], purgeCommand })
    expect(outcome).toEqual({
      kind: 'late',
      why: 'CDN_PURGE_COMMAND ended with 7; what it printed is not shown: run it by hand to see',
    })
  })
})

test('what may be a token in an address is in no message', async () => {
  const world = await justPublished()
  world.cache.served = NEW
  const refusing = await startSmallCache(NEW)
  refusing.failure = 503
  for (const [place, why] of [
    [refusing.url, 'answers the purge with 503'],
    ['http://127.0.0.1:1', 'cannot be asked: '], // fetch never goes there
  ]) {
    const outcome = await world.purge(() => {}, { purgeUrls: [`${place}/secret?token=secret`] })
    expect(outcome).toMatchObject({ kind: 'late', why: expect.stringContaining(`${place} ${why}`) })
    expect(JSON.stringify(outcome)).not.toContain('secret')
  }
})
