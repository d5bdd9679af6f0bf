// The way past Node's own HTTP: a client must never be able to tell on which of the two ways it was answered.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { errorAnswer } from '#api/error-answer.ts'
import { createHistoryApp } from '#api/history/app.ts'
import { createQuickAnswers } from '#api/history/quick-answers.ts'
import { type RunningServer, startServer } from '#api/http-server.ts'
import type { AtOnceAnswer } from '#api/wire/at-once.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { openHistoryParts } from '../setup/history-app.ts'
import { open, QUICK_BODY, QUICK_PATH, start, statusesIn, tellPath } from '../setup/raw-server.ts'

const QUICK = `GET ${QUICK_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`
const SLOW = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/**
 * What a server says to these pieces, each sent when the one before had its time to arrive, until it closes. Null where it
 * closed while something was still coming: the system may then have thrown away what it had said.
 */
async function say(server: RunningServer, ...pieces: readonly string[]): Promise<string | null> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  const told = text(socket).catch(() => null)
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece, 'latin1')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  return told
}

describe('both ways', () => {
  let quick: RunningServer
  let plain: RunningServer
  let quickCount = 0
  let paths: readonly string[] = []
  let etag = ''

  beforeAll(async () => {
    const { parts } = await openHistoryParts(inject('tinyStore'))
    const { fetch } = createHistoryApp(parts)
    const meta = register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null)
    const app = { fetch, answerError: (error: Parameters<typeof errorAnswer>[0]) => errorAnswer(error, meta) }
    const answer = createQuickAnswers(parts)
    const counted: typeof answer = request => {
      const found = answer(request)
      if (found !== null) quickCount++
      return found
    }
    plain = await startServer(() => app, '127.0.0.1', 0)
    quick = await startServer(() => ({ ...app, atOnce: { answer: counted, now: Date.now } }), '127.0.0.1', 0)
    paths = ['/v1/dataset', '/v1/strategies/ash/stats', '/v1/strategies/ash/curve?risk_pct=0.013']
    for (const path of paths) {
      for (const coding of ['br', 'identity']) {
        const asked = await fetch(new Request(`http://a${path}`, { headers: { 'accept-encoding': coding } }))
        etag = asked.headers.get('etag') ?? ''
      }
    }
  })
  afterAll(() => Promise.all([quick.close(), plain.close()]))

  /** The date may differ by the second in which one was asked. */
  const undated = (answers: string): string => answers.replaceAll(/^date: .*\r\n/gim, '')

  test('answer the same bytes, to the order of the headers, to whole requests and to any pieces of them', async () => {
    const line = fc.constantFrom(
      ...['Accept-Encoding: br', 'accept-encoding:  br ', 'Accept-Encoding: identity', 'Accept-Encoding:'],
      ...[
        'If-None-Match: *',
        'If-None-Match: ETAG',
        'if-none-match: "x", ETAG',
        'X-Request-Id: 0123456789abcdef',
      ],
      ...['Connection: keep-alive', 'Connection: Keep-Alive', 'Connection: TE', 'User-Agent: b/1 (c; d)'],
      ...['Origin: https://www.example.org', 'Content-Length: 0', 'Host: b', 'Cookie: \xe9=1'],
      ...['X : 1', 'X:1', 'X: \x01', ' folded', 'Accept-Encoding: dcz, br', 'Upgrade: h2c', 'Accept: */*'],
    )
    const harmless = fc.constantFrom(
      'Accept-Encoding: br',
      'If-None-Match: ETAG',
      'Accept: */*',
      'X-Request-Id: 0123',
    )
    const usual = fc.record({
      ...{ method: fc.constant('GET'), path: fc.constantFrom(...paths), protocol: fc.constant('HTTP/1.1') },
      ...{ host: fc.constant('Host: a\r\n'), end: fc.constant('\r\n') },
      lines: fc.uniqueArray(harmless, { maxLength: 4 }),
    })
    const odd = fc.record({
      method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'get', 'POST'),
      path: fc.constantFrom(...paths, '/v1/dataset?', '/v1/nothing', '/healthz x', '//v1/dataset', '*', ''),
      protocol: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1'),
      host: fc.constantFrom('Host: a\r\n', 'Host: a:80\r\n', 'host:a\r\n', 'Host: a b\r\n', ''),
      lines: fc.array(line, { maxLength: 4 }),
      end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r\n\r\n', '\r\nGET '),
    })
    const conversation = fc.record({
      requests: fc.array(fc.oneof(usual, odd), { minLength: 1, maxLength: 3 }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
    })
    await fc.assert(
      fc.asyncProperty(conversation, async ({ requests, cuts }) => {
        const bytes = requests.map(({ method, path, protocol, host, lines, end }) => {
          const headers = lines.map(each => `${each.replace('ETAG', etag)}\r\n`).join('')
          return `${method} ${path} ${protocol}\r\n${host}${headers}${end}`
        })
        bytes.push(LAST)
        const joined = bytes.join('')
        const edges = [
          0,
          ...cuts.map(cut => Math.floor(cut * joined.length)).sort((a, b) => a - b),
          joined.length,
        ]
        const pieces =
          cuts.length === 0 ? bytes : edges.slice(1).map((edge, i) => joined.slice(edges[i], edge))
        const [ours, nodes] = await Promise.all([say(quick, ...pieces), say(plain, ...pieces)])
        fc.pre(ours !== null && nodes !== null)
        expect(undated(ours ?? '')).toBe(undated(nodes ?? ''))
      }),
      { numRuns: 200 },
    )
    expect(quickCount).toBeGreaterThan(50) // else nothing was compared
  })
})

