// Numbers are promised before they are given, so that none is given twice after the end of the log was lost.
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { problemsOf } from '#signals/alerts.ts'
import { createHighWater, MARK_AHEAD, readHighWater, readLogEnd } from '#signals/delivery/high-water.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { openLog } from '#signals/log/open-log.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { HEAD, LOG, RELAY_CURSOR } from '#signals/redis/keys.ts'
import { readOverview } from '#signals/views/overview.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import type { TestRedis } from '../../support/servers/redis.ts'
import { useOwnRedis } from '../../support/servers/use-redis.ts'
import { until } from '../../support/signals/delivery.ts'
import { operatorParts } from '../../support/signals/operator.ts'
import { fire, NOW_MS } from '../../support/signals/signals.ts'

let server: TestRedis
let redis: Redis
useOwnRedis((connected, started) => {
  redis = connected
  server = started
})

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

/** As Redis is started again on what its disk or a replica has kept: the first signals. */
async function lose(kept: number): Promise<void> {
  for (const { seq } of await readAfter(redis, kept, 1_000)) await redis.xdel(LOG, `${seq}-0`)
  await redis.hset(HEAD, { seq: kept, run: 'of-before' })
}

const epochOf = async (): Promise<string> => (await readHead(redis, () => 'none')).epoch

test('a number is promised before it is given, and a clean stop takes back what was not given', async () => {
  const first = await openProcess()
  expect(await readHighWater(privateStore)).toBe(0)
  expect(await first.fire('a')).toBe(1)
  expect(await readHighWater(privateStore)).toBe(MARK_AHEAD)
  await redis.hset(HEAD, 'seq', MARK_AHEAD)
  expect(await Promise.all(['b', 'c'].map(first.fire))).toEqual([MARK_AHEAD + 1, MARK_AHEAD + 2])
  expect(await readHighWater(privateStore)).toBe(2 * MARK_AHEAD)
  await first.close()
  expect([await readHighWater(privateStore), await readLogEnd(privateStore)]).toEqual([1_002, 1_002])
  const epoch = await epochOf()
  await redis.hset(HEAD, 'run', 'of-before')
  expect(await (await openProcess()).fire('d')).toBe(1_003)
  expect(await epochOf()).toBe(epoch)
})

test('a process promises anew what another one took back at its stop', async () => {
  const [one, two] = [await openProcess(), await openProcess()]
  for (const process of [one, two]) await process.fire(`of ${process === one}`)
  await one.close()
  expect(await two.fire('b')).toBe(3)
  expect(await readHighWater(privateStore)).toBe(2 + MARK_AHEAD)
})

test.each([0, 1, 3])(
  'a log whose end may be lost, with %i of three signals, goes on above every promised number under a new epoch, with an alert',
  async kept => {
    const before = await openProcess()
    for (const id of ['a', 'b', 'c']) await before.fire(id)
    const epoch = await epochOf()
    await redis.set(RELAY_CURSOR, kept)
    await lose(kept)
    const after = await openProcess()
    expect(await after.fire('d')).toBe(2 * MARK_AHEAD + 1)
    expect(await epochOf()).not.toBe(epoch)
    expect(await before.fire('e')).toBe(2 * MARK_AHEAD + 2) // it follows into the new epoch
    const overview = await readOverview(operatorParts(redis))
    expect(overview.relayLag).toBe(2)
    expect(problemsOf(overview)).toContainEqual({
      kind: 'log_continued',
      subject: 'log at 2026-11-21T00:00:05Z',
      message: expect.stringContaining(`signals up to ${kept} are there, and numbers up to 2000 may`),
    })
  },
)

test('a log that is known to have lost its end waits for the operator', async () => {
  const before = await openProcess()
  for (const id of ['a', 'b']) await before.fire(id)
  await createHighWater(privateStore).noteEnd(2)
  await lose(1)
  await expect(openProcess()).rejects.toThrow(LogGoneError)
  await expect(before.fire('c')).rejects.toThrow(LogGoneError)
})

test('a process that outlives its Redis goes on at once, and a service that starts later with it', async () => {
  const first = await openProcess()
  await first.fire('a')
  const epoch = await epochOf()
  await server.kill()
  await server.restart()
  await until(() => first.own.status === 'ready' && redis.status === 'ready')
  await first.confirm()
  const second = await openProcess()
  expect(await Promise.all([first.fire('b'), second.fire('c')])).toEqual([2, 3])
  expect(await epochOf()).toBe(epoch)
})

test('a process whose Redis was killed with it goes on above the mark', async () => {
  await (await openProcess()).fire('a')
  await server.kill()
  await server.restart()
  await until(() => redis.status === 'ready')
  expect(await (await openProcess()).fire('b')).toBe(2 * MARK_AHEAD + 1)
})
