// Builds on a fleet of processes that are killed, frozen and cut off: the bytes of one machine each time, and its words.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { PHASES } from '#fleet/run-files.ts'
import { listFleetProgress } from '#storage/fleet-progress.ts'
import { openStore } from '#storage/open-store.ts'
import { run } from '../cli/made-up.ts'
import { type Stores, TINY_BOOK } from '../support/books/publish-book.ts'
import { startHighwater } from '../support/history/highwater-process.ts'
import { fileGround } from '../support/kills/grounds.ts'
import { ownRedis } from '../support/servers/use-redis.ts'
import { newS3Stores, s3Env } from '../support/stores/s3-stores.ts'
import {
  buildArgs,
  faultsOf,
  newStores,
  pointerOf,
  storeArgs,
  versionContentOf,
  withStart,
} from '../support/stores/stores.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Of the tiny book: one of a module, and those of ledgers and returns. */
const STRATEGIES = 4

/** A command in this process. */
const here = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(args, { env, now: Date.now, elapsed: () => performance.now(), pause: ms => pause(ms) })

let whole: Record<string, string>

beforeAll(async () => {
  const stores = await withStart(newStores())
  expect(await here(buildArgs(stores))).toMatchObject({ code: 0 })
  whole = await versionContentOf(stores)
  expect(Object.keys(whole).length).toBeGreaterThan(STRATEGIES * 20)
})

/** A run of which a coordinator does nothing itself. */
const buildOn = (stores: Stores, book = TINY_BOOK): string[] => [
  ...buildArgs(stores, { book }),
  ...['--run', 'night', '--fleet-wait', '600'],
]

const workerOn = (stores: Stores, ...how: string[]): string[] => [
  ...['worker', ...storeArgs(stores), '--threads', '1', ...how],
]

const shareOf = (stores: Stores, share: string): string[] =>
  workerOn(stores, '--run', 'night', '--share', share)

async function expectWhole(stores: Stores): Promise<void> {
  expect(await versionContentOf(stores)).toEqual(whole)
  expect(await faultsOf(stores)).toEqual([])
  const left = await (await openStore(stores.privateUrl, stores.s3)).list('fleet/')
  expect(left.filter(key => !key.endsWith('/end.json'))).toEqual([])
}

/** Resolves when this many strategies are rendered, or the build is over: on a busy machine that is seen late. */
const rendered = async (stores: Stores, count: number): Promise<void> => {
  const store = await openStore(stores.privateUrl, stores.s3)
  const isReached = async (): Promise<boolean> => {
    const keys = await store.list('fleet/')
    const lines = keys.filter(key => key.includes('/render/results/'))
    return lines.length >= count || (await pointerOf(stores)) !== null
  }
  await expect.poll(isReached, { interval: 200 }).toBe(true)
}

/** Sums what each worker did. */
const sum = (counts: Record<string, number> = {}) => Object.values(counts).reduce((all, one) => all + one, 0)

/** A write of a share after which it is killed, while it writes files; `make soak` has others. */
const KILLED_AT = 13

test('a share of a fleet that is killed, and a coordinator that is killed when it has begun each phase, go on with the version that was begun, and no worker gives up', async () => {
  const stores = await withStart(newStores())
  const [ground, ofShare] = [await fileGround(), await fileGround()]
  const killed = ofShare.runUntil(shareOf(stores, '1/1'), { at: { nth: KILLED_AT }, isDone: true })
  const worker = killed.then(() => here(shareOf(stores, '1/1')))
  const unnamed = buildOn(stores)
  unnamed.splice(unnamed.indexOf('--version'), 2)
  for (const phase of PHASES) {
    const at = { path: `/fleet/night/${phase}/plan[.]json$` }
    expect(await ground.runUntil(buildOn(stores), { at, isDone: true })).toMatchObject({
      signal: 'SIGKILL',
    })
  }
  const last = await here([...unnamed, '--json'])
  expect(last, last.err).toMatchObject({ code: 0 })
  expect(await killed).toMatchObject({ signal: 'SIGKILL' })
  const { code, out, err } = await worker
  expect(code).toBe(0)
  // Between two looks of the worker the coordinator may have rendered all by itself.
  expect(out + err).toMatch(/every task of the run night is done \(render\)|the run night is over/)
  const { fleet } = JSON.parse(last.out) as { fleet: Record<string, Record<string, number>> }
  expect([sum(fleet.computed), sum(fleet.rendered)]).toEqual([STRATEGIES, STRATEGIES])
  expect(last.err).toMatch(/note: rendered by \S+:\d+ \(\d\)/)
  await expectWhole(stores)
  const over = await here(unnamed)
  expect(over.code).toBe(1)
  expect(over.err).toContain('the run night is over')
})

