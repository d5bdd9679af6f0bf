// The client of the signals beside the service: what it yields is the log of its key, once and in order. And what it does if
// the log is restored from a copy, and if it is led to another server.
import { expect, test } from 'vitest'
import { EPOCH } from '#signals/redis/keys.ts'
import { type ClientOptions, Highwater, HighwaterSignals } from '../../../clients/typescript/src/index.ts'
import { FIRST_VERSION } from '../../support/books/small-book.ts'
import { start } from '../../support/http/raw-server.ts'
import { addClient, commitMany, fire, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { rejection } from './watched-service.ts'

useRedis()

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

/** A client of a service that a test writes. */
const scripted = (fetch: NonNullable<ClientOptions['fetch']>, options = {}) =>
  new HighwaterSignals('http://service.test', { key: 'a key', fetch, ...options })

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
    '/v1/signals/history?limit=500&since=2',
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
  await redis.set(EPOCH, 'first-epoch')
  await fire(redis, 'a', 'alder')
  expect(await live.whoami()).toMatchObject({ client_id: 'acme', entitlements: { aliases: ['alder'] } })
  expect((await live.head()).data).toMatchObject({ seq: 1, epoch: 'first-epoch' })
})

test('a wrong key of the signals is refused with 401, and the client of the history at the address of the signals with its reason', async () => {
  const { url } = await serveSignals()
  for (const version of [undefined, FIRST_VERSION])
    expect(await rejection(Highwater.open(url, version ? { version } : {}))).toMatchObject({
      code: 'wrong_service',
    })
  const stranger = new HighwaterSignals(url, { key: 'hw_live_nobody' })
  expect(await rejection(numbersOf(stranger.signals({ since: 0 })))).toMatchObject({
    code: 'unauthorized',
    status: 401,
  })
})

test('a log with a new epoch is pulled again from the start, and what was yielded is not yielded again', async () => {
  const rounds = [
    { epoch: 'one', seqs: [6, 7] },
    { epoch: 'one', seqs: [6, 7, 8] },
    { epoch: 'two', seqs: [6, 7, 900] },
  ]
  let round = -1
  const asked: string[] = []
  const answerOf = (url: string): unknown => {
    if (url.endsWith('/head')) round++
    const { epoch, seqs } = rounds[Math.min(round, rounds.length - 1)]!
    if (url.endsWith('/head')) return { data: { epoch, seq: seqs.at(-1) } }
    asked.push(url)
    const since = Number(/since=(\d+)/.exec(url)?.[1])
    return { data: seqs.filter(seq => seq > since).map(seq => ({ seq, signal_id: `s${seq}` })), links: {} }
  }
  const live = scripted(async url => Response.json(answerOf(url)), { seals: false })
  const numbers: number[] = []
  for await (const { seq } of live.signals({ since: 5, everySeconds: 0 })) {
    numbers.push(seq)
    if (seq === 900) break
  }
  expect(numbers).toEqual([6, 7, 8, 900])
  expect(asked.map(url => /since=\d+/.exec(url)?.[0])).toEqual(['since=5', 'since=7', 'since=5'])
})

test('a gap that an expired entry leaves is closed by a pull, which yields the entry with the endpoints that were not sent it, and may be that of one endpoint', async () => {
  const rows = [
    { seq: 3, signal_id: 's3', action: 'long' },
    { seq: 4, signal_id: 's4', action: 'flat' },
  ]
  const meta = { expired: [{ seq: 3, endpoints: ['backup'] }] }
  const answerOf = (url: string) =>
    url.endsWith('/head') ? { data: { epoch: 'one', seq: 4 } } : { data: rows, meta, links: {} }
  const urls: string[] = []
  const live = scripted(async url => {
    urls.push(url)
    return Response.json(answerOf(url))
  })
  const pulled: unknown[] = []
  for await (const each of live.signals({ since: 2, endpoint: 'backup' })) pulled.push(each)
  expect(urls.at(-1)).toContain('/v1/signals/history?endpoint=backup&limit=')
  expect(pulled).toEqual([{ ...rows[0], expired: ['backup'] }, rows[1]])
})

test('a client sets, changes, tests, rotates and removes an endpoint, asks what became of a signal, counts a resend before it is sent, and reads its notices', async () => {
  const { live, requests } = await serveSignals()
  const url = 'https://backup.example.org/token'
  expect((await live.setEndpoint('backup', { url })).data).toMatchObject({
    ...{ endpoint: 'backup', host: 'backup.example.org', secret: expect.stringMatching(/^whsec_/) },
  })
  const change = { paused: false, filter: ['alder'], expire_entries_after_s: 300, headers: { 'x-team': 'a' } }
  expect((await live.changeEndpoint('backup', change)).data).toMatchObject({
    ...{ filter: ['alder'], expire_entries_after_s: 300, header_names: ['x-team'] },
  })
  await live.setEndpoint('backup', { url }) // each registration is a signed test with a number
  const { seq } = (await live.testEndpoint('backup')).data
  const { secret } = (await live.rotateSecret('backup', { overlap_hours: 1 })).data
  expect([seq, secret]).toEqual([3, expect.stringMatching(/^whsec_/)])
  const [state] = (await live.endpoints()).data
  expect(state).toMatchObject({ endpoint: 'backup', enabled: true, secrets: [{}, {}] })
  const { endpoints } = (await live.delivery(2)).data
  expect(endpoints.map(({ endpoint, why }) => [endpoint, why])).toContainEqual([
    'backup',
    expect.stringContaining('delivered'),
  ])
  expect((await live.resend({ from: 1, dry_run: true })).data).toMatchObject({ signals: 0 })
  const backup = { endpoint: 'backup', limit: 1 } // a page for each
  expect(await numbersOf(live.deliveries(backup))).toEqual([2, 1])
  expect((await live.notices()).data).toEqual([])
  await live.removeEndpoint('backup')
  expect((await live.endpoints()).data).toEqual([])
  expect(await rejection(live.testEndpoint('back/up'))).toMatchObject({ code: 'not_found' })
  expect(requests.at(-1)).toBe('/v1/endpoints/back%2Fup/test')
})

test.each([
  [429, 2],
  [503, 1],
])(
  'a change that is answered with %d is sent %d times, because one whose answer says less may be done',
  async (status, times) => {
    const sent: RequestInit[] = []
    const error = { code: 'overloaded', message: 'busy', details: null }
    const fetch = async (_url: string, init: RequestInit) => {
      sent.push(init)
      return Response.json({ error, meta: {} }, { status, headers: { 'retry-after': '0' } })
    }
    const live = scripted(fetch, { attempts: 2 })
    expect(await rejection(live.resend({ from: 1 }))).toMatchObject({ code: 'overloaded', status })
    expect(sent.length).toBe(times)
    expect(sent[0]).toMatchObject({ method: 'POST', body: '{"from":1}', headers: { 'x-api-key': 'a key' } })
  },
)

test('the key of the signals is sent in a header, and to no other server', async () => {
  const seen: (string | null)[] = []
  const other = await start(request => {
    seen.push(`other ${request.headers.get('x-api-key')}`)
    return new Response()
  })
  const { url } = await start(request => {
    seen.push(request.headers.get('x-api-key'))
    return Response.redirect(other.url)
  })
  const live = new HighwaterSignals(url, { key: 'a key' })
  expect(await rejection(live.head())).toMatchObject({ code: 'unexpected_answer', status: 302 })
  expect(seen).toEqual(['a key'])
})
