// What is accepted: every spelling of a value is the same answer, which says what was used, in every format.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { FORMATS } from '#core/contract/parameters.ts'
import { BINARY_FORMATS, readTable } from '../../core/dataset/resources/read-columns.ts'
import { TINY_LAST_DAY, TINY_VERSION } from '../../support/books/publish-book.ts'
import { errorOf, getData, getEnvelope, openTiny } from './answers.ts'
import { pathsOf, SIDS } from './paths.ts'
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

test.each(RESCALED)('$path says that it is rescaled, from what to what', async route => {
  for (const path of pathsOf(route)) {
    expect(await metaOf(`${path}?risk_pct=0.05`), path).toMatchObject({
      modelled: true,
      requested_risk_pct: 0.05,
      effective_risk_pct: 0.05,
      risk_pct_clamped: false,
    })
  }
})

test.each(RESCALED)('$path is answered at the cap for a risk level above it, and says so', async route => {
  for (const path of pathsOf(route)) {
    for (const asked of [0.1000001, 0.2, 1e9, 2e15]) {
      const meta = await metaOf(`${path}?risk_pct=${asked}`)
      const used = { effective_risk_pct: CAP, risk_pct_clamped: true }
      expect(meta, path).toMatchObject({ requested_risk_pct: asked, ...used })
    }
    expect((await metaOf(`${path}?risk_pct=${CAP}`)).risk_pct_clamped, path).toBe(false)
  }
})

test.each(RESCALED)('$path says nothing of a rescale if none was asked for', async route => {
  for (const path of pathsOf(route)) {
    const meta = await metaOf(path)
    expect(meta.modelled, path).toBe(false)
    const provenance = ['requested_risk_pct', 'effective_risk_pct', 'risk_pct_clamped', 'base_risk_pcts']
    expect(
      Object.keys(meta).filter(key => provenance.includes(key)),
      path,
    ).toEqual([])
  }
})

test('the cap of risk levels is the one in /version', async () => {
  expect((await getData(app, '/version', DATA.version)).max_modelled_risk_pct).toBe(CAP)
})

test.each(SIDS)('the meta of a series of %s has its risk level, by default the base level', async sid => {
  const { base_risk_pct } = await getData(app, `/v1/strategies/${sid}`, DATA.strategy)
  for (const series of ['returns', 'curve']) {
    const path = `/v1/strategies/${sid}/${series}`
    expect((await metaOf(path)).risk_pct).toBe(base_risk_pct)
    expect(await metaOf(`${path}?risk_pct=0.2`)).toMatchObject({ risk_pct: CAP, base_risk_pct })
  }
  expect(await metaOf(`/v1/strategies/${sid}/stats?risk_pct=0.05`)).toMatchObject({ base_risk_pct })
})

test('the export has no risk level if the request has none, because each strategy has its own', async () => {
  expect(await metaOf('/v1/export')).not.toHaveProperty('risk_pct')
  const { base_risk_pcts } = await metaOf('/v1/export?risk_pct=0.05')
  expect(base_risk_pcts).toEqual({ ash: 0.02, beech: 0.01, elm: 0.02, yew: 0.02 })
})

const periodic = ROUTES.filter(({ query }) => 'period' in query)
test.each(periodic)('the meta of $path has the period that was asked for', async route => {
  for (const path of pathsOf(route)) {
    expect((await metaOf(path)).period).toBe('daily')
    expect((await metaOf(`${path}?period=daily`)).period).toBe('daily')
    expect((await metaOf(`${path}?period=weekly`)).period).toBe('weekly')
  }
})

const RETURNS = '/v1/strategies/ash/returns'
const daysOf = async (query: string) => (await getData(app, RETURNS + query, DATA.returns)).map(({ t }) => t)

test('a range of returns holds both of its ends, also if they are one day', async () => {
  expect(await daysOf('?from=2024-02-28&to=2024-03-01')).toEqual(['2024-02-28', '2024-02-29', '2024-03-01'])
  expect(await daysOf('?from=2024-02-29&to=2024-02-29')).toEqual(['2024-02-29'])
})

