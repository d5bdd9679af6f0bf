// Large answers are made while they are sent: the same bytes as ever, two at a time for one client, no more than is read,
// and no half of one ends as a whole one does.

import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { beforeEach, expect, test, vi } from 'vitest'
import { createComputedAnswers, type LargeLimits } from '#api/history/answers/computed-answers.ts'
import { compressBlocks } from '#api/service/content-coding.ts'
import type { HttpLimits, RunningServer } from '#api/service/http-server.ts'
import { DEFAULT_PARAMS, FORMATS, type Params } from '#core/contract/parameters.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import {
  limitsWith,
  longBook,
  longReturns,
  sourceOf,
  toServed,
  watched,
} from '../../support/books/large-book.ts'
import { errorIn, open, start, statusesIn } from '../../support/http/raw-server.ts'
import { type App, errorOf, openEmpty } from './answers.ts'
import { decodedText } from './decode.ts'

const BOOK = longBook(longReturns(2_000))

/** Everything but the smallest is large, and an export of the book is four blocks of JSON. */
const LIMITS = { largeCells: 50 }

let evaluations = 0

/** The book, and how often an answer about its correlations was evaluated. */
const COUNTED = {
  ...BOOK,
  get correlation() {
    evaluations++
    return BOOK.correlation
  },
}

async function openApp(changes: Partial<LargeLimits> = {}, snapshot = COUNTED) {
  const computed = createComputedAnswers(limitsWith({ ...LIMITS, ...changes }))
  const served = toServed(snapshot)
  const opened = await openEmpty({
    source: sourceOf(served),
    pinned: { open: async () => served, residents: () => 0 },
    clientOf: c => c.req.header('x-client') ?? '',
    computed,
  })
  return { ...opened, computed, served }
}

const ask = (app: App, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.request(path, { method, headers })

const exportAt = (risk: string): string => `/v1/export?risk_pct=${risk}`

const bytesOf = (given: Partial<Params>): Uint8Array =>
  renderAnswer('export', BOOK, { ...DEFAULT_PARAMS, ...given }).bytes

/** Reads a body, coded as it came. */
const read = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

beforeEach(() => {
  evaluations = 0
})

test.each(['identity', 'zstd', 'br', 'gzip'])('a large answer in %s equals the whole one', async coding => {
  const { app } = await openApp()
  const response = await ask(app, exportAt('0.013'), { 'accept-encoding': coding })
  expect(response.headers.get('content-encoding') ?? 'identity').toBe(coding)
  expect(response.headers.has('content-length')).toBe(false)
  expect(await decodedText(response)).toBe(new TextDecoder().decode(bytesOf({ risk_pct: 0.013 })))
})

test.each(FORMATS)(
  'a large answer as %s has the bytes and headers of the whole one, and a place',
  async format => {
    const { app } = await openApp({ mostLarge: 1 })
    const response = await ask(app, `${exportAt('0.013')}&format=${format}`)
    expect((await ask(app, exportAt('0.014'))).status).toBe(503)
    const whole = renderAnswer('export', BOOK, { ...DEFAULT_PARAMS, risk_pct: 0.013, format })
    expect(Object.fromEntries(response.headers)).toMatchObject(whole.headers)
    expect((await read(response)).equals(whole.bytes)).toBe(true)
    expect((await ask(app, exportAt('0.014'))).status).toBe(200)
  },
)

test('a matrix of correlations may be a large answer, too', async () => {
  const { app } = await openApp()
  const ids = ['s3', 's1', 's2', 's9', 's8', 's7', 's6', 's5']
  const response = await ask(app, `/v1/correlation?ids=${ids}`)
  expect(response.headers.has('content-length')).toBe(false)
  const whole = renderAnswer('correlation', BOOK, { ...DEFAULT_PARAMS, ids })
  expect((await read(response)).equals(whole.bytes)).toBe(true)
})

test('a large answer is the same bytes under the same validator each time it is made', async () => {
  const headers = { 'accept-encoding': 'zstd' }
  const answers = await Promise.all([openApp(), openApp()]).then(apps =>
    Promise.all(apps.map(({ app }) => ask(app, exportAt('0.013'), headers))),
  )
  const [one, two] = await Promise.all(answers.map(read))
  expect(one!.equals(two!)).toBe(true)
  expect(answers[0]!.headers.get('etag')).toBe(answers[1]!.headers.get('etag'))
})

test('a large answer is 304 for a client that has it, without being computed and even if all places are taken', async () => {
  const { app } = await openApp()
  const etag = (await ask(app, exportAt('0.013'))).headers.get('etag')!
  await ask(app, exportAt('0.014'))
  expect(evaluations).toBe(2)
  const known = await ask(app, exportAt('0.013'), { 'if-none-match': etag })
  expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, ''])
  expect(evaluations).toBe(2)
})

