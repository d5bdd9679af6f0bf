// Who gets no delta: the ordinary answer is never wrong.
import { beforeAll, describe, expect, test } from 'vitest'
import { SERVED } from '../../support/books/growing-book.ts'
import type { App } from './answers.ts'
import { ask, CSV, codingOf, digestOf, holding, type Nights, openNights } from './delta-client.ts'

let app: App
let bodyOf: Nights['bodyOf']

beforeAll(async () => {
  ;({ app, bodyOf } = await openNights())
})

describe('the ordinary answer goes to who', () => {
  type Case = readonly [
    who: string,
    accepted: string | null,
    available: string | (() => Promise<Buffer>),
    coding: string,
  ]
  const yesterday = () => bodyOf(SERVED - 1, CSV)

  const cases: readonly Case[] = [
    ['does not accept dcz', 'gzip, br', yesterday, 'br'],
    ['accepts nothing by name', null, yesterday, 'identity'],
    ['refuses dcz', 'br, dcz;q=0', yesterday, 'br'],
    ['gives dcz a weight that is none', 'br, dcz;q=x', yesterday, 'br'],
    ['accepts everything without naming dcz', '*', yesterday, 'br'],
    ['likes another coding better', 'br, dcz;q=0.5', yesterday, 'br'],
    ['likes everything else better', 'dcz;q=0.5, *', yesterday, 'br'],
    ['likes the plain bytes better', 'identity, dcz;q=0.5', yesterday, 'identity'],
    ['knows shared brotli alone', 'br, dcb', yesterday, 'br'],
    ['names no dictionary', 'br, dcz', '', 'br'],
    ['has something unknown', 'br, dcz', digestOf(Buffer.from('something else')), 'br'],
    ['has another resource', 'br, dcz', () => bodyOf(1, '/v1/strategies/alder/curve?format=csv'), 'br'],
    ['has another format', 'br, dcz', () => bodyOf(1, '/v1/export'), 'br'],
    ['has another period', 'br, dcz', () => bodyOf(1, '/v1/export?format=csv&period=weekly'), 'br'],
    ['has another risk level', 'br, dcz', () => bodyOf(1, '/v1/export?format=csv&risk_pct=0.01'), 'br'],
  ]

  test.each(cases)('%s', async (_who, accepted, available, coding) => {
    const digest = typeof available === 'string' ? available : digestOf(await available())
    const { response, headers, bytes } = await ask(app, CSV, {
      ...(accepted === null ? {} : { 'accept-encoding': accepted }),
      ...(digest === '' ? {} : { 'available-dictionary': digest }),
    })
    expect([response.status, codingOf(headers)]).toEqual([200, coding])
    const plain = accepted === null ? {} : { 'accept-encoding': coding }
    expect(bytes.equals((await ask(app, CSV, plain)).bytes)).toBe(true)
  })

  const malformed = async () => {
    const good = digestOf(await yesterday())
    return [
      ...['::', ':', good.slice(1), good.slice(0, -1), good.slice(1, -1), `"${good.slice(1, -1)}"`],
      ...[
        good.replace('=', ''),
        good.replace('=', '=='),
        `:${'A'.repeat(64)}:`,
        `${good}, ${good}`,
        `(${good})`,
      ],
      ...[
        `${good};a=1`,
        `${good}x`,
        `sha-256=${good}`,
        `:${'-'.repeat(43)}=:`,
        '__proto__',
        ':'.repeat(5_000),
      ],
      Buffer.from(good.slice(1, -1), 'base64').toString('hex'),
    ]
  }

  test('names its dictionary in another form than one byte sequence of 32 bytes', async () => {
    expect(codingOf((await ask(app, CSV, holding(await yesterday()))).headers)).toBe('dcz')
    for (const value of await malformed()) {
      const { headers } = await ask(app, CSV, { 'accept-encoding': 'br, dcz', 'available-dictionary': value })
      expect(codingOf(headers), value).toBe('br')
    }
  })

  test('asks for a figure, a matrix, a ledger, a typed table, a range or a risk level: none of them is a dictionary', async () => {
    for (const address of [
      ...[
        '/v1/summary',
        '/v1/strategies',
        '/v1/strategies/alder',
        '/v1/strategies/alder/stats',
        '/v1/correlation',
      ],
      ...[
        '/v1/dataset',
        '/v1/strategies/alder/trades',
        '/v1/export?format=arrow',
        '/v1/export?format=parquet',
      ],
      ...['/v1/export?risk_pct=0.01', '/v1/strategies/alder/returns?from=2024-02-01', '/version'],
    ]) {
      const { headers } = await ask(app, address, holding((await ask(app, address)).bytes))
      expect([codingOf(headers), address]).not.toEqual(['dcz', address])
      expect(headers.has('use-as-dictionary'), address).toBe(false)
      expect(headers.get('vary'), address).toBe('Accept-Encoding, Origin')
    }
  })
})
