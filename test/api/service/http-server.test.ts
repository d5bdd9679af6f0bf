// What reaches the server: malformed, unusual and ordinary requests as bytes.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startServer } from '#api/service/http-server.ts'
import { atEndOfFile } from '../../support/ends.ts'
import { openExchange } from '../../support/http/raw-exchange.ts'
import { openTiny } from '../history/answers.ts'

const { app } = await openTiny()
const server = await startServer(() => app.fetch, '127.0.0.1', 0)
atEndOfFile(() => server.close())

/** Sends lines as they are, and gives what comes back until the server closes. */
const send = async (...lines: string[]) =>
  (await openExchange(server.url, [...lines, '', ''].join('\r\n'))).answer

const CLOSE = 'Connection: close'

test.each([
  ['a method that is no token', 400, ['B(EW / HTTP/1.1', 'Host: a']],
  ['bytes that no address may hold', 400, ['GET /\u00ff\u00fe HTTP/1.1', 'Host: a']],
  ['a header without a name', 400, ['GET / HTTP/1.1', 'Host: a', ': x']],
  ['a header folded over lines', 400, ['GET / HTTP/1.1', 'Host: a', 'X: a', ' b']],
  ['a NUL in the path', 400, ['GET /v1/\0 HTTP/1.1', 'Host: a']],
  ['the greeting of HTTP/2', 400, ['PRI * HTTP/2.0', '', 'SM']],
  ['headers of 20 kB', 431, ['GET / HTTP/1.1', 'Host: a', `X: ${'a'.repeat(20_000)}`]],
  [
    'a body of two lengths',
    400,
    ['PUT / HTTP/1.1', 'Host: a', 'Content-Length: 3', 'Transfer-Encoding: chunked'],
  ],
] as const)('a malformed request is refused and its connection closed: %s', async (_, expected, lines) => {
  const { status, body } = await send(...lines)
  expect(status).toBe(expected)
  expect(body.replace(/^0$/, '')).toBe('')
})

test('a CONNECT request is refused by closing its connection', async () => {
  const { text } = await send('CONNECT other.example:443 HTTP/1.1', 'Host: a')
  expect(text).toBe('')
})

test('OPTIONS of the whole server lists its methods', async () => {
  const { status, headers } = await send('OPTIONS * HTTP/1.1', 'Host: a', CLOSE)
  expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
})

test('a request with any other Host is answered', async () => {
  for (const host of ['255.1.1.1', 'a.b1', '1', '0x7f.1', '[::1]:80', 'a_b', 'a..b']) {
    const line = 'GET /v1/strategies/ash/stats?risk_pct=0.02 HTTP/1.1'
    const { status } = await send(line, `Host: ${host}`, CLOSE)
    expect([host, status]).toEqual([host, 200])
  }
})

test.each([
  ['of HTTP/1.0, without a Host', ['GET /healthz HTTP/1.0']],
  ['with the whole address of a proxy', ['GET http://other.example/healthz HTTP/1.1', 'Host: a', CLOSE]],
  ['with an upgrade that is not on offer', ['GET /healthz HTTP/1.1', 'Host: a', 'Upgrade: websocket', CLOSE]],
  ['with a fragment', ['GET /healthz#top HTTP/1.1', 'Host: a', CLOSE]],
  ['with an expectation that nobody knows', ['GET /healthz HTTP/1.1', 'Host: a', 'Expect: tea', CLOSE]],
] as const)('an unusual request that is valid is answered: %s', async (_what, lines) => {
  const { status, body } = await send(...lines)
  expect(status).toBe(200)
  expect(body).toContain('"status":"ok"')
})

test('a 304 has no content type: a cache would serve the JSON that it has as text', async () => {
  const { status, headers, body } = await send(
    'GET /v1/summary HTTP/1.1',
    'Host: a',
    'If-None-Match: *',
    CLOSE,
  )
  expect(status).toBe(304)
  expect([...headers.keys()].filter(name => name.startsWith('content-'))).toEqual(['content-location'])
  expect(headers.get('etag')).toMatch(/^"/)
  expect(body).toBe('')
})

test('100 Continue never comes between the headers and the body of an answer', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const request = (...more: string[]) => ['GET /healthz HTTP/1.1', 'Host: a', ...more, '', ''].join('\r\n')
  socket.write(request() + request('Expect: 100-continue')) // pipelined: the second answer waits for its turn
  const answers = await text(socket) // the connection ends, because a body may follow or not
  expect(answers.split('HTTP/1.1 ').map(each => each.slice(0, 6))).toEqual(['', '200 OK', '200 OK'])
})

test('a body that breaks off ends the connection without a second answer', async () => {
  const chunked = ['GET /healthz HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', '', 'zz']
  const { text } = await send(...chunked)
  expect(text.match(/HTTP\/1\.1 \d+/g)?.length).toBeLessThan(2)
})

test('CONNECT does not end the process if the sender resets the connection', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () =>
    socket.resetAndDestroy(),
  )
  await once(socket, 'close')
  expect((await send('GET /healthz HTTP/1.1', 'Host: a', CLOSE)).status).toBe(200)
})
