// A Redis that goes away and comes back, a log that is damaged or lost, and answers that are cut off.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { listenSignals } from '#api/signals/app.ts'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { guardLog, LogGoneError } from '#signals/log/guard.ts'
import { DamagedLogError } from '#signals/log/read-log.ts'
import { apiKeyKey, EPOCH, HEAD, LATEST, LOG } from '#signals/redis/keys.ts'
import { atEnd } from '../../support/ends.ts'
import { redis, server, useOwnRedis } from '../../support/signals/own-redis.ts'
import { addClient, commitMany, fire, seededBytes, signalContent } from '../../support/signals/signals.ts'
import {
  createTestSignals,
  isKeyless,
  requestOf,
  signalsParts,
  withKey,
} from '../../support/signals/signals-app.ts'
import { refusalOf, rowsOf, seqsOf } from './keyed-answers.ts'

const random = seededBytes('failures')

useOwnRedis()

/** Puts an entry behind the others whose bytes are not those that were written. */
async function damage(seq: number): Promise<void> {
  const fields = ['body', '{"seq":0}', 'sha1', '0'.repeat(40), 'alias', 'alder', 'to', '', 'at', '1']
  await redis.xadd(LOG, `${seq}-0`, ...fields)
  await redis.hset(HEAD, 'seq', String(seq))
  await redis.hset(LATEST, 'alder', String(seq))
}

test('a damaged log is reported to the operator, and answered 503 without its cause', async () => {
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  await fire(redis, 'a', 'alder')
  await damage(2)
  for (const path of ['/v1/signals/latest', '/v1/signals/history', '/v1/signals/history?format=csv']) {
    const { app, errors } = createTestSignals(redis)
    const response = await app.request(path, withKey(token))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await refusalOf(response)).toMatchObject({ code: 'unavailable', details: null })
    expect(errors).toEqual([expect.any(DamagedLogError)])
  }
  const { app } = createTestSignals(redis)
  const before = await app.request('/v1/signals/history?limit=1', withKey(token))
  expect(before.status).toBe(503) // the block that holds it is not trusted
})

test('a damaged log in the middle of a long answer cuts the connection, so that half is never taken for whole', async () => {
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  const signals = Array.from({ length: 4_000 }, (_, i) => ({
    content: signalContent(`s${i}`),
    onlyFor: null,
  }))
  await commitMany(redis, signals)
  const { parts, errors } = signalsParts(redis)
  const running = await listenSignals(() => parts, '127.0.0.1', 0)
  const pull = (query: string) => fetch(`${running.url}/v1/signals/history${query}`, withKey(token))
  atEnd(running.close)
  expect(await seqsOf(await pull(''))).toEqual(signals.map((_, i) => i + 1))
  await damage(4_001)
  for (const query of ['', '?format=csv']) {
    const response = await pull(query)
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(errors.pop()).toBeInstanceOf(DamagedLogError)
  }
})

let guarded: Redis

/** The guard is that of a connection. */
async function guard(): Promise<void> {
  guarded = await server.connect()
  await guardLog(guarded, 0, () => 'epoch-1')
}

async function whoami(token: string) {
  const { app, errors } = createTestSignals(guarded)
  const response = await app.request('/v1/whoami', withKey(token))
  return { response, status: response.status, errors }
}

test('a key that is lost with the log is answered 503 with Retry-After and not 401: its validity is unknown', async () => {
  await guard()
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  await redis.flushall()
  const { response, status, errors } = await whoami(token)
  expect([status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await refusalOf(response)).toEqual({
    code: 'unavailable',
    message: 'the log of signals must be repaired first; the operator has been alerted',
    details: null,
  })
  expect(errors).toEqual([expect.any(LogGoneError)])
  expect(await whoami('nonsense')).toMatchObject({ status: 401 }) // it was never one
})

test('a key that is still there while the log is lost is valid as before', async () => {
  await guard()
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  const { token: other, keyId } = await addClient(redis, 'birch', ['alder'], random)
  await redis.del(apiKeyKey(keyId))
  expect(await whoami(other)).toMatchObject({ status: 401 })
  await redis.set(EPOCH, 'another')
  expect(await whoami(token)).toMatchObject({ status: 200 })
  expect(await whoami(other)).toMatchObject({ status: 503 })
})

test('without Redis every keyed route is 503 with Retry-After, and no other is; with it again all is there', async () => {
  const { token } = await addClient(redis, 'acme', ['alder'], random)
  await fire(redis, 'a', 'alder')
  const { app, errors } = createTestSignals(redis)
  expect((await app.request('/readyz')).status).toBe(200)
  await server.kill()
  for (const route of SIGNALS_ROUTES.filter(route => !isKeyless(route))) {
    const { path, group } = route
    const response = await app.request(path, requestOf(route, token))
    expect([path, group, response.status]).toEqual([path, group, 503])
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await refusalOf(response)).toEqual({
      code: 'unavailable',
      message: 'keys and signals cannot be looked up for now; no signal is lost, ask again in a moment',
      details: null,
    })
    expect((await app.request(path, requestOf(route, 'nonsense'))).status).toBe(401)
  }
  expect((await app.request('/healthz')).status).toBe(200)
  expect((await app.request('/version')).status).toBe(200)
  const readyz = await app.request('/readyz')
  expect(readyz.status).toBe(503)
  expect(await refusalOf(readyz)).toMatchObject({
    code: 'not_ready',
    details: { checks: { redis: false } },
  })
  expect(errors).toEqual([])
  await server.restart()
  await expect.poll(async () => (await app.request('/readyz')).status).toBe(200)
  expect(await rowsOf(await app.request('/v1/signals/history', withKey(token)))).toHaveLength(1)
})
