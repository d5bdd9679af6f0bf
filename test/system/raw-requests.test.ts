// A malformed or hostile request is refused or its connection closed, and nothing of it reaches the next one.
import { beforeAll, expect, inject, test } from 'vitest'
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

test.each(MALFORMED)('the history service refuses %s', async (_what, bytes, status) => {
  expect((await exchange(service.url, bytes)).status).toBe(status)
})

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
