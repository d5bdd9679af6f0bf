// What is accepted: every spelling of a value is the same answer, which says what was used, in every format.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { FORMATS } from '#core/contract/parameters.ts'
import { TINY_LAST_DAY, TINY_VERSION } from '../../support/books/publish-book.ts'
import { getData, getEnvelope, openTiny } from './answers.ts'
import { pathsOf } from './paths.ts'
import { DATA } from './specification.ts'

const { app } = await openTiny()

const textOf = async (address: string) => (await app.request(address)).text()
const metaOf = async (address: string) => (await getEnvelope(app, address)).meta
const bodyOf = async (address: string) => (await app.request(address)).arrayBuffer()

const CAP = 0.1 // of the tiny book, and the example of the specification

const RESCALED = ROUTES.filter(({ query }) => 'risk_pct' in query)

test.each(RESCALED)('$path reads every spelling of a risk level as the same number', async route => {
  for (const path of pathsOf(route)) {
    const plain = await bodyOf(`${path}?risk_pct=0.05`)
    for (const spelling of '0.0500 5e-2 5E-2 00.05 0.5e-1 500e-4 0.05000000000000000000001'.split(' '))
      expect(await bodyOf(`${path}?risk_pct=${spelling}`), spelling).toEqual(plain)
  }
})

/** What the meta says of a rescale. */
const PROVENANCE = ['requested_risk_pct', 'effective_risk_pct', 'risk_pct_clamped', 'base_risk_pcts']

test.each(RESCALED)('$path says whether it is rescaled, from what and to what', async route => {
  for (const path of pathsOf(route)) {
    const plain = await metaOf(path)
    expect(plain.modelled, path).toBe(false)
    for (const name of PROVENANCE) expect(plain, path).not.toHaveProperty(name)
    for (const asked of [0.05, CAP, 0.1000001, 0.2, 1e9, 2e15])
      expect(await metaOf(`${path}?risk_pct=${asked}`), path).toMatchObject({
        modelled: true,
        requested_risk_pct: asked,
        effective_risk_pct: Math.min(asked, CAP),
        risk_pct_clamped: asked > CAP,
      })
  }
})

const RETURNS = '/v1/strategies/ash/returns'
const daysOf = async (query: string) => (await getData(app, RETURNS + query, DATA.returns)).map(({ t }) => t)

test('a range of returns without a single value answers 200 and nothing, in either format', async () => {
  const past = ['?to=1999-12-31', '?from=2100-01-01', '?from=2099-01-01&to=2099-12-31', '?from=9999-12-31']
  for (const query of [...past, `?from=${TINY_LAST_DAY}&period=weekly`]) {
    const response = await app.request(RETURNS + query)
    expect(response.status, query).toBe(200)
    expect(await daysOf(query), query).toEqual([])
    expect(await textOf(`${RETURNS}${query}&format=csv`), query).toBe('t,ret\r\n')
  }
})

test('ids may be given in any spelling, keep their order, and count once', async () => {
  const plain = await textOf('/v1/correlation?ids=yew,ash,elm')
  for (const spelling of [
    'ids=yew&ids=ash&ids=elm',
    'ids=yew,ash&ids=elm',
    'ids=yew%2Cash%2Celm',
    'ids=%20yew%20,%20ash,elm%20',
    'ids=yew,%09ash&ids=elm',
    'ids=yew+,ash,elm',
    'ids=yew,ash,yew,elm,ash',
    'ids=yew,ash&x=1&ids=yew,elm',
    'period=daily&ids=yew,ash,elm',
  ]) {
    expect(await textOf(`/v1/correlation?${spelling}`), spelling).toBe(plain)
  }
  const { ids } = await getData(app, '/v1/correlation?ids=yew,ash,elm', DATA.correlation)
  expect(ids).toEqual(['yew', 'ash', 'elm'])
})

const PIN = '/v1/snapshots/20250224T001500Z/export'

test.each(FORMATS)('an export range as %s has one canonical address, and its own file name', async format => {
  const asked = `/v1/export?to=2024-11-30&period=daily&from=2024-03-02&format=${format}`
  const canonical = `?${format === 'json' ? '' : `format=${format}&`}from=2024-03-02&to=2024-11-30`
  const response = await app.request(asked)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-location')).toBe(PIN + canonical)
  const bytes = Buffer.from(await response.arrayBuffer())
  const pinned = `${asked}&dataset_version=2025-02-24T00:15:00Z`
  for (const address of [`/v1/export${canonical}`, PIN + canonical, pinned]) {
    const again = await app.request(address)
    expect(Buffer.from(await again.arrayBuffer()).equals(bytes), address).toBe(true)
  }
  if (format === 'json')
    expect(JSON.parse(bytes.toString())).toMatchObject({ links: { self: `/v1/export${canonical}` } })
  const name = response.headers.get('content-disposition')
  expect(name).toBe(
    format === 'json'
      ? null
      : `attachment; filename="all-export-daily-from-2024-03-02-to-2024-11-30-20250224T001500Z.${format}"`,
  )
})

const EVERY_CODING = { 'accept-encoding': 'zstd, br, gzip' }

const MEDIA_TYPES = {
  arrow: 'application/vnd.apache.arrow.file',
  parquet: 'application/vnd.apache.parquet',
} as const

const TABLES = [
  ...['/v1/export', '/v1/export?period=weekly', '/v1/export?risk_pct=0.013', '/v1/strategies/ash/trades'],
  ...['/v1/strategies', '/v1/benchmark', '/v1/correlation', '/v1/correlation?ids=yew,ash&period=weekly'],
  ...['/v1/strategies/ash/returns', '/v1/strategies/ash/returns?from=2024-03-02&period=weekly'],
  ...['/v1/strategies/ash/curve', '/v1/strategies/ash/curve?risk_pct=0.013', '/v1/strategies/ash/rolling'],
]

test.each(TABLES)('%s as Arrow or Parquet is a file of its media type without a coding', async plain => {
  for (const format of ['arrow', 'parquet'] as const) {
    const address = `${plain}${plain.includes('?') ? '&' : '?'}format=${format}`
    const response = await app.request(address, { headers: EVERY_CODING })
    const { status, headers } = response
    const body = Buffer.from(await response.arrayBuffer())
    expect(status, address).toBe(200)
    expect(headers.get('content-encoding')).toBeNull()
    expect(headers.get('content-type')).toBe(MEDIA_TYPES[format])
    expect(headers.get('content-length')).toBe(String(body.length))
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="[a-z0-9.T-]+Z?\\.${format}"$`, 'i'),
    )
    expect(headers.get('x-dataset-version')).toBe(TINY_VERSION)
    expect(headers.get('vary')).toContain('Accept-Encoding')
    const etag = headers.get('etag')!
    const uncoded = await app.request(address)
    expect(uncoded.headers.get('etag')).toBe(etag)
    expect(Buffer.from(await uncoded.arrayBuffer()).equals(body)).toBe(true)
    expect((await app.request(address, { headers: { 'if-none-match': etag } })).status).toBe(304)
  }
})
