// Two days of returns, of which a year would be made.
import { beforeAll, expect, test } from 'vitest'
import { catalogue, dailyBars, dailyReturns, FIRST_DAY, reported } from '../pipeline/night/night-book.ts'
import { type Forgery, forge } from './forge.ts'

/** Ends with the day before the build. */
const DAYS = 120
const FROM = FIRST_DAY + 14 - DAYS

const wave = (i: number): number => Math.round(1e5 * Math.sin(i * i)) / 1e7

let forgery: Forgery
beforeAll(async () => {
  forgery = await forge({
    'catalogue.yaml': catalogue([
      { ...reported('ash'), name: 'Two days' },
      { ...reported('elm'), name: 'Long' },
    ]),
    'bars/BTCUSDT-PERP/1d.csv': dailyBars(
      Array.from({ length: DAYS }, (_, i) => 100 + (i % 7)),
      FROM,
    ),
    'returns/ash.csv': dailyReturns([0.05, -0.001], FIRST_DAY + 12),
    'returns/elm.csv': dailyReturns(
      Array.from({ length: DAYS }, (_, i) => wave(i)),
      FROM,
    ),
  })
  const { code, err } = await forgery.build()
  expect([code, err]).toEqual([0, ''])
})

test('two days of returns have no figure of a year, with the reason, and keep their volatility', async () => {
  const stats = await forgery.data('strategies/ash/stats.json')
  expect(stats).toMatchObject({
    n_days: 2,
    sharpe_daily_annualized: null,
    sortino_daily_annualized: null,
    undefined: {
      sharpe_daily_annualized: 'too_few_points',
      sortino_daily_annualized: 'too_few_points',
      'fund_dd/risk_adjusted/kelly_leverage': 'too_few_points',
    },
    fund_dd: { risk_adjusted: { volatility_annualized_pct: expect.any(Number), calmar: null } },
  })
  expect(await forgery.data('strategies/elm/stats.json')).toMatchObject({
    sharpe_daily_annualized: expect.any(Number),
  })
})

test('a publisher who makes a year of two days: where a figure of a year would stand, the sheet says how short they are', async () => {
  const sheet = await forgery.page('strategies/ash/sheet.html')
  for (const name of ['CAGR', 'Sharpe', 'Sortino', 'Calmar ratio', 'Alpha, annual'])
    expect(sheet).toContain(`${name} 2 days: too short`)
  expect(sheet).toMatch(/Volatility [\d.]+ % \(2 days\)/)
})

test.each(['index.html', 'explore.html'])(
  'a strategy of two days stands last in the table of %s, as too short',
  async page => {
    const table = (await forgery.page(page)).split('Verified').at(-1)!
    expect(table.indexOf('Long')).toBeGreaterThan(-1)
    expect(table.indexOf('Two days')).toBeGreaterThan(table.indexOf('Long'))
    expect(table).toMatch(/Two days 2 days: too short -?[−\d.]+ % 2 days: too short/)
  },
)
