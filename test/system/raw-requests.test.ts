// A malformed or hostile request is refused or its connection closed, and nothing of it reaches the next one.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { type ServingProcess, servedVersion, startServing } from '../support/history/history-process.ts'
import { exchange } from '../support/http/raw-exchange.ts'

let service: ServingProcess
beforeAll(async () => {
  service = await startServing(inject('tinyStore'))
})

const request = (line: string, ...headers: readonly string[]): string =>
  [line, ...headers, 'Connection: close', '', ''].join('\r\n')

const HOST = 'Host: localhost'
const LONG = 'a'.repeat(20_000)

/** Refused by Node's parser or its request listener, without a body. */
const MALFORMED: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ['a line that is no request', 'NONSENSE\r\n\r\n', 400],
  ['the greeting of TLS', '\x16\x03\x01\x02\x00\x01\x00', 400],
  ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['another version of HTTP', request('GET /healthz HTTP/3.7', HOST), 400],
  ['an unknown method', request('BREW /healthz HTTP/1.1', HOST), 400],
  ['headers of 20 kB', request('GET /healthz HTTP/1.1', HOST, `X: ${LONG}`), 431],
  ['a request line of 20 kB', request(`GET /${LONG} HTTP/1.1`, HOST), 431],
  ['a host with a blank', request('GET /healthz HTTP/1.1', 'Host: a b'), 400],
  ['a host with a path', request('GET /healthz HTTP/1.1', 'Host: a/b'), 400],
  ['a host with markup', request('GET /healthz HTTP/1.1', 'Host: <a>'), 400],
  [
    'a body of two lengths',
    `${request('POST /healthz HTTP/1.1', HOST, 'Content-Length: 3', 'Transfer-Encoding: chunked')}abc`,
    400,
  ],
  ['the address of another scheme', request('GET ftp://a/healthz HTTP/1.1', HOST), 400],
  ['a NUL in the path', request('GET /v1/\0 HTTP/1.1', HOST), 400],
  ['a NUL in a header', request('GET /healthz HTTP/1.1', HOST, 'X: a\0b'), 400],
  ['a header folded over lines', request('GET /healthz HTTP/1.1', HOST, 'X: a', ' b'), 400],
]

/** Refused by the app. */
const REFUSED: readonly (readonly [what: string, bytes: string, status: number, code: string])[] = [
  ['an address of 9 kB', request(`GET /healthz?${LONG.slice(0, 9000)} HTTP/1.1`, HOST), 414, 'uri_too_long'],
  ['TRACE', request('TRACE /healthz HTTP/1.1', HOST), 405, 'method_not_allowed'],
  ['a POST', request('POST /healthz HTTP/1.1', HOST, 'Content-Length: 0'), 405, 'method_not_allowed'],
  ['bad percent-encoding', request('GET /v1/strategies/%zz HTTP/1.1', HOST), 404, 'not_found'],
  ['bytes that are no UTF-8', request('GET /v1/strategies/%ff/stats HTTP/1.1', HOST), 404, 'not_found'],
  ['an encoded NUL', request('GET /v1/strategies/ash%00 HTTP/1.1', HOST), 404, 'not_found'],
  ['a path up', request('GET /v1/strategies/..%2f..%2fetc HTTP/1.1', HOST), 404, 'not_found'],
]

const refusal = z.object({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: z.object({ generated_utc: z.iso.datetime(), disclaimer: z.string().min(1) }),
})

describe('the history service answers', () => {
  test.each(MALFORMED)('%s with a refusal', async (_what, bytes, status) => {
    const answer = await exchange(service.url, bytes)
    expect(answer.status).toBe(status)
  })

  test('CONNECT by closing the connection', async () => {
    const answer = await exchange(service.url, request('CONNECT localhost:443 HTTP/1.1', HOST))
    expect(answer.body).toBe('')
  })

  test.each(REFUSED)('%s with an enveloped error', async (_what, bytes, status, code) => {
    const answer = await exchange(service.url, bytes)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-length')).toBe(String(answer.body.length))
    expect(refusal.parse(JSON.parse(answer.body)).error.code).toBe(code)
  })

  test('a proper request after all of them as if nothing had happened', async () => {
    expect(await servedVersion(service)).toBe(TINY_VERSION)
  })
})
