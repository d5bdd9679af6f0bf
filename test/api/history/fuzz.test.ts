// Whatever is asked, the answer is one of the service's own: never a fault, never a body without its envelope.
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '#api/history/routes.ts'
import { toCompactInstant } from '#core/calendar.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { SMALLEST_RISK_PCT } from '#core/contract/parameters.ts'
import { pinnedTemplate } from '#core/contract/pins.ts'
import { routeOf } from '#core/dataset/resources/routes.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { createTestApp, openHistoryApp } from '../../support/history/history-app.ts'
import type { App } from './answers.ts'
import { BAD } from './bad-values.ts'
import { decodedText } from './decode.ts'
import { LEGAL, SIDS } from './paths.ts'
import { ERROR_ENVELOPE, REGISTER } from './specification.ts'

let opened: Awaited<ReturnType<typeof openHistoryApp>>

beforeAll(async () => {
  opened = await openHistoryApp(inject('tinyStore'))
})

const anyText = fc.string({ unit: 'binary', maxLength: 20 })

/** Paths near the real ones, and quite other ones. */
const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('v1', 'strategies', ...ROUTES.map(({ id }) => id), ...SIDS) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', '.', '..', '%2e%2e', '%2f', '%', '%ff', '%00', '__proto__', '*'),
  },
  { weight: 2, arbitrary: anyText.map(encodeText) },
)
/** The version that there is, near ones, and what is none. */
const anyVersion = fc.oneof(
  { weight: 3, arbitrary: fc.constant(toCompactInstant(TINY_VERSION)) },
  fc.constantFrom('20250224T001501Z', '20250230T001500Z', TINY_VERSION, '0', '..', '%2e%2e', '%'),
  anyText.map(encodeText),
)

const anyPath = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...ROUTES), fc.oneof(fc.constantFrom(...SIDS), anyText.map(encodeText)))
      .map(([{ path }, sid]) => path.replace('{sid}', () => sid)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...ROUTES),
        fc.oneof(fc.constantFrom(...SIDS), anyText.map(encodeText)),
        anyVersion,
      )
      .map(([route, sid, version]) =>
        pinnedTemplate(route)
          .replace('{sid}', () => sid)
          .replace('{version}', () => version),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...FILE_ROUTES),
        fc.oneof(anyVersion, fc.constantFrom('0000000001', '0', 'f'.repeat(64))),
      )
      .map(([{ path }, variable]) => path.replace(/\{\w+\}/, () => variable)),
  },
  { weight: 2, arbitrary: fc.array(segment, { maxLength: 6 }).map(segments => `/${segments.join('/')}`) },
)

/** Parameters good, bad and unheard of, in any number and order. */
const pair = fc.oneof(
  fc.constantFrom(...Object.entries(LEGAL).map(([name, value]) => `${name}=${value}`)),
  fc.constantFrom(...Object.values(BAD).flatMap(examples => examples.map(({ query }) => query))),
  fc.double({ min: 0, noNaN: true }).map(value => `risk_pct=${value}`.replace('+', '')),
  fc.array(fc.constantFrom(...SIDS, 'oak', ' ', ''), { maxLength: 5 }).map(ids => `ids=${ids.join(',')}`),
  fc
    .tuple(fc.constantFrom(...Object.keys(BAD)), anyText.map(encodeText))
    .map(([name, text]) => `${name}=${text}`),
  anyText.map(encodeText),
  fc
    .tuple(
      fc.constantFrom('dataset_version', 'as_of'),
      fc.oneof(fc.constantFrom(TINY_VERSION, '2025-03-01', '2020-01-01'), anyText.map(encodeText)),
    )
    .map(([name, text]) => `${name}=${text}`),
  fc.constantFrom('%', '%ff=%ff', '&', '=', '#', '?', '__proto__=1'),
)
const anyQuery = fc
  .array(pair, { maxLength: 4 })
  .map(pairs => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))

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

/** Percent-encoded, or as it is where a URL allows it; a lone surrogate, which no address can hold, is left out. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

const SUCCESS = z.strictObject({
  data: z.unknown(),
  meta: REGISTER.loose(),
  links: z.record(z.string(), z.string()),
})

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
async function askAnything(app: App, statuses: readonly number[], numRuns: number): Promise<void> {
  const request = fc.tuple(anyPath, anyQuery, anyHeaders, anyMethod)
  await fc.assert(
    fc.asyncProperty(request, async ([path, query, headers, method]) => {
      const response = await app.request(`http://localhost${path}${query}`, { method, headers })
      expect(statuses).toContain(response.status)
      if (method === 'HEAD') expect(await response.text()).toBe('')
      else await holdToForm(response, path)
    }),
    { numRuns },
  )
}

test('nothing that is asked makes the service fail, or answer outside its envelopes', async () => {
  await askAnything(opened.app, STATUSES, 800)
  expect(opened.errors).toEqual([])
  expect(opened.damages).toEqual([])
})

test('nor does anything while there is no dataset', async () => {
  const { store, privateStore } = createMemoryStores()
  const { app, errors } = await createTestApp(store, privateStore)
  await askAnything(app, [...STATUSES, 503], 300)
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
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...rescaled),
      fc.constantFrom(...SIDS),
      anyLevel,
      async (address, sid, level) => {
        const text = String(level).replace('+', '')
        const response = await opened.app.request(address.replace('{sid}', sid) + text)
        expect(response.status, text).toBe(200)
        await holdToForm(response)
      },
    ),
    { numRuns: 120 },
  )
  expect(opened.errors).toEqual([])
})

test('every strategy of the table is reachable by every spelling that an address may have', async () => {
  const spelled = (sid: string) =>
    fc
      .array(fc.boolean(), { minLength: sid.length, maxLength: sid.length })
      .map(escaped => [...sid].map((letter, i) => (escaped[i] ? toEscape(letter) : letter)).join(''))
  const plain = await (await opened.app.request(routeOf('stats').path.replace('{sid}', 'ash'))).text()
  await fc.assert(
    fc.asyncProperty(spelled('ash'), async sid => {
      expect(await (await opened.app.request(`/v1/strategies/${sid}/stats`)).text()).toBe(plain)
    }),
    { numRuns: 20 },
  )
})

const toEscape = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`
