// Builds on a fleet of processes that are killed, frozen and cut off: the bytes of one machine each time.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { listFleetProgress } from '#storage/fleet-progress.ts'
import { openStore } from '#storage/open-store.ts'
import { writeFleetBook } from '../support/books/fleet-book.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import { fileGround, newKeyFile } from '../support/kills/grounds.ts'
import type { Running } from '../support/processes.ts'
import { startTestRedis } from '../support/servers/redis.ts'
import { newS3Stores, s3Env } from '../support/stores/s3-stores.ts'
import { buildArgs, faultsOf, newStores, versionContentOf } from '../support/stores/stores.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const STRATEGIES = 16

let book: string
let whole: Record<string, string>

beforeAll(async () => {
  book = await writeFleetBook(join(await lastingFolder(), 'book'), STRATEGIES)
  const stores = await newStores()
  expect(await highwater(buildArgs(stores, { book }))).toMatchObject({ code: 0 })
  whole = await versionContentOf(stores)
  expect(Object.keys(whole).length).toBeGreaterThan(STRATEGIES * 20)
})

/** Seconds without a strategy after which a coordinator helps: more than a killed worker holds its jobs. */
const WAIT_S = '40'

const buildOn = (stores: Stores, ...how: string[]): string[] => [
  ...buildArgs(stores, { book }),
  ...['--fleet-wait', WAIT_S, ...how],
]

const workerOn = ({ url, privateUrl }: Stores, ...how: string[]): string[] => [
  ...['worker', '--store', url, '--private-store', privateUrl, '--threads', '1', ...how],
]

async function expectWhole(stores: Stores): Promise<void> {
  expect(await versionContentOf(stores)).toEqual(whole)
  expect(await faultsOf(stores)).toEqual([])
  const left = await (await openStore(stores.privateUrl, stores.s3)).list('fleet/')
  expect(left.filter(key => !key.endsWith('/end.json'))).toEqual([])
}

/** Resolves when this many strategies are rendered. */
const rendered = async ({ privateUrl, s3 }: Stores, count: number): Promise<void> => {
  const store = await openStore(privateUrl, s3)
  const lines = async () =>
    (await store.list('fleet/')).filter(key => key.includes('/render/results/')).length
  await expect.poll(lines).toBeGreaterThanOrEqual(count)
}

const killed = async (running: Running): Promise<void> => {
  running.kill('SIGKILL')
  await running.ended
}

/** Writes of a worker after which it is killed: while it joins, writes files, and ends a strategy. */
const KILLED_AT = [0, 1, 2, 9, 30, 77, 150, 211, 300, 391, 480, 555]

test(`a share that is killed at ${KILLED_AT.length} of its writes is finished by its next start and by the other share`, async () => {
  const stores = await newStores()
  const ground = await fileGround(await newKeyFile())
  const building = startHighwater(buildOn(stores, '--run', 'night', '--fleet-wait', '600'))
  for (const nth of KILLED_AT) {
    const exit = await ground.runUntil(workerOn(stores, '--run', 'night', '--share', '1/2'), {
      at: { nth },
      isDone: nth % 2 === 0,
    })
    expect(exit, `${exit.stdout}${exit.stderr}`).toMatchObject({ signal: 'SIGKILL' })
  }
  const shares = ['1/2', '2/2'].map(share => highwater(workerOn(stores, '--run', 'night', '--share', share)))
  for (const exit of await Promise.all(shares)) expect(exit).toMatchObject({ code: 0 })
  expect(await building.ended).toMatchObject({ code: 0 })
  await expectWhole(stores)
})

test('a coordinator that is killed while its workers work goes on where they are, with the version that it began', async () => {
  const stores = await newStores()
  const unnamed = buildOn(stores, '--run', 'night')
  const first = startHighwater(unnamed)
  const worker = startHighwater(workerOn(stores, '--run', 'night', '--share', '1/1'))
  await rendered(stores, 2)
  await killed(first)
  expect(await worker.ended).toMatchObject({ code: 0 })
  unnamed.splice(unnamed.indexOf('--version'), 2)
  const second = await highwater([...unnamed, '--json'])
  expect(second).toMatchObject({ code: 0 })
  const { fleet } = JSON.parse(second.stdout)
  const own = { [`${hostname()}:${worker.pid}`]: STRATEGIES }
  expect(fleet).toMatchObject({ run: 'night', computed: own, rendered: own })
  expect(second.stderr).toMatch(new RegExp(`note: rendered by \\S+:${worker.pid} \\(${STRATEGIES}\\)`))
  await expectWhole(stores)
  const third = await highwater(unnamed)
  expect(third).toMatchObject({ code: 1 })
  expect(third.stderr).toContain('the run night is over')
})

