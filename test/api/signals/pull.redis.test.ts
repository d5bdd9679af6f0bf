// Laws of the pull, against a plain model: what a client sees is a filter of the log, and paging changes nothing of it.
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { commit, type NewSignal } from '#signals/log/commit.ts'
import { BLOCK_SIGNALS, readAfter } from '#signals/log/read-log.ts'
import { accountFor } from '#signals/outbox/resend.ts'
import { setSettings } from '#signals/outbox/webhooks.ts'
import { outboxKey } from '#signals/redis/keys.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import { addEndpoint, BOX, readDelivery, relayAll } from '../../support/signals/delivery.ts'
import {
  addClient,
  commitMany,
  fire,
  NOW_MS,
  seededBytes,
  signalContent,
} from '../../support/signals/signals.ts'
import { createTestSignals, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { envelopeOf, rowsOf, SIGNAL } from './keyed-answers.ts'

let app: ReturnType<typeof createTestSignals>['app']
let token: string

/** A new Redis' worth of nothing but the client. */
async function reset(aliases: readonly string[]): Promise<void> {
  await redis.flushall()
  token = (await addClient(redis, 'acme', aliases, seededBytes('pull'))).token
}

useRedis()
beforeAll(() => {
  app = createTestSignals(redis).app
})

const ALIASES = ['alder', 'birch', 'cedar'] as const

type Entry = { readonly alias: string; readonly onlyFor: string | null; readonly price: number }

const entry: fc.Arbitrary<Entry> = fc.record({
  alias: fc.constantFrom(...ALIASES),
  onlyFor: fc.constantFrom(null, null, null, 'acme', 'other', 'acme/backup', 'acmes/backup'),
  price: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
})

const toSignal = ({ alias, onlyFor, price }: Entry, i: number): NewSignal => ({
  content: signalContent(`s${i}`, {
    ...{ alias, signal_price: price, is_test: onlyFor !== null },
    ...(price > 1 ? ({ action: 'flat', why: 'stop' } as const) : {}),
  }),
  onlyFor,
})

/** The numbers that a client sees, by the plainest filter. */
const model = (log: readonly Entry[], aliases: readonly string[], since: number): number[] =>
  log
    .map(({ alias, onlyFor }, i) => ({
      seq: i + 1,
      seen: onlyFor === null ? aliases.includes(alias) : ['acme', 'acme/backup'].includes(onlyFor),
    }))
    .filter(({ seq, seen }) => seen && seq > since)
    .map(({ seq }) => seq)

const get = async (path: string): Promise<Response> => app.request(path, withKey(token))

const seqsIn = (data: unknown): number[] =>
  SIGNAL.array()
    .parse(data)
    .map(({ seq }) => seq)

/** Follows `links.next` to the end. */
async function readPages(path: string): Promise<number[][]> {
  const pages: number[][] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { data, meta, links } = await envelopeOf(await get(next))
    const seqs = seqsIn(data)
    expect(meta.count).toBe(seqs.length)
    pages.push(seqs)
    next = links.next
  }
  return pages
}

test('a history is the log after a number that the client may see, its pages are the whole, and the newest signal is its last row', async () => {
  await forAllInTurn(
    60,
    fc.array(entry, { maxLength: 30 }),
    fc.subarray([...ALIASES]),
    fc.nat(35),
    fc.integer({ min: 1, max: 8 }),
    async (log, aliases, since, limit) => {
      await reset(aliases)
      if (log.length > 0) await commit(redis, log.map(toSignal), NOW_MS)
      const expected = model(log, aliases, since)
      const { data, meta, links } = await envelopeOf(await get(`/v1/signals/history?since=${since}`))
      expect(seqsIn(data)).toEqual(expected)
      expect(meta).toMatchObject({
        basis: 'live',
        count: expected.length,
        last_seq: expected.at(-1) ?? since,
      })
      expect(links.next).toBeUndefined()
      const pages = await readPages(`/v1/signals/history?since=${since}&limit=${limit}`)
      expect(pages.flat()).toEqual(expected)
      expect(pages.every((page, i) => page.length === limit || i === pages.length - 1)).toBe(true)
      const latest = await get('/v1/signals/latest')
      const newest = model(log, aliases, 0).at(-1)
      expect(latest.status).toBe(newest === undefined ? 404 : 200)
      if (newest !== undefined) expect(await latest.json()).toMatchObject({ data: { seq: newest } })
    },
  )
})

