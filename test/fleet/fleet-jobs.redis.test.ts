// Workers that take jobs from a real queue: what they refuse, what they fail at, and what a lost job costs.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { createJobs, type Patience, serveJobs } from '#fleet/queue.ts'
import type { Worker } from '#fleet/worker.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { createMemoryStores } from '#test/support/books/publish-in-memory.ts'
import { atEnd } from '#test/support/ends.ts'
import { redis, server, useRedis } from '../support/signals/test-redis.ts'
import { asking, CODE, expectUnpublished, IDS, RUN, useFleet } from './fleet-scene.ts'

const { coordinate, workerOf, altering, expectWhole } = useFleet()

useRedis()

/** What is silent is looked for often. A busy machine takes no job from a worker that is well: its lock lasts. */
const PATIENCE: Patience = { lockMs: 60_000, lookMs: 200 }

/** BullMQ takes a command that waits for jobs as lost after six seconds, and connects again. */
const LONGER_THAN_A_WAIT_MS = 6_500
const CONNECTED_BY_THEN_MS = 300

/** Short, so that a silent worker is noticed at once. */
const IMPATIENCE: Patience = { lockMs: 1_000, lookMs: 200 }

function serve(worker: Worker) {
  const connection = new Redis(server.url, { maxRetriesPerRequest: null })
  const service = serveJobs(worker, connection, PATIENCE)
  atEnd(async () => {
    await service.close()
    connection.disconnect()
  })
  return service
}

function jobsOf(code = CODE, connection = redis) {
  const queue = createJobs(connection, code, () => {})
  atEnd(queue.close)
  return queue
}

/** A store that does something else at the first `times` writes of files of a strategy. */
function strange(store: ObjectStore, id: string, times: number, act: () => Promise<never>): ObjectStore {
  let left = times
  return asking(store, key => (key.includes(`/${id}/`) && left-- > 0 ? act() : null))
}

test('a coordinator whose first answer of Redis is late gives jobs to workers all the same', async () => {
  const stores = createMemoryStores()
  const hasty = connectRedis(server.url, () => {}, { commandTimeout: 50 })
  atEnd(() => hasty.disconnect())
  await hasty.connect()
  const jobs = jobsOf(CODE, hasty)
  serve(workerOf(stores))
  await Promise.resolve().then(() => {}) // what a queue asks when it is made is under way
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  hasty.options.commandTimeout = 60_000
  await coordinate(stores, { jobs })
  await expectWhole(stores)
})

test('a store that refuses once costs another try; one that always refuses ends the build with its reason', async () => {
  const stores = createMemoryStores()
  const refuse = async () => {
    throw new Error('503 slow down')
  }
  const slow = serve(workerOf(stores, { store: strange(stores.store, 'elm', 1, refuse) }))
  await coordinate(stores, { jobs: jobsOf() })
  await expectWhole(stores)
  await slow.close()

  const others = createMemoryStores()
  await redis.flushall()
  const broken = workerOf(others, { store: strange(others.store, 'fir', Number.POSITIVE_INFINITY, refuse) })
  const service = serve(broken)
  await expect(coordinate(others, { jobs: jobsOf() })).rejects.toThrow(
    `no worker could render the strategy fir: 503 slow down; nothing was published; the same command continues the run ${RUN}`,
  )
  await expectUnpublished(others)
  await service.close()

  const again = jobsOf()
  await again.begin(RUN)
  serve(workerOf(others))
  await coordinate(others, { jobs: again })
  await expectWhole(others)
})