test('workers on a queue that are killed and frozen, a queue that is emptied and one that restarts, change nothing', async () => {
  const redis = await startTestRedis()
  try {
    const stores = await newS3Stores()
    const env = s3Env(stores.s3)
    const start = (...args: string[]) => startHighwater(args, { env })
    const worker = () => start(...workerOn(stores, '--fleet', redis.url))
    const [dead, frozen] = [worker(), worker()]
    const building = start(...buildOn(stores, '--fleet', redis.url))
    await rendered(stores, 1)
    await killed(dead)
    frozen.kill('SIGSTOP')
    await (await redis.connect()).flushall()
    const sound = worker()
    await rendered(stores, 4)
    await redis.kill()
    await redis.restart()
    expect(await building.ended).toMatchObject({ code: 0 })
    frozen.kill('SIGCONT')
    for (const each of [frozen, sound]) {
      each.kill('SIGTERM')
      expect(await each.ended).toMatchObject({ code: 0 })
    }
    await expectWhole(stores)
  } finally {
    await redis.stop()
  }
})

test('a build whose Redis ends for good renders what is missing itself', async () => {
  const redis = await startTestRedis()
  const stores = await newStores()
  const building = startHighwater(buildOn(stores, '--fleet', redis.url, '--fleet-wait', '3'))
  await building.prints(/waits for workers/)
  await redis.stop()
  const exit = await building.ended
  expect(exit).toMatchObject({ code: 0 })
  expect(exit.stderr).toContain('the Redis of the fleet does not answer')
  expect(exit.stderr).toContain(
    `finished a strategy for 3 s (compute): this machine does the other ${STRATEGIES}`,
  )
  await expectWhole(stores)
})

test('the progress of a build is stored while it is under way, and its workers have metrics', async () => {
  const redis = await startTestRedis()
  try {
    const stores = await newStores()
    const privateStore = await openStore(stores.privateUrl)
    const building = startHighwater(buildOn(stores, '--fleet', redis.url, '--run', 'night'))
    const under = async () => (await listFleetProgress(privateStore)).map(({ run, phase }) => [run, phase])
    await expect.poll(under).toEqual([['night', 'compute']])
    const worker = startHighwater(workerOn(stores, '--fleet', redis.url, '--metrics-port', '0'))
    const [, url = ''] = await worker.prints(/metrics on (\S+)/)
    expect(await building.ended).toMatchObject({ code: 0 })
    expect(await under()).toEqual([])
    const text = await (await fetch(url)).text()
    for (const phase of ['compute', 'render']) {
      expect(text).toContain(
        `highwater_worker_task_seconds_count{phase="${phase}",outcome="done"} ${STRATEGIES}`,
      )
    }
    expect(text).toMatch(/highwater_worker_result_bytes_total\{phase="correlate"\} \d{4,}/)
    expect(text).toMatch(/highwater_worker_threads\{code="[0-9a-f]{16}"\} 1/)
    worker.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  } finally {
    await redis.stop()
  }
})

test('a worker ends when it is stopped, also if its Redis is away', async () => {
  const redis = await startTestRedis()
  const stores = await newStores()
  const workers = [0, 1].map(() => startHighwater(workerOn(stores, '--fleet', redis.url)))
  const [first, second] = workers as [Running, Running]
  for (const worker of workers) await worker.prints(/takes jobs/)
  first.kill('SIGTERM')
  expect(await first.ended).toMatchObject({ code: 0 })
  await redis.stop()
  second.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0 })
})

test.each([
  [['worker'], 'expected --fleet with the address of a Redis, or --run and --share'],
  [['worker', '--run', 'a'], '--run and --share are used together'],
  [
    ['worker', '--run', 'a/b', '--share', '1/2'],
    "--run: expected up to 64 letters, digits, '.', '_' and '-', got 'a/b'",
  ],
  [['worker', '--run', 'a', '--share', '3/2'], '--share: expected k/n such as 3/8, with k from 1 to n'],
  [['worker', '--fleet', 'http://a'], '--fleet: expected the address of a Redis'],
  [
    ['worker', '--run', 'a', '--share', '1/2', '--metrics-port', '70000'],
    "--metrics-port: expected a port from 0 to 65535, got '70000'",
  ],
  [
    ['build', '--book', '.', '--run', 'a', '--fleet-wait', 'x'],
    '--fleet-wait: expected seconds from 0 to 86400',
  ],
])('%j is wrong usage', async (args, message) => {
  const exit = await highwater(args)
  expect(exit).toMatchObject({ code: 2 })
  expect(exit.stderr).toContain(message)
})

test('a worker whose build never begins says how to begin it', async () => {
  const stores = await newStores()
  const exit = await highwater(workerOn(stores, '--run', 'night', '--share', '1/2', '--wait', '0'))
  expect(exit).toMatchObject({ code: 1 })
  expect(exit.stderr).toContain('no build has begun the run night (compute) in')
  expect(exit.stderr).toContain('start `highwater build --run night` on the same stores')
})