test('HEAD of a large answer has the headers of GET, takes no place and renders nothing', async () => {
  const { app, computed, answers } = await openApp({ mostLarge: 1 })
  const head = await ask(app, exportAt('0.013'), {}, 'HEAD')
  expect(await head.text()).toBe('')
  const get = await ask(app, exportAt('0.013'))
  expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers))
  expect(computed.use()).toMatchObject({ hits: 0, misses: 1, shared: 0 })
  expect(answers).toMatchObject([{ method: 'HEAD', status: 200, bytes: 0, kind: 'computed' }])
})

test('a large answer is logged once, at its end, with the bytes that were sent', async () => {
  const { app, answers } = await openApp()
  const response = await ask(app, exportAt('0.013'))
  expect(answers).toEqual([])
  const { length } = await read(response)
  expect(answers).toMatchObject([{ status: 200, kind: 'computed', bytes: length, route: '/v1/export' }])
})

test('a large answer that its reader cancels is logged as cut, and is no error', async () => {
  const { app, answers, errors } = await openApp({ mostLarge: 1 })
  const reader = (await ask(app, exportAt('0.013'))).body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  await expect.poll(() => answers).toMatchObject([{ kind: 'cut', bytes: value!.length, status: 200 }])
  expect(errors).toEqual([])
  expect((await ask(app, exportAt('0.014'))).status).toBe(200)
})

test('a large answer has no digest under a pin, where others have one: it is sent before it is known', async () => {
  const { app, served } = await openApp()
  const pin = `&dataset_version=${served.version}`
  const large = await ask(app, exportAt('0.013') + pin)
  expect([large.status, large.headers.has('unencoded-digest')]).toEqual([200, false])
  const small = await ask(app, `/v1/strategies/s0/stats?risk_pct=0.013${pin}`)
  expect(small.headers.has('unencoded-digest')).toBe(true)
})

const OVERLOADED = { code: 'overloaded' }

test('a third large answer is refused to one client with Retry-After, sent to another, and served when a reader leaves', async () => {
  const { app, errors } = await openApp()
  const [one, two] = [await ask(app, exportAt('0.011')), await ask(app, exportAt('0.012'))]
  for (const method of ['GET', 'HEAD']) {
    const refused = await ask(app, exportAt('0.013'), {}, method)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(refused.headers.get('cache-control')).toBe('no-store')
    if (method === 'GET') expect(await errorOf(refused)).toMatchObject(OVERLOADED)
  }
  expect(evaluations).toBe(2)
  expect((await ask(app, '/v1/strategies/s0/stats?risk_pct=0.013')).status).toBe(200)
  const other = await ask(app, exportAt('0.013'), { 'x-client': 'other' })
  const last = await ask(app, exportAt('0.014'), { 'x-client': 'last' })
  expect([other.status, last.status]).toEqual([200, 503])
  await one.body!.cancel()
  const three = await ask(app, exportAt('0.013'))
  expect(three.status).toBe(200)
  for (const [response, risk_pct] of [
    [two, 0.012],
    [three, 0.013],
  ] as const) {
    expect((await read(response)).equals(bytesOf({ risk_pct }))).toBe(true)
  }
  expect(errors).toEqual([])
})