test('workers on a queue that are killed and frozen, a queue that is emptied and one that restarts, change no byte of a build', async () => {
  const redis = await ownRedis()
  const stores = await withStart(newS3Stores())
  const env = s3Env(stores.s3)
  const worker = () => startHighwater(workerOn(stores, '--fleet', redis.url), { env })
  const [dead, frozen] = [worker(), worker()]
  for (const each of [dead, frozen]) await each.prints(/takes jobs/)
  // Longer than a killed worker holds its jobs.
  const building = here([...buildArgs(stores), '--fleet', redis.url, '--fleet-wait', '40'], env)
  await rendered(stores, 1)
  dead.kill('SIGKILL')
  await dead.ended
  frozen.kill('SIGSTOP')
  await (await redis.connect()).flushall()
  const sound = worker()
  await sound.prints(/takes jobs/)
  await rendered(stores, STRATEGIES - 1)
  await redis.kill()
  await redis.restart()
  expect(await building).toMatchObject({ code: 0 })
  frozen.kill('SIGCONT')
  for (const each of [frozen, sound]) {
    each.kill('SIGTERM')
    expect(await each.ended).toMatchObject({ code: 0 })
  }
  await expectWhole(stores)
})

test('a build on a fleet whose Redis ends for good renders what is missing itself', async () => {
  const redis = await ownRedis()
  const stores = await withStart(newStores())
  const building = startHighwater([...buildArgs(stores), '--fleet', redis.url, '--fleet-wait', '3'])
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

test('the progress of a build on a fleet is stored while it is under way, and a worker has metrics and ends when it is stopped, also without Redis', async () => {
  const redis = await ownRedis()
  const stores = await withStart(newStores())
  const privateStore = await openStore(stores.privateUrl)
  const building = here([...buildOn(stores), '--fleet', redis.url])
  const under = async () => (await listFleetProgress(privateStore)).map(({ run, phase }) => [run, phase])
  await expect.poll(under).toEqual([['night', 'compute']])
  const worker = startHighwater(workerOn(stores, '--fleet', redis.url, '--metrics-port', '0'))
  const [, url = ''] = await worker.prints(/metrics on (\S+)\n/)
  expect(await building).toMatchObject({ code: 0 })
  expect(await under()).toEqual([])
  const text = await (await fetch(url)).text()
  for (const phase of ['compute', 'render']) {
    expect(text).toContain(
      `highwater_worker_task_seconds_count{phase="${phase}",outcome="done"} ${STRATEGIES}`,
    )
  }
  expect(text).toMatch(/highwater_worker_result_bytes_total\{phase="correlate"\} \d{4,}/)
  expect(text).toMatch(/highwater_worker_threads\{code="[0-9a-f]{16}"\} 1/)
  await redis.stop()
  worker.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0 })
})

test('a module that a worker of a fleet refuses ends the build with the words of one machine, and the run', async () => {
  const book = join(await temporaryFolder(), 'book')
  await cp(TINY_BOOK, book, { recursive: true })
  const module = join(book, 'strategies/ash.ts')
  const text = await readFile(module, 'utf8')
  const random = text.replace('(bar.c - state.fast) / 5', '(bar.c - state.fast) / (5 + Math.random())')
  await writeFile(module, random)
  const stores = await withStart(newStores())
  const alone = await here(buildArgs(stores, { book }))
  const [refused, worker] = await Promise.all([here(buildOn(stores, book)), here(shareOf(stores, '1/1'))])
  expect([alone.code, refused.code, worker.code]).toEqual([1, 1, 0])
  const problems = ({ err }: typeof alone) =>
    err.split('\n').filter(line => line.includes('strategies/ash.ts'))
  expect(problems(alone)).not.toEqual([])
  expect(problems(refused)).toEqual(problems(alone))
  expect(worker.out).toContain('the run night is over')
  expect(await pointerOf(stores)).toBeNull()
  await writeFile(module, text)
  const again = await here(buildOn(stores, book))
  expect(again.err).toContain('the run night is over, it published nothing: name another one in --run')
})