test('a range of returns may be open at either end', async () => {
  const all = await daysOf('')
  expect(await daysOf('?from=2024-02-29')).toEqual(all.filter(t => t >= '2024-02-29'))
  expect(await daysOf('?to=2024-02-29')).toEqual(all.filter(t => t <= '2024-02-29'))
  expect(await daysOf('?from=0000-01-01&to=9999-12-31')).toEqual(all)
})

test('a range of returns without a single value answers 200 and nothing, in either format', async () => {
  const past = ['?to=1999-12-31', '?from=2100-01-01', '?from=2099-01-01&to=2099-12-31', '?from=9999-12-31']
  for (const query of [...past, `?from=${TINY_LAST_DAY}&period=weekly`]) {
    const response = await app.request(RETURNS + query)
    expect(response.status, query).toBe(200)
    expect(await daysOf(query), query).toEqual([])
    expect(await textOf(`${RETURNS}${query}&format=csv`), query).toBe('t,ret\r\n')
  }
})

test('a range of weeks holds the weeks that end in it, and does not cut into their values', async () => {
  const all = await getData(app, `${RETURNS}?period=weekly`, DATA.returns)
  const cut = await getData(app, `${RETURNS}?period=weekly&from=2024-03-06&to=2024-04-10`, DATA.returns)
  expect(cut).toEqual(all.filter(({ t }) => t >= '2024-03-06' && t <= '2024-04-10'))
  expect(cut).toHaveLength(5)
})

test.each(SIDS)('a risk level changes no figure of the trades of %s, nor its due diligence', async sid => {
  const path = `/v1/strategies/${sid}/stats`
  const base = await getData(app, path, DATA.stats.loose())
  for (const level of ['0.001', '0.05', '9']) {
    const rescaled = await getData(app, `${path}?risk_pct=${level}`, DATA.stats.loose())
    const { fund_dd, trade_count, win_rate_pct, profit_factor } = rescaled
    expect(fund_dd).toEqual(base.fund_dd)
    expect({ trade_count, win_rate_pct, profit_factor }).toEqual({
      trade_count: base.trade_count,
      win_rate_pct: base.win_rate_pct,
      profit_factor: base.profit_factor,
    })
  }
})

test('a risk level does not change the correlation of the export, which is the one of /v1/correlation', async () => {
  for (const period of ['daily', 'weekly']) {
    const matrix = await getData(app, `/v1/correlation?period=${period}`, DATA.correlation)
    for (const level of ['', '&risk_pct=0.001', '&risk_pct=0.07']) {
      const { correlation } = await getData(app, `/v1/export?period=${period}${level}`, DATA.export)
      expect(correlation).toEqual(matrix)
    }
  }
})

const matrixOf = (query: string) => getData(app, `/v1/correlation?${query}`, DATA.correlation)

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
  expect((await matrixOf('ids=yew,ash,elm')).ids).toEqual(['yew', 'ash', 'elm'])
})

test.each(SIDS)('the correlation of the one strategy %s is a matrix of 1', async sid => {
  expect(await matrixOf(`ids=${sid}`)).toMatchObject({ ids: [sid], matrix: [[1]], undefined_pairs: [] })
})

test('the correlation of all strategies in another order is the same matrix turned', async () => {
  for (const period of ['daily', 'weekly']) {
    const { matrix } = await matrixOf(`period=${period}`)
    const turned = await matrixOf(`period=${period}&ids=${SIDS.toReversed().join(',')}`)
    expect(turned.matrix).toEqual(matrix.map(row => row.toReversed()).toReversed())
  }
})

