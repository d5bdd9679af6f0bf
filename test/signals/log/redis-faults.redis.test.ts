// A Redis that was emptied, that is full, or that is a replica: no number is given twice, nothing that was acknowledged is lost,
// and the alert and the answers name the fault of Redis, not one of the program.

import { spawnSync } from 'node:child_process'
import { open, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { OperatorParts } from '#api/operator/exchange.ts'
import { toRefusal } from '#api/operator/exchange.ts'
import { startLocalServer } from '#cli/services/local-server.ts'
import { createAlerts, problemOfFailure, type SentAlert } from '#signals/alerts.ts'
import { drainDestination } from '#signals/delivery/deliver.ts'
import { commit } from '#signals/log/commit.ts'
import { guardLog, LogGoneError } from '#signals/log/guard.ts'
import {
  aboveHighWater,
  createHighWater,
  MARK_AHEAD,
  readHighWater,
  readLogEnd,
  UNKNOWN_AHEAD,
} from '#signals/log/high-water.ts'
import { openLog } from '#signals/log/open-log.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { createMetrics } from '#signals/metrics.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { disableWebhook, readWebhook, removeWebhook, rotateSecrets } from '#signals/outbox/webhooks.ts'
import { usedOfDisk } from '#signals/redis/boot-checks.ts'
import { assertClock } from '#signals/redis/clock.ts'
import { classifyRefusal, RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { EPOCH, HEAD, liveKey, RELAY_LEASE } from '#signals/redis/keys.ts'
import { readOverview } from '#signals/views/overview.ts'
import { codeOf } from '#storage/error-code.ts'
import { StoreError } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { refusalOf } from '../../api/signals/keyed-answers.ts'
import { run } from '../../cli/made-up.ts'
import { atEndOfProcess } from '../../support/ends.ts'
import { newRedisFolder, type TestRedis } from '../../support/servers/redis.ts'
import { ownRedis, type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import { addSubscriber, BOX, delivered, madeWorld, relayAll, until } from '../../support/signals/delivery.ts'
import { operatorClient, operatorParts } from '../../support/signals/operator.ts'
import { fire, NOW_MS, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { environmentOf, SERVE } from '../../support/signals/signals-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MARK = 1_001

let server: SharedRedis
let redis: Redis

beforeEach(async () => {
  server = await sharedRedis()
  redis = await server.connect() // the guard is that of a connection
  await redis.flushall()
})

const newEpoch = () => 'epoch-1'

const guard = (mark: number): Promise<void> => guardLog(redis, mark, newEpoch)

/** What the operator's interface is given, with a clock that goes on; it may fail. */
const lenientParts = (on: Redis, more: Partial<OperatorParts> = {}) =>
  operatorParts(on, { clock: { now: () => Date.now(), elapsed: () => 0 }, onError: () => {}, ...more })

/** Fires as an operator does. */
function post(id: string, parts = lenientParts(redis)) {
  const { is_test: _t, implied_leverage: _l, by: _b, ...body } = signalContent(id, { mode: 'DRY_RUN' })
  return operatorClient(parts)('POST', '/ops/signals', body)
}

/** The alerts of a look, but for the relay, which does not run here. */
async function alertsOf(parts = operatorParts(redis), used: number | null = null) {
  const sent: SentAlert[] = []
  const alerts = createAlerts(
    alert => sent.push(alert),
    () => NOW_MS,
  )
  alerts.look(await readOverview(parts).catch((error: Error) => error), used)
  return sent.filter(({ kind }) => kind !== 'relay_stuck')
}

test('a service begins on an empty Redis if nothing was ever delivered, and names its epoch', async () => {
  await guard(0)
  expect(await readHead(redis)).toEqual({ seq: 0, epoch: 'epoch-1' })
  expect(await fire(redis, 'a', 'alder')).toBe(1)
})

test.each<[string, Record<string, string>, string | null, number]>([
  ['an empty one', {}, null, MARK],
  ['one without a signal', {}, 'epoch-0', MARK],
  ['one without an epoch', { seq: '2004' }, null, MARK],
  ['one that ends before what was delivered', { seq: '1004' }, 'epoch-0', 1_005 + MARK_AHEAD],
])('a service does not begin on %s below a mark, and leaves it as it is', async (_, head, epoch, mark) => {
  if (head.seq !== undefined) await redis.hset(HEAD, head)
  if (epoch !== null) await redis.set(EPOCH, epoch)
  await expect(guard(mark)).rejects.toThrow('highwater ops begin-anew --above')
  expect(await redis.get(EPOCH)).toBe(epoch)
})

test('a service begins on a log that goes on from where it was seen to end, and on one that was restored above the mark', async () => {
  const store = createMemoryStore('private')
  await createHighWater(store).noteEnd(5)
  await createHighWater(store).noteEnd(5) // as the next look does, or another process
  const [mark, logEnd] = [await readHighWater(store), await readLogEnd(store)]
  expect([mark, logEnd]).toEqual([5 + MARK_AHEAD, 5])
  for (const seq of [5, aboveHighWater(mark)]) {
    await redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, 'epoch-1').exec()
    await guardLog(await server.connect(), mark, newEpoch, logEnd)
  }
})

test.each([
  ['an emptied Redis', null],
  ['an older copy of it, which lacks a single signal', '4'],
])('the signals service does not start on %s', async (_, seq) => {
  if (seq !== null) await redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, 'epoch-1').exec()
  const folder = await temporaryFolder()
  const PRIVATE_STORE_URL = `file:${folder}/private`
  await createHighWater(await openStore(PRIVATE_STORE_URL, null)).noteEnd(5)
  const env = { ...environmentOf(folder), REDIS_URL: server.url, PRIVATE_STORE_URL }
  const { code, err } = await run(SERVE, { env })
  expect([code, err]).toEqual([1, expect.stringContaining('highwater ops begin-anew --above')])
  const { out } = await run(['doctor', '--json'], { env })
  expect(out).toContain('"check":"redis","state":"problem","says":"the log is lost: Redis has')
})

/** A service that runs, and has fired twice. */
async function fireTwice(): Promise<void> {
  await guard(0)
  await fire(redis, 'a', 'alder')
  await fire(redis, 'b', 'alder')
}

const readiness = async (app: ReturnType<typeof createTestSignals>['app']) => {
  const response = await app.request('/readyz')
  return [response.status, response.status === 200 ? null : (await refusalOf(response)).details]
}

test('a running service whose Redis is emptied fires nothing, says what to do, uses no number twice, names no new epoch, is not ready, and raises an alert', async () => {
  await fireTwice()
  const { app, errors } = createTestSignals(redis)
  expect(await readiness(app)).toEqual([200, null])
  await redis.flushall()
  const { status, json } = await post('asked')
  expect([status, json]).toMatchObject([503, { error: { message: expect.stringContaining('ops restore') } }])
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow(LogGoneError)
  expect(await readAfter(redis, 0, 10)).toEqual([])
  await expect(readHead(redis)).rejects.toThrow(LogGoneError)
  expect(await redis.exists(EPOCH)).toBe(0)
  expect(await readiness(app)).toEqual([503, { checks: { redis: true, log: false, fires: false } }])
  expect(errors).toEqual([])
  const message = expect.stringContaining('up to 2')
  expect(await alertsOf()).toMatchObject([{ kind: 'redis_wiped', message }])
  const { text } = await createMetrics(() => readOverview(operatorParts(redis))).read()
  expect(text).toMatch(/^highwater_redis_up 1$.*^highwater_log_lost 1$/ms) // it is not away
})

test('a fire that cannot be promised in a read-only private store is refused with what to do', () => {
  const error = new StoreError('replace', 'file:/data', 'mark', 'EROFS; mount it for writing')
  expect(toRefusal(error, () => {})).toMatchObject({ code: 'unavailable', message: error.message })
})

test('a running service fires nothing if the head alone went back, or if another epoch is there', async () => {
  await fireTwice()
  await redis.hset(HEAD, 'seq', '1')
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow('signals up to 1, but numbers up to 2')
  await redis.hset(HEAD, 'seq', '9')
  await redis.set(EPOCH, 'another')
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow('epoch another')
})

const beginByCommand = async (args: readonly string[]) => {
  const PRIVATE_STORE_URL = `file:${await temporaryFolder()}`
  await createHighWater(await openStore(PRIVATE_STORE_URL, null)).cover(1)
  return run(['ops', 'begin-anew', ...args], { env: { REDIS_URL: server.url, PRIVATE_STORE_URL } })
}

test('highwater ops begin-anew continues above the given number and the mark, and far above a mark alone, which may be that of a copied store', async () => {
  expect((await beginByCommand(['--above', '1', '--json'])).out).toContain(`"seq":${MARK + MARK_AHEAD}`)
  expect((await beginByCommand(['--json'])).out).toContain(`"seq":${MARK + UNKNOWN_AHEAD}`)
  await redis.flushall()
  expect((await beginByCommand(['--above', '2004'])).out).toContain('the next signal is 2005')
})

test('highwater ops begin-anew is refused while a service is running, and for a number that is none', async () => {
  await redis.set(RELAY_LEASE, 'somebody')
  expect((await beginByCommand([])).err).toContain('a service is running')
  expect((await beginByCommand(['--above', 'all'])).err).toContain('expected the number of a signal')
})

test('a live step whose fields are no JSON writes nothing, not even its signal', async () => {
  const fields = { toJSON: () => undefined } as unknown as Record<string, string> // no caller of ours makes such a step
  const step = { alias: 'alder', from: '', to: '100', fields }
  await expect(
    commit(redis, [{ content: signalContent('a'), onlyFor: null }], NOW_MS, step),
  ).rejects.toThrow()
  expect(await readAfter(redis, 0, 10)).toEqual([])
  expect(await redis.exists(liveKey('alder'))).toBe(0)
})

const refused = (refusal: string) => expect.objectContaining({ name: 'WritesRefusedError', refusal })

const CANNOT_FIRE = [503, { checks: { redis: true, log: true, fires: false } }]

test('a service whose Redis is made to sync less while it runs fires nothing and is not ready', async () => {
  const options = { newEpoch, now: () => NOW_MS, allowsUnsafeRedis: false }
  await openLog(redis, { ...options, privateStore: createMemoryStore('private') })
  const { app } = createTestSignals(redis)
  expect(await readiness(app)).toEqual([200, null])
  await redis.config('SET', 'appendfsync', 'everysec')
  try {
    const { status, json } = await post('asked')
    const message = expect.stringMatching(/appendfsync is everysec and must be always.*nothing was fired/)
    expect([status, json]).toMatchObject([503, { error: { message } }])
    expect(await readiness(app)).toEqual(CANNOT_FIRE)
  } finally {
    await redis.config('SET', 'appendfsync', 'always')
  }
  expect((await post('asked')).status).toBe(201)
})

test('a service by whose clock nothing is fired is not ready', async () => {
  const { app } = createTestSignals(redis, { assertClock: () => assertClock(redis, () => NOW_MS) })
  expect(await readiness(app)).toEqual(CANNOT_FIRE)
})

const withoutMemory = async (happens: () => Promise<void>): Promise<void> => {
  await redis.config('SET', 'maxmemory', '1')
  try {
    await happens()
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
}

test('a Redis without memory is read, fires nothing and says so', async () => {
  await guard(0)
  await fire(redis, 'a', 'alder')
  await withoutMemory(async () => {
    expect(await readHead(redis)).toMatchObject({ seq: 1 })
    const { status, headers, json } = await post('asked')
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(json).toMatchObject({
      error: {
        code: 'unavailable',
        message: 'Redis takes no writes, its memory is full: increase maxmemory; nothing was fired',
      },
    })
    expect(await alertsOf()).toMatchObject([{ kind: 'redis_full' }])
    expect(await readiness(createTestSignals(redis).app)).toEqual(CANNOT_FIRE)
  })
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
})

test('a Redis without memory refuses each transaction as one that is full, and changes nothing', async () => {
  await addSubscriber(redis, 'acme', 'https://hooks.example.org/acme')
  const before = await readWebhook(redis, BOX, 'acme')
  await withoutMemory(async () => {
    const changes = [
      () => rotateSecrets(redis, BOX, 'acme', OPERATOR, () => []),
      () => disableWebhook(redis, 'acme', 'by the operator'),
      () => removeWebhook(redis, 'acme'),
    ]
    for (const change of changes) await expect(change()).rejects.toEqual(refused('OOM'))
  })
  expect(await readWebhook(redis, BOX, 'acme')).toEqual(before)
})

test('a Redis without memory stops deliveries, which is no fault of the program; what is owed is delivered afterwards', async () => {
  await addSubscriber(redis, 'acme', 'https://hooks.example.org/acme')
  const { parts, events, seqs } = madeWorld(redis, () => delivered())
  await guard(0)
  await fire(redis, 'a', 'alder')
  await relayAll(redis, parts.now)
  await withoutMemory(async () => {
    for (let i = 0; i < 3; i++)
      await expect(drainDestination(parts, 'acme', 'fast')).rejects.toEqual(refused('OOM'))
  })
  expect(events).toEqual([])
  expect(await drainDestination(parts, 'acme', 'fast')).toEqual({ kind: 'done' })
  expect(seqs()).toEqual([1])
})

test('a replica is read, fires nothing, and raises an alert that names the remedy', async () => {
  redis = await (await ownRedis()).connect()
  await guard(0)
  await fire(redis, 'a', 'alder')
  expect(await alertsOf()).toEqual([])
  await redis.replicaof('127.0.0.1', 1) // a replica keeps and answers what it has also while its primary is away
  expect(await readHead(redis)).toMatchObject({ seq: 1 })
  await expect(fire(redis, 'b', 'alder')).rejects.toEqual(refused('READONLY'))
  const { status, json } = await post('asked')
  const message = expect.stringMatching(
    /^Redis takes no writes, it is a replica: .* REDIS_URL.*nothing was fired/,
  )
  expect([status, json]).toMatchObject([503, { error: { message } }])
  expect(await alertsOf()).toMatchObject([
    { kind: 'redis_read_only', message: expect.stringContaining('REDIS_URL') },
  ])
})

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'redis_full'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'redis_full'],
  ["READONLY You can't write against a read only replica.", 'redis_read_only'],
  ['NOREPLICAS Not enough good replicas to write.', 'redis_read_only'],
  ['ERR Error running script (call to f_ab): @user_script: 5: -OOM command not ...', 'redis_full'],
  ['LOADING Redis is loading the dataset in memory', 'redis_down'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'redis_down'],
])('a fault of Redis itself is recognized in its message: %s', (text, kind) => {
  const error = classifyRefusal(new Error(text))
  expect(error).toBeInstanceOf(RedisDownError)
  expect(error instanceof WritesRefusedError).toBe(kind !== 'redis_down')
  expect(problemOfFailure(error)).toMatchObject({ kind })
})

