// A client must never be able to tell whether it was answered past Node's own HTTP or by it.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createHistoryApp } from '#api/history/app.ts'
import { createQuickAnswers } from '#api/history/quick-answers.ts'
import { errorAnswer } from '#api/http/error-answer.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { openHistoryParts } from '../../support/history/history-app.ts'
import { say } from '../../support/http/raw-server.ts'

const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

const PATHS = ['/v1/dataset', '/v1/strategies/ash/stats', '/v1/strategies/ash/curve?risk_pct=0.013'] as const

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
  ...[
    'X : 1',
    'X:1',
    'X: \x01',
    ' folded',
    'Accept-Encoding: dcz, br',
    'Upgrade: h2c',
    'Accept: */*',
    'Proxy-Connection: close',
  ],
)
const harmless = fc.constantFrom(
  'Accept-Encoding: br',
  'If-None-Match: ETAG',
  'Accept: */*',
  'X-Request-Id: 0123',
)
/** What nearly every client sends. */
const usual = fc.record({
  ...{ method: fc.constant('GET'), path: fc.constantFrom(...PATHS), protocol: fc.constant('HTTP/1.1') },
  ...{ host: fc.constant('Host: a\r\n'), end: fc.constant('\r\n') },
  lines: fc.uniqueArray(harmless, { maxLength: 4 }),
})
/** What hardly anybody sends, and much that nobody may. */
const odd = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'get', 'POST'),
  path: fc.constantFrom(...PATHS, '/v1/dataset?', '/v1/nothing', '/healthz x', '//v1/dataset', '*', ''),
  protocol: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1'),
  host: fc.constantFrom(
    'Host: a\r\n',
    'Host: a:80\r\n',
    'host:a\r\n',
    'Host: a b\r\n',
    'Host: 999.9.9.9\r\n',
    'Host: a:99999\r\n',
    'Host: a.1\r\n',
    '',
  ),
  lines: fc.array(line, { maxLength: 4 }),
  end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r\n\r\n', '\r\nGET '),
})
/** Some requests, and where the bytes of all are cut into pieces. */
const conversation = fc.record({
  requests: fc.array(fc.oneof(usual, odd), { minLength: 1, maxLength: 3 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
})

describe('both ways', () => {
  let quick: RunningServer
  let plain: RunningServer
  let quickCount = 0
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
    for (const path of PATHS) {
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