describe('a connection', () => {
  test('that was answered at once is handed over at the first request that needs the app, and nothing is lost', async () => {
    const server = await start(tellPath)
    const told = await text(open(server, QUICK + QUICK + SLOW + LAST))
    expect(statusesIn(told)).toEqual(['200', '200', '200', '200'])
    const apart = (await say(server, QUICK, QUICK, SLOW + QUICK, LAST)) ?? ''
    expect(statusesIn(apart)).toEqual(['200', '200', '200', '200', '200'])
    expect(apart.indexOf('/slow')).toBeGreaterThan(apart.indexOf(QUICK_BODY))
    expect(apart.lastIndexOf(QUICK_BODY)).toBeGreaterThan(apart.indexOf('/slow'))
    expect(apart.indexOf('/last')).toBeGreaterThan(apart.lastIndexOf(QUICK_BODY))
  })

  test('ends when its client has said all and was answered', async () => {
    const server = await start(tellPath)
    const socket = open(server)
    socket.end(QUICK)
    expect(await text(socket)).toContain(QUICK_BODY)
  })

  test('that never asks is closed without a word, as one that rests too long', async () => {
    const server = await start(tellPath, { headersMs: 30, keepAliveMs: 60_000 })
    expect(await text(open(server))).toBe('')
    const resting = await start(tellPath, { keepAliveMs: 30 })
    expect(await text(open(resting, QUICK))).toContain(QUICK_BODY)
  })

  test('beyond the limit hears 503, however quick its answer would be', async () => {
    const server = await start(tellPath, { connections: 1 })
    const first = open(server, QUICK)
    await once(first, 'data')
    expect(statusesIn(await text(open(server, QUICK)))).toEqual(['503'])
  })
})

describe('a client that asks and does not read', () => {
  const BODY = Uint8Array.from(Buffer.alloc(1 << 20, 'x'))
  const LARGE: AtOnceAnswer = {
    ...{ status: 200, fields: ['content-length', String(BODY.length)], body: BODY, ms: 0 },
  }
  const ASKED = 40 // more than the buffers of a connection hold

  test('is not listened to meanwhile, and gets everything when it reads again', async () => {
    let answered = 0
    const server = await start(tellPath, {}, () => {
      answered++
      return LARGE
    })
    const socket = open(server)
    await once(socket, 'connect')
    for (let i = 0; i < ASKED; i++) {
      socket.write(QUICK)
      await new Promise(resolve => setTimeout(resolve, 1)) // requests of their own, not one run of bytes
    }
    expect(answered).toBeLessThan(ASKED)
    let bytes = 0
    socket.on('data', chunk => {
      bytes += chunk.length
      if (bytes >= ASKED * BODY.length) socket.end()
    })
    await once(socket, 'close')
    expect(bytes).toBeGreaterThan(ASKED * BODY.length)
  })

  test('is cut off when it stands still for too long', async () => {
    const server = await start(tellPath, { stalledMs: 30 }, () => LARGE)
    const socket = open(server)
    const closed = new Promise(resolve => socket.on('error', () => {}).once('close', resolve))
    await once(socket, 'connect')
    for (let i = 0; i < ASKED; i++) {
      socket.write(QUICK)
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    await new Promise(resolve => setTimeout(resolve, 300)) // ten times as long as it may stand still
    let bytes = 0
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    await closed
    expect(bytes).toBeLessThan(ASKED * BODY.length)
  })
})

describe('a server that is asked to end', () => {
  test('ends connections that rest on the quick way, and lets an answer out that is on its way', async () => {
    const body = Uint8Array.from(Buffer.alloc(50_000_000, 'x')) // more than the buffers of any socket hold
    const fields = ['content-length', String(body.length)]
    const server = await start(tellPath, {}, ({ path }) =>
      path === '/large'
        ? { status: 200, fields, body, ms: 0 }
        : { status: 200, fields: ['content-length', '0'], body: null, ms: 0 },
    )
    const resting = open(server, QUICK)
    await once(resting, 'data')
    const slow = open(server, QUICK.replace(QUICK_PATH, '/large'))
    await once(slow, 'readable') // and nothing is read yet
    const closed = server.close()
    expect(await text(resting)).toBe('')
    const told = await text(slow)
    expect(told.length - told.indexOf('\r\n\r\n') - 4).toBe(body.length)
    await closed
  })

  test('cuts off an answer that nobody fetches when the time is over', async () => {
    const body = Uint8Array.from(Buffer.alloc(50_000_000, 'x'))
    const answer = { status: 200, fields: ['content-length', String(body.length)], body, ms: 0 } as const
    const server = await start(tellPath, { drainMs: 50 }, () => answer)
    const slow = open(server, QUICK)
    slow.on('error', () => {})
    await once(slow, 'readable')
    await server.close()
  })
})
