// A malformed or hostile request is refused or its connection closed, and nothing of it reaches the next one.
import { beforeAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { casesOf } from '#test/support/cases-of.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { servedVersion } from '../support/history/history-process.ts'
import { startBesieged } from '../support/http/history-bytes.ts'
import { exchange, HOST, requestOf } from '../support/http/raw-exchange.ts'

let service: Awaited<ReturnType<typeof startBesieged>>
beforeAll(async () => {
  service = await startBesieged(inject('tinyStore'))
})

const LONG = 'a'.repeat(20_000)

/** Refused by Node's parser, without a body. */
const MALFORMED = casesOf<[what: string, bytes: string, status: number]>`
a line that is no request -> ${'NONSENSE\r\n\r\n'} -> ${400}
the greeting of TLS -> ${'\x16\x03\x01\x02\x00\x01\x00'} -> ${400}
the greeting of HTTP/2 -> ${'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'} -> ${400}
another version of HTTP -> ${requestOf('GET /healthz HTTP/3.7', HOST)} -> ${400}
an unknown method -> ${requestOf('BREW /healthz HTTP/1.1', HOST)} -> ${400}
headers of 20 kB -> ${requestOf('GET /healthz HTTP/1.1', HOST, `X: ${LONG}`)} -> ${431}
a request line of 20 kB -> ${requestOf(`GET /${LONG} HTTP/1.1`, HOST)} -> ${431}
a body of two lengths -> ${requestOf('POST /healthz HTTP/1.1', HOST, 'Content-Length: 3', 'Transfer-Encoding: chunked')}abc -> ${400}
a NUL in the path -> ${requestOf('GET /v1/\0 HTTP/1.1', HOST)} -> ${400}
a NUL in a header -> ${requestOf('GET /healthz HTTP/1.1', HOST, 'X: a\0b')} -> ${400}
a header folded over lines -> ${requestOf('GET /healthz HTTP/1.1', HOST, 'X: a', ' b')} -> ${400}`

/** Refused by the app. */
const REFUSED = casesOf<[what: string, bytes: string, status: number, code: string]>`
an address of 9 kB -> ${requestOf(`GET /healthz?${LONG.slice(0, 9000)} HTTP/1.1`, HOST)} -> ${414} -> uri_too_long
TRACE -> ${requestOf('TRACE /healthz HTTP/1.1', HOST)} -> ${405} -> method_not_allowed
a POST -> ${requestOf('POST /healthz HTTP/1.1', HOST, 'Content-Length: 0')} -> ${405} -> method_not_allowed
bad percent-encoding -> ${requestOf('GET /v1/strategies/%zz HTTP/1.1', HOST)} -> ${404} -> not_found
bytes that are no UTF-8 -> ${requestOf('GET /v1/strategies/%ff/stats HTTP/1.1', HOST)} -> ${404} -> not_found
an encoded NUL -> ${requestOf('GET /v1/strategies/ash%00 HTTP/1.1', HOST)} -> ${404} -> not_found
a path up -> ${requestOf('GET /v1/strategies/..%2f..%2fetc HTTP/1.1', HOST)} -> ${404} -> not_found`

const refusal = z.object({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: z.object({ generated_utc: z.iso.datetime(), disclaimer: z.string().min(1) }),
})

test.each(MALFORMED)('the history service refuses %s', async (_what, bytes, status) => {
  expect((await exchange(service.url, bytes)).status).toBe(status)
})

test('the history service answers CONNECT by closing the connection', async () => {
  const answer = await exchange(service.url, requestOf('CONNECT localhost:443 HTTP/1.1', HOST))
  expect(answer.body).toBe('')
})

test.each(REFUSED)(
  'the history service refuses %s with an enveloped error',
  async (_what, bytes, status, code) => {
    const answer = await exchange(service.url, bytes)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-length')).toBe(String(answer.body.length))
    expect(refusal.parse(JSON.parse(answer.body)).error.code).toBe(code)
  },
)

/** Kept answers and what Node keeps of connections for the next ones; a leak of a kilobyte a connection is above it. */
const MOST_GROWTH_BYTES = 2 << 20

test('3750 connections of any bytes get only valid answers, leave no memory behind, and the next request is answered', async () => {
  await service.send({ batches: 15, seed: 1 })
  await service.readBodies(1) // so that it is cached
  const before = await service.heapBytes()
  await service.send({ batches: 60, seed: 2 })
  await service.readBodies(2 * MOST_GROWTH_BYTES)
  expect(await servedVersion(service)).toBe(TINY_VERSION)
  await service.holdHeapTo(before + MOST_GROWTH_BYTES)
  expect(service.running.printed()).not.toContain('failed on our side')
})
