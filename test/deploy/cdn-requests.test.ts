// Unusual and malformed requests through nginx and Varnish: each is answered as by the tier, or refused in the envelope.
import { beforeAll, expect, inject, test } from 'vitest'
import { versionFolder } from '#core/contract/artifacts.ts'
import { casesOf } from '#test/support/cases-of.ts'
import type { Layer } from '../../deploy/layers.ts'
import { TINY_VERSION } from '../support/books/publish-book.ts'
import { HOST, openExchange, type RawAnswer, requestOf } from '../support/http/raw-exchange.ts'
import { shared } from '../support/runner/shared.ts'
import { addressOf, ask, seen, siteOf, startCdn, startEdge, startOrigin } from '../support/servers/cdn.ts'
import { ownPort } from '../support/servers/own-port.ts'

/** A published file, an answer of the tier that caches keep, and one that they do not. */
const FILE = '/v1/strategies'
const KEPT = '/v1/strategies/ash/stats?risk_pct=0.013'
const LIVE = '/healthz'

let tier: { readonly url: string }
let files: Layer
let edge: Layer

beforeAll(async () => {
  tier = await shared('history')
  ;({ files, edge } = await startCdn(addressOf(tier.url), inject('tinyStore').url))
})

/**
 * The answer to bytes, sent in two packets if `cut` says so. A server that refuses the beginning may close before the rest arrives, and the
 * reset can overtake its answer: then the same is sent again.
 */
async function answerTo(url: string, bytes: string, cut = bytes.length): Promise<RawAnswer> {
  for (;;) {
    try {
      const { send, answer } = await openExchange(url, bytes.slice(0, cut))
      if (cut < bytes.length) send(bytes.slice(cut))
      return await answer
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    }
  }
}

const codeIn = ({ body }: RawAnswer): unknown => (JSON.parse(body) as { error: { code: unknown } }).error.code

test.each(casesOf`
a line that is no request -> ${'NONSENSE\r\n\r\n'}
an unknown method -> ${requestOf(`BREW ${FILE} HTTP/1.1`, HOST)}
a backslash in the path -> ${requestOf('GET /v1\\strategies HTTP/1.1', HOST)}
another version of HTTP -> ${requestOf(`GET ${FILE} HTTP/3.7`, HOST)}
no host -> ${requestOf(`GET ${FILE} HTTP/1.1`)}
two hosts -> ${requestOf(`GET ${FILE} HTTP/1.1`, HOST, 'Host: other')}
a host with a path -> ${requestOf(`GET ${FILE} HTTP/1.1`, 'Host: a/b')}
a NUL in a header -> ${requestOf(`GET ${FILE} HTTP/1.1`, HOST, 'X: a\0b')}
a bad host with * in Accept-Encoding -> ${requestOf(`GET ${FILE} HTTP/1.1`, 'Host: a/b', 'Accept-Encoding: *')}
a body of 2 MB -> ${`${requestOf(`POST ${FILE} HTTP/1.1`, HOST, 'Content-Length: 2000000')}${'a'.repeat(2_000_000)}`}
headers of 40 kB -> ${requestOf(`GET ${FILE} HTTP/1.1`, HOST, `X: ${'a'.repeat(40_000)}`)}
an address of 40 kB -> ${requestOf(`GET /${'a'.repeat(40_000)} HTTP/1.1`, HOST)}
a transfer coding that it does not know -> ${requestOf(`POST ${FILE} HTTP/1.1`, HOST, 'Transfer-Encoding: x')}
a body of two lengths -> ${`${requestOf(`POST ${FILE} HTTP/1.1`, HOST, 'Content-Length: 3', 'Transfer-Encoding: chunked')}abc`}
chunks without a length -> ${`${requestOf(`POST ${FILE} HTTP/1.1`, HOST, 'Transfer-Encoding: chunked')}zz\r\nabc\r\n0\r\n\r\n`}`)(
  'nginx refuses %s with 400 in the envelope',
  async (_what, bytes) => {
    const answer = await answerTo(files.url, bytes)
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(codeIn({ ...answer, body: answer.body.replace(/^\w+\r\n|\r\n0\r\n\r\n$/g, '') })).toBe(
      'bad_request',
    )
  },
)

/** A POST of one chunk. */
const chunked = (length: string, ...headers: readonly string[]): string =>
  `${requestOf(`POST ${FILE} HTTP/1.1`, HOST, 'Transfer-Encoding: chunked', ...headers)}${length}\r\nabc\r\n0\r\n\r\n`

test.each([
  ['chunked', chunked('3')],
  ['malformed chunked', chunked('zz')],
  ['pending chunked', chunked('3', 'Expect: 100-continue')],
])('Varnish sends no %s body on: the answer is that of the tier to the method', async (_what, bytes) => {
  const answer = await answerTo(edge.url, bytes)
  expect([answer.status, codeIn(answer)]).toEqual([405, 'method_not_allowed'])
})

test.each([
  ['there is no server behind it', async () => ({ host: '127.0.0.1', port: await ownPort() })],
  ['the server behind it breaks off', () => startOrigin((_request, response) => response.destroy())],
])('Varnish answers every chunked body with 503 if %s', async (_what, start) => {
  const alone = await startEdge(await siteOf(addressOf(tier.url), { nginx: await start() }))
  for (const length of ['3', 'zz']) {
    const answer = await answerTo(alone.url, chunked(length))
    expect(answer.headers.get('retry-after')).toBe('5')
    expect([answer.status, codeIn(answer)]).toEqual([503, 'unavailable'])
  }
})

