// Numbers are promised before they are given, so that none is given twice after the end of the log was lost.
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { problemsOf } from '#signals/alerts.ts'
import { MARK_AHEAD, readHighWater, readLogEnd } from '#signals/log/high-water.ts'
import { openLog } from '#signals/log/open-log.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { HEAD, LOG, RELAY_CURSOR } from '#signals/redis/keys.ts'
import { readOverview } from '#signals/views/overview.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { until } from '../../support/signals/delivery.ts'
import { operatorParts } from '../../support/signals/operator.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'
import { fire, NOW_MS } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'

useOwnRedis()

let privateStore = createMemoryStore('private')
let epochs = 0
beforeEach(() => {
  privateStore = createMemoryStore('private')
})

/** A process that gives numbers, over a connection of its own. */
async function openProcess() {
  const own = await server.connect()
  const newEpoch = () => `epoch-${++epochs}`
  const log = await openLog(own, { privateStore, newEpoch, now: () => NOW_MS, allowsUnsafeRedis: false })
  return { ...log, own, fire: (id: string) => fire(own, id, 'alder') }
}

const epochOf = async (): Promise<string> => (await readHead(redis)).epoch
const markOf = () => readHighWater(privateStore)

test('a number is promised before it is given, and a clean stop takes back what was not given', async () => {
  const [one, two] = [await openProcess(), await openProcess()]
  expect([await markOf(), await one.fire('a'), await markOf()]).toEqual([0, 1, MARK_AHEAD])
  await redis.hset(HEAD, 'seq', MARK_AHEAD)
  expect((await Promise.all(['b', 'c'].map(two.fire))).toSorted()).toEqual([1_001, 1_002])
  await one.close()
  expect([await markOf(), await readLogEnd(privateStore)]).toEqual([1_002, 1_002])
  expect([await two.fire('d'), await markOf()]).toEqual([1_003, 2_002]) // it promises anew
  await two.close()
  const epoch = await epochOf()
  await redis.hset(HEAD, 'run', 'of-before')
  expect(await (await openProcess()).fire('e')).toBe(1_004)
  expect(await epochOf()).toBe(epoch)
})

test.each([0, 1, 3])(
  'a log whose end may be lost, with %i of three signals, goes on above every promised number under a new epoch, with an alert',
  async kept => {
    const before = await openProcess()
    for (const id of ['a', 'b', 'c']) await before.fire(id)
    const epoch = await epochOf()
    for (const { seq } of await readAfter(redis, kept, 9)) await redis.xdel(LOG, `${seq}-0`)
    await redis.hset(HEAD, { seq: kept, run: 'of-before' })
    await redis.set(RELAY_CURSOR, kept)
    expect(await (await openProcess()).fire('d')).toBe(2 * MARK_AHEAD + 1)
    expect(await epochOf()).not.toBe(epoch)
    expect(await before.fire('e')).toBe(2 * MARK_AHEAD + 2) // it follows into the new epoch
    const overview = await readOverview(operatorParts(redis))
    expect(overview.relayLag).toBe(2)
    const message = expect.stringContaining(`up to ${kept} are there, and numbers up to 2000 may`)
    expect(problemsOf(overview)).toContainEqual(expect.objectContaining({ kind: 'log_continued', message }))
  },
)

async function restart(...living: readonly Redis[]): Promise<void> {
  await server.kill()
  await server.restart()
  await until(() => [redis, ...living].every(({ status }) => status === 'ready'))
}

test('a process that outlives its Redis goes on at once, and after one that dies with it the log goes on above the mark', async () => {
  const first = await openProcess()
  await first.fire('a')
  const epoch = await epochOf()
  await restart(first.own)
  await first.confirm()
  const second = await openProcess()
  expect([await first.fire('b'), await second.fire('c')]).toEqual([2, 3])
  expect(await epochOf()).toBe(epoch)
  await restart()
  expect(await (await openProcess()).fire('d')).toBe(2 * MARK_AHEAD + 1)
  expect((await readOverview(operatorParts(redis))).relayLag).toBe(4) // numbers that were never given do not wait
})

test('a process that outlives Redis beside one that died continues above what the dead one gave', async () => {
  const [dead, living] = [await openProcess(), await openProcess()]
  for (const id of ['a', 'b', 'c', 'd', 'e']) await dead.fire(id)
  for (const { seq } of await readAfter(redis, 3, 9)) await redis.xdel(LOG, `${seq}-0`)
  await redis.hset(HEAD, { seq: 3, run: 'of-before' })
  expect(await living.fire('f')).toBe(2 * MARK_AHEAD + 1)
})

test.each([
  ['whose private store takes no promise', 'ENOSPC', () => redis.hset(HEAD, 'seq', MARK_AHEAD)],
  ['whose head is behind its log', 'the log holds signal 2', () => redis.xadd(LOG, '2-0', 'body', '{}')],
])(
  'a service %s is not ready, because a fire is refused, and a look at its readiness changes nothing',
  async (_, why, spoil) => {
    const { own, fire } = await openProcess()
    const { app } = createTestSignals(own)
    const status = async () => (await app.request('/readyz')).status
    expect([await status(), await markOf(), await fire('a'), await status()]).toEqual([200, 0, 1, 200])
    privateStore.replace = async () => Promise.reject(new Error('ENOSPC'))
    await spoil()
    expect(await status()).toBe(503)
    await expect(fire('b')).rejects.toThrow(why)
  },
)

test('a clean stop that is late takes back nothing that another process has promised meanwhile', async () => {
  const [stops, other] = [await openProcess(), await openProcess()]
  for (const id of ['a', 'b']) await stops.fire(id)
  const { replace } = privateStore
  privateStore.replace = async (...args) => {
    if (args[0].includes('log-end')) return replace(...args)
    Object.assign(privateStore, { replace })
    await other.fire('c') // after the stop has taken back the promise in Redis
    await replace(...args)
    throw new Error('killed')
  }
  await expect(stops.close()).rejects.toThrow('killed')
  expect(await markOf()).toBe(MARK_AHEAD)
})