test.each([
  ['WRONGTYPE Operation against a key holding the wrong kind of value'],
  ['ERR unknown command OOM'],
  ['ERR user_script:1: a signal of READONLY mode script: 0a1b, on @user_script:1.'],
])('an error of a command stays the error that it is: %s', text => {
  const error = new Error(text)
  expect(classifyRefusal(error)).toBe(error)
})

const UNSHARE = ['--map-root-user', '--mount']
const MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0"'

/** Whether this machine lets somebody mount a disk in a place of its own. */
const canMount = (): boolean => spawnSync('unshare', [...UNSHARE, 'bash', '-c', MOUNT, '/tmp']).status === 0

type SmallDisk = {
  /** Where it is for what is run there. */
  readonly folder: string
  /** A command that runs another one where the disk is. */
  readonly within: readonly string[]
  /** Where it is from outside. */
  readonly outside: string
  /** Fills it, but for so many bytes. */
  fill(butBytes: number): Promise<void>
  /** Makes room again. */
  clear(): Promise<void>
}

/** Mounts a disk over a new folder, to the end of the file. */
async function mountSmallDisk(): Promise<SmallDisk> {
  const folder = newRedisFolder()
  const hold = `${MOUNT} && echo "ready disk: $$" && exec cat`
  const holder = await startLocalServer('unshare', [...UNSHARE, 'bash', '-c', hold, folder])
  atEndOfProcess(holder.stop)
  const outside = `/proc/${holder.pid}/root${folder}`
  const filler = join(outside, 'filler')
  return {
    folder,
    within: ['nsenter', '--preserve-credentials', '--user', '--mount', '--target', String(holder.pid)],
    outside,
    async fill(butBytes) {
      await truncate(filler, (await writeUntilFull(filler)) - butBytes)
    },
    clear: () => truncate(filler, 0),
  }
}