test('a matrix of correlations is square and symmetric with exactly 1 on its diagonal, and its undefined cells are listed', async () => {
  for (const period of ['daily', 'weekly']) {
    const { ids, matrix, undefined_pairs } = await matrixOf(`period=${period}`)
    const undefinedCells = new Set(undefined_pairs.map(({ pair }) => pair.join()))
    for (const [i, row] of matrix.entries()) {
      expect(row).toHaveLength(ids.length)
      expect(row[i]).toBe(1)
      for (const [j, cell] of row.entries()) {
        expect(cell).toBe(matrix[j]![i])
        if (j > i && undefinedCells.has(`${ids[i]},${ids[j]}`)) expect(cell).toBe(0)
      }
    }
    // The flat strategy has a correlation with none of the others.
    const others = ['ash', 'beech', 'elm']
    expect(undefined_pairs.map(({ pair }) => pair)).toEqual(others.map(sid => [sid, 'yew']))
  }
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

test.each(FORMATS)('an export range as %s may be empty, and must not end before it begins', async format => {
  const response = await app.request(`/v1/export?from=1990-01-01&to=1990-12-31&format=${format}`)
  expect(response.status).toBe(200)
  if (format === 'json') expect(await response.json()).toMatchObject({ data: { rows: [] } })
  if (format === 'csv') expect((await response.text()).split('\r\n')).toHaveLength(2)
  const refused = await app.request(`/v1/export?from=2024-12-01&to=2024-11-30&format=${format}`)
  expect(refused.status).toBe(422)
  expect(await errorOf(refused)).toMatchObject({ code: 'validation_error', details: [{ param: 'from' }] })
})

const EVERY_CODING = { 'accept-encoding': 'zstd, br, gzip' }

const MEDIA_TYPES = {
  arrow: 'application/vnd.apache.arrow.file',
  parquet: 'application/vnd.apache.parquet',
} as const

const addresses = BINARY_FORMATS.flatMap(format =>
  [
    ...['/v1/export', '/v1/export?period=weekly', '/v1/export?risk_pct=0.013', '/v1/strategies/ash/trades'],
    ...['/v1/strategies', '/v1/benchmark', '/v1/correlation', '/v1/correlation?ids=yew,ash&period=weekly'],
    ...['/v1/strategies/ash/returns', '/v1/strategies/ash/returns?from=2024-03-02&period=weekly'],
    ...['/v1/strategies/ash/curve', '/v1/strategies/ash/curve?risk_pct=0.013', '/v1/strategies/ash/rolling'],
  ].map(
    address => [`${address}${address.includes('?') ? '&' : '?'}format=${format}`, format, address] as const,
  ),
)

test.each(addresses)(
  '%s is a file of its media type without a coding, with the table of the CSV',
  async (address, format, plain) => {
    const response = await app.request(address, { headers: EVERY_CODING })
    const { headers } = response
    const body = new Uint8Array(await response.arrayBuffer())
    expect(response.status).toBe(200)
    expect(headers.get('content-encoding')).toBeNull()
    expect(headers.get('content-type')).toBe(MEDIA_TYPES[format])
    expect(headers.get('content-length')).toBe(String(body.length))
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="[a-z0-9.T-]+Z?\\.${format}"$`, 'i'),
    )
    expect(headers.get('x-dataset-version')).toBe(TINY_VERSION)
    expect(headers.get('vary')).toContain('Accept-Encoding')
    const csv = await (await app.request(`${plain}${plain.includes('?') ? '&' : '?'}format=csv`)).text()
    const [header, ...rows] = csv.split('\r\n').slice(0, -1)
    const table = readTable(format, body)
    expect(table.header).toEqual(header!.split(',').filter(name => !name.endsWith('_utc')))
    expect(table.rows.length).toBe(rows.length)
    const etag = headers.get('etag')
    const uncoded = await app.request(address)
    expect(uncoded.headers.get('etag')).toBe(etag)
    expect(Buffer.from(await uncoded.arrayBuffer()).equals(body)).toBe(true)
    expect((await app.request(address, { headers: { 'if-none-match': etag! } })).status).toBe(304)
  },
)

test.each([
  [
    '/v1/strategies/ash/stats?format=parquet',
    'is no parameter of this route, which takes risk_pct, dataset_version',
  ],
  ['/v1/dataset/versions?format=parquet', 'must be one of json, csv'],
  ['/v1/strategies/ash/curve?format=xlsx', 'must be one of json, csv, arrow, parquet'],
])('the request %s is refused, and the refusal names what there is', async (address, reason) => {
  const response = await app.request(address)
  expect(response.status).toBe(422)
  expect(await response.text()).toContain(`"reason":"${reason}"`)
})
