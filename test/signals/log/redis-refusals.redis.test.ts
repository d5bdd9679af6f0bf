// A Redis that answers and refuses every write, because it is full or a replica: nothing is fired, and the
// alert and the answers name the fault of Redis, not one of the program.
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { createAlerts, problemsOfFailure, type SentAlert } from '#signals/alerts.ts'
import { disableWebhook, readWebhook, removeWebhook, saveSecrets } from '#signals/delivery/webhooks.ts'
import { drainClient } from '#signals/delivery/worker.ts'
import { guardLog } from '#signals/log/guard.ts'
import { readAfter, readHead } from '#signals/log/read-log.ts'
import { classifyRefusal, RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { runScript } from '#signals/redis/script.ts'
import { readOverview } from '#signals/views/overview.ts'
import { ownRedis, sharedRedis } from '../../support/servers/use-redis.ts'
import { addSubscriber, BOX, delivered, madeWorld, relayAll, until } from '../../support/signals/delivery.ts'
import { operatorClient, operatorParts } from '../../support/signals/operator.ts'
import { fire, NOW_MS, signalContent } from '../../support/signals/signals.ts'

let redis: Redis

beforeEach(async () => {
  redis = await (await sharedRedis()).connect() // the guard is that of a connection
  await redis.flushall()
  await guardLog(redis, 0, newEpoch)
})

const newEpoch = () => 'epoch-1'

const { is_test: _isTest, implied_leverage: _leverage, ...body } = signalContent('asked', { mode: 'DRY_RUN' })

const ask = () =>
  operatorClient(
    operatorParts(redis, { clock: { now: () => Date.now(), elapsed: () => 0 }, onError: () => {} }),
  )

async function alertsOf(): Promise<readonly SentAlert[]> {
  const sent: SentAlert[] = []
  const alerts = createAlerts(
    alert => sent.push(alert),
    () => NOW_MS,
  )
  await readOverview(operatorParts(redis)).then(alerts.look, alerts.onLookFailed)
  return sent.filter(({ kind }) => kind !== 'relay_stuck')
}

const refused = (refusal: string) => expect.objectContaining({ name: 'WritesRefusedError', refusal })

const withoutMemory = async (happens: () => Promise<void>): Promise<void> => {
  await redis.config('SET', 'maxmemory', '1')
  try {
    await happens()
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
}

test('a Redis without memory is read, fires nothing and says so', async () => {
  await fire(redis, 'a', 'alder')
  await withoutMemory(async () => {
    expect(await readHead(redis, newEpoch)).toMatchObject({ seq: 1 })
    const { status, headers, json } = await ask()('POST', '/ops/signals', body)
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(json).toMatchObject({
      error: {
        code: 'unavailable',
        message: 'Redis takes no writes, its memory is full: increase maxmemory; nothing was fired',
      },
    })
    expect(await alertsOf()).toMatchObject([{ kind: 'redis_full' }])
  })
  expect(await readAfter(redis, 0, 10)).toHaveLength(1)
})

test('a Redis without memory refuses each script that writes by that name, and answers those that only read', async () => {
  const script = `if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1]) end return 'well'`
  const run = (text: string) => runScript(redis, script, ['{hw}:one'], text)
  await withoutMemory(async () => {
    const calls = await Promise.allSettled(['a', '', 'b'].map(run))
    expect(calls).toMatchObject([
      { status: 'rejected', reason: refused('OOM') },
      { status: 'fulfilled' },
      { status: 'rejected', reason: refused('OOM') },
    ])
  })
  expect(await run('a')).toBe('well')
})

test('a Redis without memory refuses each transaction by that name, and changes nothing', async () => {
  await addSubscriber(redis, 'acme', 'https://hooks.example.org/acme')
  const before = await readWebhook(redis, BOX, 'acme')
  await withoutMemory(async () => {
    const changes = [
      () => saveSecrets(redis, BOX, { ...before!, secrets: [] }),
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
  await fire(redis, 'a', 'alder')
  await relayAll(redis, parts.now)
  await withoutMemory(async () => {
    for (let i = 0; i < 3; i++)
      await expect(drainClient(parts, 'acme', 'fast')).rejects.toEqual(refused('OOM'))
  })
  expect(events).toEqual([])
  expect(await drainClient(parts, 'acme', 'fast')).toEqual({ kind: 'done' })
  expect(seqs()).toEqual([1])
})

test('a replica is read, fires nothing, and raises an alert that names the remedy', async () => {
  const primary = await ownRedis()
  redis = await (await ownRedis()).connect() // which is emptied of what it has
  await guardLog(redis, 0, newEpoch)
  const first = await primary.connect()
  await first.config('SET', 'repl-diskless-sync-delay', '0')
  await guardLog(first, 0, newEpoch)
  await fire(first, 'a', 'alder')
  expect(await alertsOf()).toEqual([])
  const { port, password } = new URL(primary.url)
  await redis.config('SET', 'masterauth', password)
  await redis.replicaof('127.0.0.1', Number(port))
  await until(async () => (await redis.info('replication')).includes('master_link_status:up'))
  expect(await readHead(redis, newEpoch)).toMatchObject({ seq: 1 })
  await expect(fire(redis, 'b', 'alder')).rejects.toEqual(refused('READONLY'))
  const { status, json } = await ask()('POST', '/ops/signals', body)
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
  [
    'ERR Error running script (call to f_ab): @user_script:5: @user_script: 5: -OOM command not ...',
    'redis_full',
  ],
  ['LOADING Redis is loading the dataset in memory', 'redis_down'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'redis_down'],
])('a fault of Redis itself is recognized in its message: %s', (text, kind) => {
  const error = classifyRefusal(new Error(text))
  expect(error).toBeInstanceOf(RedisDownError)
  expect(error instanceof WritesRefusedError).toBe(kind !== 'redis_down')
  expect(problemsOfFailure(error)).toMatchObject([{ kind }])
})

test.each([
  ['WRONGTYPE Operation against a key holding the wrong kind of value'],
  ['ERR unknown command OOM'],
  ['ERR user_script:1: a signal of READONLY mode script: 0a1b, on @user_script:1.'],
])('an error of a command stays the error that it is: %s', text => {
  const error = new Error(text)
  expect(classifyRefusal(error)).toBe(error)
})
