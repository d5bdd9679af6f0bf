// A Redis that was emptied: no number is given twice, and the operator gets an alert that says so.
import { Writable } from 'node:stream'
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { parseEnvironment } from '#cli/environment.ts'
import { createLog } from '#cli/log.ts'
import { openSignals } from '#cli/signals/open-signals.ts'
import { createStarted } from '#cli/started.ts'
import { createAlerts, type SentAlert } from '#signals/alerts.ts'
import {
  aboveHighWater,
  createHighWater,
  MARK_AHEAD,
  readHighWater,
  readLogEnd,
} from '#signals/delivery/high-water.ts'
import { commit } from '#signals/log/commit.ts'
import { beginAnew, guardLog, LogGoneError } from '#signals/log/guard.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { EPOCH, HEAD, liveKey, RELAY_LEASE } from '#signals/redis/keys.ts'
import { readOverview } from '#signals/views/overview.ts'
import { openStore } from '#storage/open-store.ts'
import { createMemoryStore } from '#test/support/stores/memory-store.ts'
import { refusalOf } from '../../api/signals/keyed-answers.ts'
import { run } from '../../cli/made-up.ts'
import { type SharedRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import { operatorClient, operatorParts } from '../../support/signals/operator.ts'
import { fire, NOW_MS, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
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

const ask = () =>
  operatorClient(
    operatorParts(redis, { clock: { now: () => Date.now(), elapsed: () => 0 }, onError: () => {} }),
  )

const { is_test: _isTest, implied_leverage: _leverage, ...body } = signalContent('asked', { mode: 'DRY_RUN' })

const alertOf = async (): Promise<SentAlert | undefined> => {
  const sent: SentAlert[] = []
  const alerts = createAlerts(
    alert => sent.push(alert),
    () => NOW_MS,
  )
  await readOverview(operatorParts(redis)).then(alerts.look, alerts.onLookFailed)
  return sent.find(({ kind }) => kind !== 'relay_stuck')
}

test('a service begins on an empty Redis if nothing was ever delivered, and names its epoch', async () => {
  await guard(0)
  expect(await readHead(redis, () => 'other')).toEqual({ seq: 0, epoch: 'epoch-1' })
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

test('a service begins on a log that ends less below the mark than the mark is set ahead', async () => {
  await redis.hset(HEAD, 'seq', '1005')
  await redis.set(EPOCH, 'epoch-0')
  await guard(1_005 + MARK_AHEAD)
  expect(await fire(redis, 'a', 'alder')).toBe(1_006)
})

test.each([
  ['an emptied Redis', null],
  ['an older copy of it, which lacks a single signal', '4'],
])('the signals service does not start on %s', async (_, seq) => {
  if (seq !== null) await redis.multi().hset(HEAD, 'seq', seq).set(EPOCH, 'epoch-1').exec()
  const folder = await temporaryFolder()
  const PRIVATE_STORE_URL = `file:${folder}`
  await createHighWater(await openStore(PRIVATE_STORE_URL, null)).noteEnd(5)
  const started = createStarted()
  const opened = openSignals(
    {
      environment: parseEnvironment({ PRIVATE_STORE_URL }, folder),
      redisUrl: server.url,
      redisFolder: null,
      secrets: { secretKey: '', operatorToken: '' }, // not asked for: the log comes before
      runtime: {
        env: {},
        now: () => NOW_MS,
        elapsed: () => 0,
        drawBytes: seededBytes('service'),
        random: () => 0,
      },
      log: createLog('warn', new Writable(), () => NOW_MS, []),
    },
    started,
  )
  await expect(opened).rejects.toThrow(LogGoneError)
  await started.endAll()
})

/** A service that runs, and has fired twice. */
async function fireTwice(): Promise<void> {
  await guard(0)
  await fire(redis, 'a', 'alder')
  await fire(redis, 'b', 'alder')
}

test('a running service whose Redis is emptied fires nothing: the refusal says what to do, and no number is used twice', async () => {
  await fireTwice()
  await redis.flushall()
  const { status, json } = await ask()('POST', '/ops/signals', body)
  expect([status, json]).toMatchObject([503, { error: { message: expect.stringContaining('ops restore') } }])
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow(LogGoneError)
  expect(await readAfter(redis, 0, 10)).toEqual([])
})

test('a running service fires nothing if the head alone went back, or if another epoch is there', async () => {
  await fireTwice()
  await redis.hset(HEAD, 'seq', '1')
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow('signals up to 1, but numbers up to 2')
  await redis.hset(HEAD, 'seq', '9')
  await redis.set(EPOCH, 'another')
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow('epoch another')
})

test('a running service whose Redis is emptied names no new epoch for the head, and raises the alert at its next look', async () => {
  await fireTwice()
  await redis.flushall()
  await expect(readHead(redis, () => 'new')).rejects.toThrow(LogGoneError)
  expect(await redis.exists(EPOCH)).toBe(0)
  expect(await alertOf()).toMatchObject({
    kind: 'redis_wiped',
    message: expect.stringContaining('up to 2'),
  })
})

test('a running service whose Redis is emptied is not ready, so that a balancer sends its clients elsewhere', async () => {
  await fireTwice()
  const { app, errors } = createTestSignals(redis)
  expect((await app.request('/readyz')).status).toBe(200)
  await redis.flushall()
  const response = await app.request('/readyz')
  expect([response.status, await refusalOf(response)]).toMatchObject([
    503,
    { code: 'not_ready', details: { checks: { redis: true, log: false } } },
  ])
  expect(errors).toEqual([])
})

test('a service continues above every number under a new epoch after begin-anew', async () => {
  await fireTwice()
  await redis.flushall()
  expect(await beginAnew(redis, 2, () => 'epoch-2')).toEqual({ seq: 2, epoch: 'epoch-2' })
  await expect(fire(redis, 'c', 'alder')).rejects.toThrow(LogGoneError)
  redis = await server.connect()
  await guard(2)
  expect(await fire(redis, 'c', 'alder')).toBe(3)
})

const beginByCommand = async (args: readonly string[]) => {
  const PRIVATE_STORE_URL = `file:${await temporaryFolder()}`
  await createHighWater(await openStore(PRIVATE_STORE_URL, null)).cover(1)
  return run(['ops', 'begin-anew', ...args], { env: { REDIS_URL: server.url, PRIVATE_STORE_URL } })
}

test('highwater ops begin-anew continues above the mark and above the given number', async () => {
  expect((await beginByCommand(['--json'])).out).toContain(`"seq":${MARK + MARK_AHEAD}`)
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
