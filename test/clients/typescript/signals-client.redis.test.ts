// The client of the signals beside the service: what it yields is the log of its key, once and in order.
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { HighwaterSignals } from '../../../clients/typescript/src/index.ts'
import { start } from '../../support/http/raw-server.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { addClient, commitMany, fire, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { rejection } from './watched-service.ts'

let redis: Redis
useTestRedis(made => {
  redis = made
})

/** The service, a client of it that is entitled to alder, and the requests that reach it. */
async function serveSignals() {
  const { app } = createTestSignals(redis)
  const requests: string[] = []
  const { url } = await start((request, env) => {
    requests.push(request.url.slice(request.url.indexOf('/v1/')))
    return app.fetch(request, env)
  })
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('client'))
  return { url, requests, live: new HighwaterSignals(url, { key: token }) }
}

const numbersOf = async (signals: AsyncIterable<{ readonly seq: number }>): Promise<number[]> => {
  const numbers: number[] = []
  for await (const { seq } of signals) numbers.push(seq)
  return numbers
}

test('the signals after a number are all of the client, page by page', async () => {
  const { live, requests } = await serveSignals()
  const contents = Array.from({ length: 2_002 }, (_, i) =>
    signalContent(`s${i}`, { alias: i % 2 === 0 ? 'alder' : 'birch' }),
  )
  await commitMany(
    redis,
    contents.map(content => ({ content, onlyFor: null })),
  )
  expect(await numbersOf(live.signals({ since: 2 }))).toEqual(
    Array.from({ length: 1_000 }, (_, i) => 3 + 2 * i),
  )
  expect(requests).toEqual([
    '/v1/signals/head',
    '/v1/signals/history?since=2&limit=500',
    '/v1/signals/history?limit=500&since=1001',
  ])
})

test('a caller who has all signals gets none, for one request', async () => {
  const { live, requests } = await serveSignals()
  await fire(redis, 'a', 'alder')
  expect(await numbersOf(live.signals({ since: 1 }))).toEqual([])
  expect(requests).toEqual(['/v1/signals/head'])
})

test('signals that are fired later are yielded too if the client follows the log, until it is aborted', async () => {
  const { live } = await serveSignals()
  await fire(redis, 'a', 'alder')
  const controller = new AbortController()
  const numbers: number[] = []
  const following = (async () => {
    const { signal } = controller
    for await (const { seq } of live.signals({ since: 0, everySeconds: 0.02, signal })) numbers.push(seq)
  })()
  await expect.poll(() => numbers).toEqual([1])
  await fire(redis, 'b', 'birch')
  await fire(redis, 'c', 'alder')
  await expect.poll(() => numbers).toEqual([1, 3])
  controller.abort(new Error('the process ends'))
  expect(await rejection(following)).toMatchObject({ message: 'the process ends' })
})

test('the client of the signals reads who its key is, and the end of its log', async () => {
  const { live } = await serveSignals()
  await fire(redis, 'a', 'alder')
  expect(await live.whoami()).toMatchObject({ client_id: 'acme', entitlements: { aliases: ['alder'] } })
  expect((await live.head()).data).toMatchObject({ seq: 1, epoch: 'first-epoch' })
})

test('a wrong key of the signals is refused with 401', async () => {
  const { url } = await serveSignals()
  const stranger = new HighwaterSignals(url, { key: 'hw_live_nobody' })
  expect(await rejection(numbersOf(stranger.signals({ since: 0 })))).toMatchObject({
    code: 'unauthorized',
    status: 401,
  })
})
