// What is accepted: every spelling of a value is the same answer, and the answer says what was used.
import { expect, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { TINY_LAST_DAY } from '../../support/books/publish-book.ts'
import { getData, getEnvelope, openTiny } from './answers.ts'
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
    for (const spelling of [
      '0.0500',
      '5e-2',
      '5E-2',
      '00.05',
      '0.5e-1',
      '500e-4',
      '0.05000000000000000000001',
    ]) {
      expect(await bodyOf(`${path}?risk_pct=${spelling}`), spelling).toEqual(plain)
    }
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
      expect(meta, path).toMatchObject({
        requested_risk_pct: asked,
        effective_risk_pct: CAP,
        risk_pct_clamped: true,
      })
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
  expect((await metaOf('/v1/export?risk_pct=0.05')).base_risk_pcts).toEqual({
    ash: 0.02,
    beech: 0.01,
    elm: 0.02,
    yew: 0.02,
  })
})

const periodic = ROUTES.filter(({ query }) => 'period' in query)
test.each(periodic.map(route => [route.path, route] as const))(
  'the meta of %s has the period that was asked for',
  async (_path, route) => {
    for (const path of pathsOf(route)) {
      expect((await metaOf(path)).period).toBe('daily')
      expect((await metaOf(`${path}?period=daily`)).period).toBe('daily')
      expect((await metaOf(`${path}?period=weekly`)).period).toBe('weekly')
    }
  },
)

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
    const { fund_dd, trade_count, win_rate_pct, profit_factor } = await getData(
      app,
      `${path}?risk_pct=${level}`,
      DATA.stats.loose(),
    )
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
