// Every request that can be made from the published document, in process and over a wire, and many that cannot: each answer
// is as the document describes it, or one of the envelopes of the service, and never a fault.
import fc from 'fast-check'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '#api/history/routes.ts'
import { startServer } from '#api/service/http-server.ts'
import { SMALLEST_RISK_PCT } from '#core/contract/parameters.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { atEndOfFile } from '../../support/ends.ts'
import { type Ask, anyRequest, askIn, askOver, holdToDocument } from '../../support/http/any-request.ts'
import { openApi } from '../../support/http/openapi-documents.ts'
import { type App, openEmpty, openTiny } from '../history/answers.ts'
import { BAD } from '../history/bad-values.ts'
import { decodedText } from '../history/decode.ts'
import { LEGAL, SIDS } from '../history/paths.ts'
import { ERROR_ENVELOPE, REGISTER } from '../history/specification.ts'

const KNOWN = {
  sid: SIDS,
  ids: [...SIDS, SIDS.join(), 'yew,ash', 'ash,oak'],
  version: ['20250224T001500Z'],
  seq: ['0000000001'],
  dataset_version: [TINY_VERSION],
  from: ['2024-03-02'],
  to: ['2024-11-30', '2025-02-22'],
}

const opened = await openTiny()
const document = openApi.parse(await (await opened.app.request('/openapi.json')).json())

async function askAnything(ask: Ask, numRuns: number, passing: readonly number[] = []): Promise<void> {
  const hold = holdToDocument(document, ask, passing)
  await forAllInTurn(numRuns, anyRequest(document, KNOWN), async asked => {
    expect(await hold(asked), asked.address).toEqual([])
  })
}

test('each answer is as the document has it, HEAD as GET, and its own link leads to the same bytes', async () => {
  await askAnything(askIn(opened.app), 600)
  expect(opened.errors).toEqual([])
  expect(opened.damages).toEqual([])
})

test('each answer over a connection is as the document has it, too', async () => {
  const server = await startServer(() => opened.app.fetch, '127.0.0.1', 0)
  atEndOfFile(() => server.close())
  const pool = new Pool(server.url)
  atEndOfFile(() => pool.close())
  await askAnything(askOver(pool), 150)
  expect(opened.errors).toEqual([])
})

test('each answer is as the document has it while there is no dataset', async () => {
  const { app, errors } = await openEmpty()
  await askAnything(askIn(app), 100, [503])
  expect(errors).toEqual([])
})

/** Percent-encoded; a lone surrogate, which no address can hold, is left out. */
const anyText = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map(text => encodeURIComponent(text.toWellFormed()))

const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('v1', 'strategies', ...ROUTES.map(({ id }) => id), ...SIDS) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', '.', '..', '%2e%2e', '%2f', '%', '%ff', '%00', '__proto__', '*'),
  },
  { weight: 2, arbitrary: anyText },
)

/** Parameters good, bad and unknown, in any number and order. */
const pair = fc.oneof(
  fc.constantFrom(...Object.entries(LEGAL).map(([name, value]) => `${name}=${value}`)),
  fc.constantFrom(...Object.values(BAD).flatMap(examples => examples.map(({ query }) => query))),
  fc.double({ min: 0, noNaN: true }).map(value => `risk_pct=${value}`.replace('+', '')),
  fc
    .tuple(fc.constantFrom(...Object.keys(BAD), 'dataset_version', 'as_of'), anyText)
    .map(text => text.join('=')),
  fc.constantFrom('%', '%ff=%ff', '&', '=', '#', '?', '__proto__=1'),
)

/** Addresses of the document, its paths with any parameters, and quite other ones. */
const anyAddress = fc
  .tuple(
    fc.oneof(
      anyRequest(document, KNOWN).map(({ address }) => address.split('?', 1).join()),
      fc.array(segment, { maxLength: 6 }).map(segments => `/${segments.join('/')}`),
    ),
    fc.array(pair, { maxLength: 4 }),
  )
  .map(([path, pairs]) => (pairs.length === 0 ? path : `${path}?${pairs.join('&')}`))

