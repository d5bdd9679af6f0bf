// What never reaches the app, because it is hardly HTTP: answered by the server, in the same envelope.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createQuickAnswers } from '#api/history/quick-answers.ts'
import { errorAnswer } from '#api/http/error-answer.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'
import { KINDS } from '../history/kinds.ts'
import { ERROR_ENVELOPE } from '../history/specification.ts'

let server: RunningServer

beforeAll(async () => {
  const { app, parts } = await openHistoryApp(inject('tinyStore'))
  const meta = register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null)
  const atOnce = { answer: createQuickAnswers(parts), now: Date.now }
  server = await startServer(
    () => ({ fetch: app.fetch, atOnce, answerError: error => errorAnswer(error, meta) }),
    '127.0.0.1',
    0,
  )
})

afterAll(() => server.close())

/** Sends bytes as they are, and takes apart what comes back until the server closes. */
async function send(...lines: string[]) {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write([...lines, '', ''].join('\r\n'), 'latin1')
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body, answer }
}

const CLOSE = 'Connection: close'

const errorIn = (body: string) => ERROR_ENVELOPE.parse(JSON.parse(body)).error

describe('a request that is hardly HTTP is answered in the envelope', () => {
  test.each([
    ['no HTTP at all', 400, 'bad_request', ['hello']],
    ['a method that is no token', 400, 'bad_request', ['B(EW / HTTP/1.1', 'Host: a']],
    ['no Host header', 400, 'bad_request', ['GET /healthz HTTP/1.1', CLOSE]],
    [
      'no Host header, but an expectation',
      400,
      'bad_request',
      ['GET /healthz HTTP/1.1', 'Expect: tea', CLOSE],
    ],
    ['a Host that is none', 400, 'bad_request', ['GET /healthz HTTP/1.1', 'Host: a b', CLOSE]],
    ['bytes that no address may hold', 400, 'bad_request', ['GET /\u00ff\u00fe HTTP/1.1', 'Host: a']],
    ['a header without a name', 400, 'bad_request', ['GET / HTTP/1.1', 'Host: a', ': x']],
    [
      'headers of 20 000 bytes',
      431,
      'headers_too_large',
      ['GET / HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`],
    ],
    [
      'an address of 9000 characters',
      414,
      'uri_too_long',
      [`GET /healthz?${'x'.repeat(9000)} HTTP/1.1`, 'Host: a', CLOSE],
    ],
    ['TRACE', 405, 'method_not_allowed', ['TRACE / HTTP/1.1', 'Host: a', CLOSE]],
    ['CONNECT', 405, 'method_not_allowed', ['CONNECT other.example:443 HTTP/1.1', 'Host: a']],
    ['a method that nobody knows', 405, 'method_not_allowed', ['BREW / HTTP/1.1', 'Host: a']],
    ['a method that begins like another', 405, 'method_not_allowed', ['GETS /healthz HTTP/1.1', 'Host: a']],
  ] as const)('%s', async (_what, expected, code, lines) => {
    const { status, head, body } = await send(...lines)
    expect(status).toBe(expected)
    expect(errorIn(body).code).toBe(code)
    expect(head).toContain('content-type: application/json; charset=utf-8')
    expect(head).toContain('vary: accept-encoding, origin')
    expect(head).toContain('x-content-type-options: nosniff')
    expect(head).toContain('cache-control: no-store')
    expect(head).toContain(`content-length: ${body.length}\r`)
    expect(head.includes('allow: get, head, options')).toBe(expected === 405)
  })
})

describe('a request that is unusual and sound is answered', () => {
  test.each([
    ['of HTTP/1.0, without a Host', ['GET /healthz HTTP/1.0']],
    ['with an expectation that nobody knows', ['GET /healthz HTTP/1.1', 'Host: a', 'Expect: tea', CLOSE]],
    ['with the whole address of a proxy', ['GET http://other.example/healthz HTTP/1.1', 'Host: a', CLOSE]],
    [
      'with an upgrade that is not on offer',
      ['GET /healthz HTTP/1.1', 'Host: a', 'Upgrade: websocket', CLOSE],
    ],
    ['with a fragment', ['GET /healthz#top HTTP/1.1', 'Host: a', CLOSE]],
  ] as const)('%s', async (_what, lines) => {
    const { status, body } = await send(...lines)
    expect(status).toBe(200)
    expect(body).toContain('"status":"ok"')
  })
})

test('a 304 has no content type: a cache would serve the JSON that it has as text', async () => {
  const { status, head, body } = await send('GET /v1/summary HTTP/1.1', 'Host: a', 'If-None-Match: *', CLOSE)
  expect(status).toBe(304)
  expect(head).not.toMatch(/^content-(?!location: )/m)
  expect(head).toMatch(/^etag: "/m)
  expect(body).toBe('')
})

test('a method that nobody knows is refused as such where it follows a proper request, too', async () => {
  const { answer } = await send('GET /healthz HTTP/1.1', 'Host: a', '', 'BREW / HTTP/1.1', 'Host: a')
  expect(answer).toContain('HTTP/1.1 405')
})

describe('HEAD is sent without a body, and with the length of the one that GET has:', () => {
  const asked = KINDS.filter(({ method, status, state }) => !method && status !== 304 && !state)
  test.each(asked.map(kind => [kind.name, kind] as const))('%s', async (_name, { path, status, headers }) => {
    const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`)
    const get = await send(`GET ${path} HTTP/1.1`, 'Host: a', CLOSE, ...lines)
    const head = await send(`HEAD ${path} HTTP/1.1`, 'Host: a', CLOSE, ...lines)
    expect(head.status).toBe(status)
    expect(head.body).toBe('')
    const lengthOf = (text: string) => /^content-length: (\d+)\r?$/m.exec(text)?.[1]
    expect(lengthOf(get.head)).toBe(String(Buffer.byteLength(get.body)))
    expect(lengthOf(head.head)?.length).toBe(lengthOf(get.head)?.length) // the measured time in it may differ
  })
})

test('a port that is taken is one clear sentence', async () => {
  const { port } = new URL(server.url)
  const createApp = () => {
    throw new Error('there is no address to make an app for')
  }
  await expect(startServer(createApp, '127.0.0.1', Number(port))).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}: another process has the port: stop it, or choose another port`,
  )
})