test('a large answer that was sent whole is kept, and is given at once and with its length from then on', async () => {
  const { app, computed } = await openApp({ mostLarge: 1 })
  const first = await ask(app, exportAt('0.013'), { 'accept-encoding': 'gzip' })
  expect(computed.use().bytes).toBe(0) // half of it must not be found
  const body = await read(first)
  expect(computed.use().bytes).toBe(body.length)
  const held = await ask(app, exportAt('0.014'))
  const again = await ask(app, exportAt('0.013'), { 'accept-encoding': 'gzip' })
  expect(again.headers.get('content-length')).toBe(String(body.length))
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
  expect((await read(again)).equals(body)).toBe(true)
  await held.body!.cancel()
})

test('a large answer that was broken off, or is longer than may be kept, is not kept', async () => {
  const { app, computed } = await openApp({ keptBytes: 100_000 })
  const broken = await ask(app, exportAt('0.014'), { 'accept-encoding': 'gzip' })
  await broken.body!.cancel()
  await read(await ask(app, exportAt('0.013')))
  expect(computed.use().bytes).toBe(0)
})

test.each([
  ['that cannot be evaluated', { ...BOOK, correlation: { daily: null, weekly: null } } as never], // no such snapshot is legal
  ['whose first bytes cannot be made', { ...COUNTED, ...longBook(Float64Array.of(Number.NaN)) }],
])('a large answer %s is refused as a whole, and takes no place', async (_why, book) => {
  const { app, errors } = await openApp({ mostLarge: 1 }, book)
  for (let i = 0; i < 3; i++) expect((await ask(app, exportAt('0.013'))).status).toBe(500)
  expect(errors).toHaveLength(3)
})

test('a large answer whose reader takes too long breaks off, and gives its place back', async () => {
  const { app, errors, answers } = await openApp({ mostLarge: 1, readingMs: 100 })
  const slow = await ask(app, exportAt('0.013'))
  await expect.poll(async () => (await ask(app, exportAt('0.014'))).status).toBe(200)
  await expect(slow.arrayBuffer()).rejects.toThrow('the answer broke off')
  expect(answers).toContainEqual(expect.objectContaining({ kind: 'cut' }))
  expect(errors).toEqual([])
})