test('the pull of signals as CSV holds what the JSON holds, in the order of the specification and without an exponent', async () => {
  await forAllInTurn(30, fc.array(entry, { minLength: 1, maxLength: 20 }), async log => {
    await reset(ALIASES)
    await commit(redis, log.map(toSignal), NOW_MS)
    const rows = await rowsOf(await get('/v1/signals/history'))
    const [header, ...lines] = (await (await get('/v1/signals/history?format=csv')).text()).split('\r\n')
    expect(header?.split(',')).toEqual(Object.keys(SIGNAL.shape))
    expect(lines.pop()).toBe('') // the last row ends as all do
    expect(lines.map(line => line.split(','))).toEqual(
      rows.map(row =>
        Object.values({ ...row, why: row.why ?? '' }).map(cell =>
          typeof cell === 'number'
            ? expect.toSatisfy(text => isPlain(text) && Number(text) === cell)
            : String(cell),
        ),
      ),
    )
  })
})

test('a history of many blocks is filtered the same, whole and in pages, also if a page ends with a block', async () => {
  await reset(['alder', 'cedar'])
  const log = Array.from({ length: 3 * BLOCK_SIGNALS + 1 }, (_, i): Entry => {
    const isSilent = i > BLOCK_SIGNALS && i < 2 * BLOCK_SIGNALS + 10 // a block without anything to see
    return { alias: isSilent ? 'birch' : ALIASES[i % 3]!, onlyFor: null, price: i + 1 }
  })
  await commitMany(redis, log.map(toSignal))
  const expected = model(log, ['alder', 'cedar'], 0)
  for (const limit of [BLOCK_SIGNALS - 1, BLOCK_SIGNALS, expected.length, 10_000]) {
    expect((await readPages(`/v1/signals/history?limit=${limit}`)).flat()).toEqual(expected)
  }
  expect(await readPages('/v1/signals/history')).toEqual([expected])
  expect(await readPages(`/v1/signals/history?since=${BLOCK_SIGNALS}`)).toEqual([
    model(log, ['alder', 'cedar'], BLOCK_SIGNALS),
  ])
})

/** Blocks that were read since the counters were reset. */
const blocksRead = async (): Promise<number> =>
  Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

test('a long history is streamed whole in small pieces, read no faster than its reader takes it, by HEAD no further than its beginning, and costs no block if the client is up to date', async () => {
  await reset(['alder'])
  const length = 12_000
  const contents = Array.from({ length }, (_, i) => signalContent(`s${i}`, { signal_price: 1 + i }))
  await commitMany(
    redis,
    contents.map(content => ({ content, onlyFor: null })),
  )
  let [bytes, longest, tail] = [0, 0, '']
  for await (const piece of (await get('/v1/signals/history')).body ?? []) {
    bytes += piece.length
    longest = Math.max(longest, piece.length)
    tail = (tail + Buffer.from(piece.subarray(-300)).toString()).slice(-300)
  }
  expect(bytes).toBeGreaterThan(2.4e6)
  expect(longest).toBeLessThan(4e5)
  expect(tail).toContain(`"count":${length},"last_seq":${length}}`)

  await redis.config('RESETSTAT')
  const reader = (await get('/v1/signals/history?format=csv')).body!.getReader()
  const before = await blocksRead()
  expect(before).toBeLessThan(10) // what is made before the first byte is sent
  for (let i = 1; i <= 5; i++) {
    await reader.read()
    expect(await blocksRead()).toBeLessThanOrEqual(before + i)
  }
  await reader.cancel()
  const after = await blocksRead()
  await get('/v1/whoami')
  expect(await blocksRead()).toBe(after)

  await redis.config('RESETSTAT')
  const head = await app.request('/v1/signals/history', withKey(token, 'HEAD'))
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(await blocksRead()).toBeLessThan(10)
  await redis.config('RESETSTAT')
  expect(await rowsOf(await get(`/v1/signals/history?since=${length}`))).toEqual([])
  expect(await blocksRead()).toBe(0)
})

test('a history and the newest signal are the stored bytes, not a rendering of them', async () => {
  await reset(['alder'])
  const prices = [1e-7, 1e21, 0.1 + 0.2].map(price => ({ alias: 'alder', onlyFor: null, price }))
  await commit(redis, prices.map(toSignal), NOW_MS)
  const bodies = (await readAfter(redis, 0, 10)).map(({ body }) => body)
  expect(await (await get('/v1/signals/history')).text()).toContain(`{"data":[${bodies.join(',')}],"meta":{`)
  expect(await (await get('/v1/signals/latest')).text()).toContain(`{"data":${bodies[2]},"meta":{`)
})