/** A value that a header may have; what may not never reaches an app. */
const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map(code => String.fromCharCode(code)),
})
const headerOf = (...likely: string[]) => fc.oneof(fc.constantFrom(...likely), headerText)
const anyHeaders = fc.record(
  {
    accept: headerOf('text/html', '*/*', 'application/json'),
    'accept-encoding': headerOf('br', 'gzip, zstd', '*', 'identity;q=0'),
    'if-none-match': headerOf('*', '"x"', 'W/'),
    origin: headerOf('https://www.example.org', 'null'),
    range: headerOf('bytes=0-10'),
    'access-control-request-headers': headerOf('x-a'),
  },
  { requiredKeys: [] },
)

const anyMethod = fc.oneof(
  { weight: 6, arbitrary: fc.constant('GET') },
  { weight: 2, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'POST', 'DELETE', 'SEARCH') },
)

const LINKS = z.record(z.string(), z.string())
const SUCCESS = z.strictObject({ data: z.unknown(), meta: REGISTER.loose(), links: LINKS })

/** What may be answered while a dataset is served. */
const STATUSES = [200, 204, 304, 307, 404, 405, 414, 422]

/** What is not text, or is not ours to wrap into an envelope. */
const BINARY = /^application\/(octet-stream|vnd\.apache\.(arrow\.file|parquet))$/
const PROOF = /^\/v1\/(pointer|current|snapshots\/[^/]+\/(manifest|SHA256SUMS|datapackage|changes))/

async function holdToForm(response: Response, path = ''): Promise<void> {
  expect(response.headers.get('vary')).toMatch(/^Accept-Encoding, Origin/)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const type = response.headers.get('content-type') ?? ''
  if (BINARY.test(type)) return expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0)
  const text = await decodedText(response)
  if (response.status === 404 && type.startsWith('text/html')) expect(text).toContain('Page not found')
  else if (response.status >= 400) expect(ERROR_ENVELOPE.safeParse(JSON.parse(text)).error).toBeUndefined()
  else if (PROOF.test(path)) expect(text === '').toBe(response.status !== 200)
  else if (type.startsWith('application/json'))
    expect(SUCCESS.safeParse(JSON.parse(text)).error).toBeUndefined()
  else if (type.startsWith('text/csv')) expect(text.endsWith('\r\n')).toBe(true)
  else expect(['', 'text/html; charset=utf-8', 'application/openapi+json; charset=utf-8']).toContain(type)
}

/** Asks anything at all, and holds every answer to its form. */
async function askBeside(app: App, statuses: readonly number[], numRuns: number): Promise<void> {
  await forAllInTurn(numRuns, anyAddress, anyHeaders, anyMethod, async (address, headers, method) => {
    const response = await app.request(`http://localhost${address}`, { method, headers })
    expect(statuses).toContain(response.status)
    if (method === 'HEAD') expect(await response.text()).toBe('')
    else await holdToForm(response, address)
  })
}

test('no address, header or method makes the service fail, or answer outside its envelopes', async () => {
  await askBeside(opened.app, STATUSES, 400)
  expect([opened.errors, opened.damages]).toEqual([[], []])
})

test('no address, header or method makes the service fail while there is no dataset', async () => {
  const { app, errors } = await openEmpty()
  await askBeside(app, [...STATUSES, 503], 150)
  expect(errors).toEqual([])
})

test('no legal risk level is too small or too large to be answered, in any format', async () => {
  const anyLevel = fc.oneof(
    fc.double({ min: SMALLEST_RISK_PCT, noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(SMALLEST_RISK_PCT, 1.5e-9, 1e-7, 0.1, 1e9, 1e300, 1.7976931348623157e308),
  )
  const rescaled = ROUTES.filter(({ query }) => 'risk_pct' in query).flatMap(({ path, formats }) =>
    formats.map(format => `${path}?format=${format}&risk_pct=`),
  )
  await forAllInTurn(
    120,
    fc.constantFrom(...rescaled),
    fc.constantFrom(...SIDS),
    anyLevel,
    async (address, sid, level) => {
      const text = String(level).replace('+', '')
      const response = await opened.app.request(address.replace('{sid}', sid) + text)
      expect(response.status, text).toBe(200)
      await holdToForm(response)
    },
  )
  expect(opened.errors).toEqual([])
})