const SPELLINGS =
  `/v1/strategies?color=1 /v1/export?format=csv&_=1 /v1/export?x=1&period=weekly /v1/strategies/%61sh/curve /v1/./strategies
  /v1/strategies? /v1/strategies?dataset_version=${TINY_VERSION} /${versionFolder(TINY_VERSION)}/export?period=daily
  /${versionFolder(TINY_VERSION)}/index.html?x=1`.split(/\s+/)

test.each(SPELLINGS)('nginx sends the file at %s from disk, as the tier does', async address => {
  for (const accepted of ['identity', 'br', 'gzip', 'br;q=0.1, gzip', 'identity, br;q=0.5', 'GZIP', '*']) {
    const headers = { 'accept-encoding': accepted, origin: 'http://localhost:5173', 'x-sendfile-type': 'x' }
    const behind = await ask(files.url + address, headers)
    const alone = await ask(tier.url + address, headers)
    expect([alone.status, seen(behind)], accepted).toEqual([200, seen(alone)])
    expect(behind.headers).not.toHaveProperty('server-timing') // which is with everything that the tier sends itself
  }
})

const LAYERS: readonly (readonly [name: string, at: () => string])[] = [
  ['the tier', () => tier.url],
  ['nginx', () => files.url],
  ['Varnish', () => edge.url],
]

for (const [name, at] of LAYERS) {
  test(`${name} answers HTTP/1.0 without a host`, async () => {
    for (const path of [FILE, KEPT, LIVE])
      expect((await answerTo(at(), `GET ${path} HTTP/1.0\r\n\r\n`)).status, path).toBe(200)
  })

  test(`${name} answers a client that has closed its sending side`, async () => {
    for (const path of [FILE, KEPT, `${KEPT}&x=1`, LIVE]) {
      const { end, answer } = await openExchange(at(), requestOf(`GET ${path} HTTP/1.1`, HOST))
      end()
      expect((await answer).status, path).toBe(200)
    }
  })

  test.each([
    ['BREW', 400],
    ['GETX', 400],
    ['UNKNOWN', 400],
    ['TRACE', 405],
    ['PROPFIND', 405],
    ['QUERY', 405],
  ])(`${name} answers %s with %i, wherever its packet is cut`, async (method, status) => {
    const bytes = requestOf(`${method} ${FILE} HTTP/1.1`, HOST)
    for (let cut = 1; cut <= method.length + 2; cut++) {
      expect((await answerTo(at(), bytes, cut)).status, `cut at ${cut}`).toBe(status)
    }
  })

  test(`${name} sends the whole body for every range, with and without a key`, async () => {
    for (const range of ['bytes=0-9', 'bytes=0-1,3-4', 'bytes=0-1, 5-6, 8-', 'bytes=99999999-', 'x']) {
      for (const key of [{}, { 'x-api-key': 'x' }]) {
        const { status, headers, bytes } = await ask(at() + FILE, { range, ...key })
        expect([status, headers['accept-ranges']], range).toEqual([200, undefined])
        expect(bytes.length).toBe(Number(headers['content-length']))
      }
    }
  })

  test(`${name} answers 304 to every If-None-Match that names the answer, and 200 to all others`, async () => {
    for (const path of [FILE, KEPT, '/version']) {
      const etag = String((await ask(at() + path)).headers.etag)
      const statusOf = async (known: string) => (await ask(at() + path, { 'if-none-match': known })).status
      const opaque = etag.replace('W/', '')
      for (const known of [etag, `W/${opaque}`, `"x", ${etag}`, `${opaque},"y"`, '*'])
        expect(await statusOf(known), `${path} ${known}`).toBe(304)
      for (const known of ['"x"', `"x${opaque.slice(1)}`, opaque.slice(1, -1), '"*"', '""'])
        expect(await statusOf(known), `${path} ${known}`).toBe(200)
    }
  })

  test(`${name} evaluates no other condition: no answer has a date, and If-Match is for changing`, async () => {
    for (const path of [FILE, KEPT]) {
      for (const condition of [
        { 'if-match': '"x"' },
        { 'if-match': '0' }, // nginx takes a text of just 0 for no text
        { 'if-unmodified-since': '0' },
        { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
        { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
      ]) {
        const { status, headers } = await ask(at() + path, condition)
        expect([status, headers['last-modified']], path).toEqual([200, undefined])
      }
    }
  })

  test.each([
    ['identity;q=0, *', true],
    ['*', true],
    ['br;q=0, *', true],
    ['*;q=0', false],
    ['br;q=0, gzip;q=0', false],
  ])(`${name} sends a coding to a client that accepts %s, if it accepts one`, async (accepted, isCoded) => {
    for (const path of [FILE, KEPT]) {
      const { headers } = await ask(at() + path, { 'accept-encoding': accepted })
      const coding = headers['content-encoding']
      expect(coding !== undefined, `${path} in ${coding}`).toBe(isCoded)
      if (accepted.startsWith('br;q=0')) expect(coding).not.toBe('br')
    }
  })
}

/** A header is sent so often, and nginx closes after ten seconds; counted, because a busy machine also sends less often. */
const DRIP_MS = 500
const MOST_DRIPS = 60

test('nginx closes the connection of a client that does not finish its headers', async () => {
  const { send, answer } = await openExchange(files.url, `GET ${FILE} HTTP/1.1\r\n${HOST}\r\n`)
  let drips = 0
  const drip = setInterval(() => send(`X: ${drips++}\r\n`), DRIP_MS)
  await answer.catch(() => {}) // a reset is an end too
  clearInterval(drip)
  expect(drips).toBeLessThan(MOST_DRIPS)
})