test('a strategy that ends three workers ends the build with its name, and the run continues when it does not', async () => {
  const stores = createMemoryStores()
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ended.catch(() => {})
  const kill = () => reject(new Error('killed'))
  const deaths = new Set<string>()
  /** Loses its connection when it writes the poison, and does no more: to Redis, a process that was killed. */
  const servePoisoned = (name: string): void => {
    const connection = new Redis(server.url, { maxRetriesPerRequest: null })
    const die = () => {
      deaths.add(name)
      connection.disconnect()
      return ended
    }
    const store = strange(stores.store, 'fir', Number.POSITIVE_INFINITY, die)
    // One job at a time: no other job is lost with the poison.
    const service = serveJobs({ ...workerOf(stores, { name, store }), lanes: 1 }, connection, IMPATIENCE)
    atEnd(() => {
      kill()
      return service.close()
    })
  }
  for (const name of ['a', 'b', 'c']) servePoisoned(name)
  const refused = expect(coordinate(stores, { jobs: jobsOf() })).rejects.toThrow(
    /^no worker could render the strategy fir: job stalled more than allowable limit; nothing was published; the same command continues/,
  )
  await expect.poll(() => deaths.size).toBe(3)
  serve(workerOf(stores))
  await refused
  await expectUnpublished(stores)
  kill()
  const again = jobsOf()
  await again.begin(RUN)
  await coordinate(stores, { jobs: again })
  await expectWhole(stores)
})

test('a worker of other code never sees a job', async () => {
  const stores = createMemoryStores()
  serve(workerOf(stores, { code: 'other', name: 'other' }))
  serve(workerOf(stores, { name: 'own' }))
  expect(await coordinate(stores, { jobs: jobsOf() })).toEqual({ own: IDS.length })
  await expectWhole(stores)
})

test('a worker that makes other bytes gives its job back and ends before it writes', async () => {
  const stores = createMemoryStores()
  const bad = serve(workerOf(stores, { name: 'bad', renderer: altering(() => true) }))
  const building = coordinate(stores, { jobs: jobsOf() })
  await expect(bad.failed).rejects.toThrow('this worker makes other bytes of ash of the run night-1')
  serve(workerOf(stores))
  await building
  await expectWhole(stores)
})

test('jobs that were lost are added again, and jobs of a run that is over do nothing', async () => {
  const stores = createMemoryStores()
  const jobs = jobsOf()
  let nowMs = 0
  const building = coordinate(stores, {
    jobs,
    elapsed: () => nowMs,
    pause: async () => {
      nowMs += 500
      if (nowMs === 5_000) {
        await redis.flushall()
        serve(workerOf(stores))
      }
      await new Promise(resolve => void setImmediate(resolve))
    },
  })
  await building
  await jobs.add(RUN, 'render', IDS)
  await expect.poll(async () => redis.llen(`bull:hw-build-${CODE}:wait`)).toBe(0)
  await expectWhole(stores)
})

test('a worker ends while the connection on which it waits for jobs is being made again', async () => {
  const connection = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 600_000 })
  const service = serveJobs(workerOf(createMemoryStores()), connection, PATIENCE)
  const waiting = async () => {
    const clients = String(await redis.client('LIST')).split('\n')
    return clients.filter(line => line.includes('cmd=bzpopmin')).map(line => /id=(\d+)/.exec(line)![1]!)
  }
  await expect.poll(waiting).toHaveLength(1)
  for (const id of await waiting()) await redis.client('KILL', 'ID', id)
  await expect.poll(waiting).toEqual([])
  await service.close()
  connection.disconnect()
})

test('a worker that was frozen while it waited for jobs leaves no connection behind when it ends', async () => {
  const connection = new Redis(server.url, { maxRetriesPerRequest: null })
  const service = serveJobs(workerOf(createMemoryStores()), connection, PATIENCE)
  const waiting = async () => /cmd=bzpopmin/.test(String(await redis.client('LIST')))
  await expect.poll(waiting).toBe(true)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGER_THAN_A_WAIT_MS)
  await pause(0) // its timer comes after that of BullMQ, which connects again
  await service.close()
  connection.disconnect()
  await pause(CONNECTED_BY_THEN_MS)
  expect(String(await redis.client('LIST'))).not.toContain('name=bull:')
})