const BLOCK = new Uint8Array(4_096)

/** Gives how long the file is when nothing more can be written. */
async function writeUntilFull(path: string): Promise<number> {
  const file = await open(path, 'w')
  try {
    for (;;) await file.write(BLOCK)
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

const isAllowed = canMount()

let disk: SmallDisk
let full: { readonly server: TestRedis; readonly redis: Redis }

beforeAll(async () => {
  if (!isAllowed) return
  disk = await mountSmallDisk()
  const own = await ownRedis(disk.folder, disk.within)
  full = { server: own, redis: await own.connect() }
  await guardLog(full.redis, 0, newEpoch)
})

const diskUsed = () => usedOfDisk(disk.outside)
const partsOfFull = () => lenientParts(full.redis, { diskUsed })

const fireOnFull = (id: string) => post(id, partsOfFull())

async function alertsOfFull(): Promise<readonly string[]> {
  const sent = await alertsOf(partsOfFull(), await diskUsed())
  return sent.map(({ kind, subject }) => `${kind} ${subject}`)
}

test.runIf(isAllowed)(
  'a full disk under Redis answers 503 with what to fix, loses nothing acknowledged, and continues when there is room (skipped where nobody may mount a disk)',
  async () => {
    expect((await fireOnFull('first')).status).toBe(201)
    expect(await alertsOfFull()).toEqual([])
    await disk.fill(5 * 4_096)
    expect(await alertsOfFull()).toEqual(['redis_full disk at 85 %'])

    let acknowledged = 1
    let answer = await fireOnFull(`s${acknowledged}`)
    for (; answer.status === 201; answer = await fireOnFull(`s${acknowledged}`)) acknowledged++
    const last = `s${acknowledged}`
    await full.server.ended()
    await until(() => full.redis.status !== 'ready')
    expect(acknowledged).toBeGreaterThan(2)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.json).toEqual({
      error: {
        code: 'unavailable',
        message:
          'Redis is away, and its disk is full: make room, and start it again where it does not come back; ' +
          'outcome unknown: send the same signal_id again',
        details: null,
      },
      meta: expect.anything(),
    })
    expect(await alertsOfFull()).toEqual(['redis_down redis', 'redis_full disk at 85 %'])

    await disk.clear()
    await full.server.restart()
    await until(() => full.redis.status === 'ready')
    expect((await fireOnFull(last)).json).toMatchObject({ data: { seq: acknowledged + 1 } })
    expect((await fireOnFull('after')).status).toBe(201)
    const seqs = (await readAfter(full.redis, 0, 1_000)).map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: acknowledged + 2 }, (_, i) => i + 1))
    expect(await alertsOfFull()).toEqual([])
  },
)