test.each(['identity', 'zstd'] as const)(
  'other work of the process has a turn between two blocks of a large answer in %s',
  async coding => {
    const order: string[] = []
    function* blocks() {
      for (let i = 0; i < 8; i++) {
        order.push('block')
        yield new Uint8Array(200_000).fill(i)
      }
    }
    let isOver = false
    const others = async () => {
      while (!isOver) {
        order.push('turn')
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const turning = others()
    for await (const _ of compressBlocks(blocks(), coding));
    isOver = true
    await turning
    expect(order.filter(what => what === 'block')).toHaveLength(8)
    expect(order.join(' ')).not.toContain('block block')
  },
)

/** An export of 30 MB, more than the buffers of any two sockets hold. Nobody ever reads the whole of it. */
const DAYS = 150_000

async function serve(snapshot: Snapshot, large: Partial<LargeLimits> = {}, http: Partial<HttpLimits> = {}) {
  const computed = createComputedAnswers(limitsWith({ largeCells: 1_000, ...large }))
  const opened = await openEmpty({ source: sourceOf(toServed(snapshot)), computed })
  return { server: await start(opened.app.fetch, http), computed, ...opened }
}

const lines = (path: string, version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`

/** Asks for an export, and reads no further than its beginning. */
async function openStanding(server: RunningServer, risk: string): Promise<Socket> {
  const socket = open(server, lines(exportAt(risk)))
  await once(socket, 'readable')
  return socket
}

/** The same as soon as there is a place for it. */
const openAtLast = (server: RunningServer, risk: string): Promise<Socket> =>
  vi.waitFor(async () => {
    const socket = await openStanding(server, risk)
    expect(socket.read(12)?.toString()).toBe('HTTP/1.1 200')
    return socket
  }, 60_000)

const statusOf = async (server: RunningServer, path: string): Promise<string | undefined> => {
  const answer = await text(open(server, lines(path)))
  return statusesIn(answer)[0]
}

/** What a number is once it changes no more, while others are answered. */
async function settled(server: RunningServer, read: () => number): Promise<number> {
  for (let last = -1; last !== read(); ) {
    last = read()
    for (let i = 0; i < 20; i++) expect(await statusOf(server, '/healthz')).toBe('200')
  }
  return read()
}

test('two readers that stand still have no more made than the sockets hold, keep out a third and nobody else, and make room when they go', async () => {
  const returns = longReturns(DAYS)
  const { values, furthest } = watched(returns)
  const { server, errors, answers } = await serve(longBook(returns, values))
  const one = await openStanding(server, '0.02') // the base level: evaluating it reads no values
  const made = await settled(server, furthest)
  expect(made).toBeGreaterThan(0)
  expect(made).toBeLessThan(DAYS / 2)
  await openStanding(server, '0.012')
  const refused = await text(open(server, lines(exportAt('0.013'))))
  expect(statusesIn(refused)).toEqual(['503'])
  expect(refused.toLowerCase()).toContain('\r\nretry-after: 5\r\n')
  expect(errorIn(refused).code).toBe('overloaded')
  expect(await statusOf(server, '/v1/strategies')).toBe('200')
  one.destroy()
  const third = await openAtLast(server, '0.013')
  third.destroy()
  await expect.poll(() => answers.filter(({ kind }) => kind === 'cut')).toHaveLength(2)
  expect(errors).toEqual([])
})

test('a reader that stands still is cut off in the end, and gives its place back', async () => {
  const { server, answers } = await serve(longBook(longReturns(DAYS)), { mostLarge: 1 }, { stalledMs: 300 })
  await openStanding(server, '0.011')
  await openAtLast(server, '0.012')
  expect(answers).toContainEqual(expect.objectContaining({ kind: 'cut' }))
})

test('a reader who goes before there is an answer leaves no place taken', async () => {
  const { server, answers } = await serve(longBook(longReturns(DAYS)), { mostLarge: 1 })
  for (let i = 0; i < 5; i++) {
    const socket = open(server, lines(exportAt(`0.01${i}`)))
    await once(socket, 'connect')
    socket.destroy()
  }
  await openAtLast(server, '0.02')
  expect(answers.every(({ kind }) => kind === 'cut' || kind === 'refused')).toBe(true)
})

const book = longBook(longReturns(3_000))
const whole = renderAnswer('export', book, { ...DEFAULT_PARAMS, risk_pct: 0.013 }).bytes

test('a large answer comes whole to two clients, each at its own pace', async () => {
  const { server } = await serve(book)
  const get = async () => {
    const asking = request(server.url + exportAt('0.013')).end()
    const [response] = await once(asking, 'response')
    return response
  }
  const slow = await get()
  for (const body of [await buffer(await get()), await buffer(slow)]) expect(body.equals(whole)).toBe(true)
  expect(slow.headers['transfer-encoding']).toBe('chunked')
  expect(slow.complete).toBe(true)
})

test('a large answer that is under way when the server ends comes whole', async () => {
  const { server } = await serve(book)
  const socket = await openStanding(server, '0.013')
  const ended = server.close()
  const answer = await text(socket)
  expect(answer.endsWith('\r\n0\r\n\r\n')).toBe(true)
  await ended
})

test.each(['1.0', '1.1'])('an answer over HTTP/%s that fails is never taken for whole', async version => {
  const broken = longBook(longReturns(3_000).with(2_900, Number.NaN))
  const { server, errors, answers } = await serve(broken, { mostLarge: 1 })
  for (let i = 0; i < 2; i++) {
    const socket = open(server, lines(exportAt('0.013'), version))
    let received = ''
    socket.setEncoding('latin1').on('data', chunk => {
      received += chunk
    })
    const failure = once(socket, 'end')
      .then(() => null)
      .catch(error => error)
    expect(await failure).toMatchObject({ code: 'ECONNRESET' })
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
    expect(received).not.toContain('NaN')
    expect(received.endsWith('0\r\n\r\n')).toBe(false)
  }
  expect(errors.map(String)).toEqual(Array(2).fill('Error: refusing to publish the number NaN'))
  expect(answers).toMatchObject(Array(2).fill({ kind: 'cut', status: 200 }))
})