test('a history names the entries of the page that expired, and at which endpoints; its rows and its digest stay what they were', async () => {
  await reset(['alder'])
  for (const destination of ['acme', 'acme/backup'])
    await addEndpoint(redis, destination, 'http://127.0.0.1:9/')
  for (const id of ['a', 'b', 'c']) await fire(redis, id, 'alder')
  const before = {
    rows: await rowsOf(await get('/v1/signals/history')),
    account: await accountFor(redis, 'acme', 1, 3),
  }
  await relayAll(redis, () => NOW_MS)
  for (const [seq, destination] of [
    [1, 'acme/backup'],
    [3, 'acme'],
    [3, 'acme/backup'],
  ] as const) {
    const state = { ...(await readDelivery(redis, seq, destination)), status: 'expired' }
    await redis.hset(outboxKey(seq), destination, JSON.stringify(state))
  }
  const metaOf = async (path: string) =>
    (await envelopeOf(await get(`/v1/signals/history${path}`))).meta.expired
  const [one, three] = [
    { seq: 1, endpoints: ['backup'] },
    { seq: 3, endpoints: ['default', 'backup'] },
  ]
  expect(await metaOf('')).toEqual([one, three])
  expect(await metaOf('?limit=2')).toEqual([one])
  expect(await metaOf('?since=1&limit=1')).toBeUndefined()
  expect(await rowsOf(await get('/v1/signals/history'))).toEqual(before.rows)
  expect((await accountFor(redis, 'acme', 1, 3)).sha256).toBe(before.account.sha256)
  const { data } = await envelopeOf(await get('/v1/signals/account?endpoint=backup'))
  expect(data).toMatchObject({ missing: [1, 2, 3], owed: [2], expired: [1, 3] })
  expect((await get('/v1/signals/account?endpoint=other')).status).toBe(404)
})

test('a history of an endpoint is what that one is sent by its filter, with its own tests and what expired there, and that of an endpoint that is not set is refused', async () => {
  await reset(['alder', 'birch'])
  for (const destination of ['acme', 'acme/backup'])
    await addEndpoint(redis, destination, 'http://127.0.0.1:9/')
  await setSettings(redis, BOX, 'acme/backup', { filter: ['birch'] })
  for (const [i, alias] of ['alder', 'birch', 'birch', 'alder'].entries()) await fire(redis, `s${i}`, alias)
  for (const destination of ['acme', 'acme/backup']) await fire(redis, destination, 'test', destination)
  await relayAll(redis, () => NOW_MS)
  for (const destination of ['acme', 'acme/backup']) {
    const state = { ...(await readDelivery(redis, 3, destination)), status: 'expired' }
    await redis.hset(outboxKey(3), destination, JSON.stringify(state))
  }
  const of = (endpoint: string) => `/v1/signals/history?endpoint=${endpoint}`
  expect(await readPages(`${of('backup')}&limit=2`)).toEqual([[2, 3], [6]])
  expect(await readPages(of('default'))).toEqual([[1, 2, 3, 4, 5]])
  expect((await envelopeOf(await get(of('backup')))).meta.expired).toEqual([
    { seq: 3, endpoints: ['backup'] },
  ])
  expect((await get(`${of('backup')}&format=csv`)).status).toBe(200)
  expect((await get(of('other'))).status).toBe(404)
})

test('a history of nothing is an empty list, and a CSV of its header alone', async () => {
  await reset(['alder'])
  expect(await rowsOf(await get('/v1/signals/history'))).toEqual([])
  const csv = await get('/v1/signals/history?format=csv')
  expect(await csv.text()).toBe(`${Object.keys(SIGNAL.shape).join(',')}\r\n`)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="signals-acme-since-0.csv"')
  await fire(redis, 'a', 'alder')
  expect(await rowsOf(await get('/v1/signals/history?since=9007199254740991'))).toEqual([])
})

test('a history links to itself canonically, and to its next page as long as there is one', async () => {
  await reset(['alder'])
  for (const id of ['a', 'b', 'c']) await fire(redis, id, 'alder')
  const { links } = await envelopeOf(await get('/v1/signals/history?limit=2&colour=red&since=0&format=json'))
  expect(links).toEqual({
    self: '/v1/signals/history?limit=2',
    history: '/v1/signals/history',
    latest: '/v1/signals/latest',
    next: '/v1/signals/history?limit=2&since=2',
  })
  expect((await envelopeOf(await get(links.next ?? ''))).links.next).toBeUndefined()
})

const isPlain = (text: unknown): boolean => typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text)
