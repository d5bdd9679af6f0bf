// Large answers over real connections: no more is made than is read, and no half of one ends as a whole one does.
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { createComputedAnswers, type LargeLimits } from '#api/history/answers/computed-answers.ts'
import type { HttpLimits, RunningServer } from '#api/http/http-server.ts'
import { DEFAULT_PARAMS } from '#core/contract/parameters.ts'
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
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { errorIn, open, start, statusesIn } from '../../support/http/raw-server.ts'

/** An export of 30 MB, more than the buffers of any two sockets hold. Nobody ever reads the whole of it. */
const DAYS = 150_000

async function serve(snapshot: Snapshot, large: Partial<LargeLimits> = {}, http: Partial<HttpLimits> = {}) {
  const { store, privateStore } = createMemoryStores()
  const computed = createComputedAnswers(limitsWith({ largeCells: 1_000, ...large }))
  const opened = await createTestApp(store, privateStore, { source: sourceOf(toServed(snapshot)), computed })
  return { server: await start(opened.app.fetch, http), computed, ...opened }
}

const lines = (path: string, version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`

const exportAt = (risk: string): string => `/v1/export?risk_pct=${risk}`

/** Asks for an export, and reads no further than its beginning. */
async function openStanding(server: RunningServer, risk: string): Promise<Socket> {
  const socket = open(server, lines(exportAt(risk)))
  await once(socket, 'readable')
  return socket
}

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
  const third = await vi.waitFor(async () => {
    const socket = await openStanding(server, '0.013')
    expect(socket.read(12)?.toString()).toBe('HTTP/1.1 200')
    return socket
  }, 60_000)
  third.destroy()
  await expect.poll(() => answers.filter(({ kind }) => kind === 'cut')).toHaveLength(2)
  expect(errors).toEqual([])
})

test('a reader that stands still is cut off in the end, and gives its place back', async () => {
  const { server, answers } = await serve(longBook(longReturns(DAYS)), { mostLarge: 1 }, { stalledMs: 300 })
  await openStanding(server, '0.011')
  await vi.waitFor(async () => {
    const socket = await openStanding(server, '0.012')
    expect(socket.read(12)?.toString()).toBe('HTTP/1.1 200')
  }, 60_000)
  expect(answers).toContainEqual(expect.objectContaining({ kind: 'cut' }))
})

test('a reader who goes before there is an answer leaves no place taken', async () => {
  const { server, answers } = await serve(longBook(longReturns(DAYS)), { mostLarge: 1 })
  for (let i = 0; i < 5; i++) {
    const socket = open(server, lines(exportAt(`0.01${i}`)))
    await once(socket, 'connect')
    socket.destroy()
  }
  await vi.waitFor(async () => {
    const socket = await openStanding(server, '0.02')
    expect(socket.read(12)?.toString()).toBe('HTTP/1.1 200')
  }, 60_000)
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

test('HEAD of a large answer has the headers of GET over a connection, and no length', async () => {
  const { server } = await serve(book)
  const ask = async (method: string) => {
    const [response] = await once(request(server.url + exportAt('0.013'), { method }).end(), 'response')
    await buffer(response)
    const { 'transfer-encoding': framing, date, ...headers } = response.headers
    return { status: response.statusCode, headers, framing }
  }
  const head = await ask('HEAD')
  const get = await ask('GET')
  expect(get.framing).toBe('chunked')
  expect({ ...head, framing: null }).toEqual({ ...get, framing: null })
  expect(head.headers['content-length']).toBeUndefined()
})

test.each(['1.0', '1.1'])(
  'a large answer over HTTP/%s that fails is never taken for whole by a client',
  async version => {
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
  },
)
