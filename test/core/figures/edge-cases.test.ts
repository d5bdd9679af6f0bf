import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { fundDueDiligence } from '#core/contract/payloads/stats.ts'
import { splitFigures, type Undefined, undefinedBecause } from '#core/figures/figure.ts'
import { performanceFigures, sincePublicationFigures } from '#core/figures/performance.ts'
import { completeWeeks, type Series } from '#core/figures/series.ts'
import type { strategyFigures } from '#core/figures/strategy-figures.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'
import { constant, figuresFrom, figuresOf, ledgers, trade } from './series.ts'

const uneven = (length: number): number[] => Array.from({ length }, (_, i) => 0.02 * Math.sin(1 + i * i))

const LOST = { net_return_pct: -100, max_drawdown_pct: -100 }

/** What a series alone does not have. */
const ABSENT = new Set(['no_trades', 'unknown_leverage', 'no_module', 'not_published'])

/** 2024-01-01 to 2024-03-10; at k = 2, half of it is lost on 2024-02-15 and the rest with it. */
const returns = [...constant(0.01, 45), -0.5, ...constant(0.01, 24)]

const figures = figuresFrom('2024-01-01', returns, 2)

test('an account is ruined by a day of exactly -100 %, and only at that risk', () => {
  expect(figures).toMatchObject({ ruined: true, ruin_t: '2024-02-15', ...LOST })
  expect(figuresFrom('2024-01-01', returns, 1.999)).toMatchObject({ ruined: false, ruin_t: null })
})

test('an account that is ruined on the first day of a year has that year, and that month, as the last', () => {
  const { monthly, annual } = figuresFrom('2023-12-31', [0.1, -1, 0.1, 0.1]).fund_dd
  expect(monthly.table).toMatchObject([{ month: 12 }, { month: 1, return_pct: -100 }])
  expect(annual.table).toMatchObject([{ year: 2023 }, { year: 2024, return_pct: -100, days: 3 }])
})

test('a ruined account keeps the figures of its ledger', () => {
  const { fund_dd, win_rate_pct } = figuresOf(dailyFrom('2024-01-01', returns), 2, [
    trade('2024-01-05T00:00:00Z', 168, 0.07),
  ])
  expect(win_rate_pct).toBe(100)
  expect(fund_dd.exposure.time_in_market_pct).toBeCloseTo(10, 12)
  expect(fund_dd.trades.expectancy_pct).toBeCloseTo(14, 12)
})

test('a series without a day has no date, no loss and no ratio, and trade figures as usual', () => {
  const { values, undefined: reasons } = splitFigures(figuresOf(dailyFrom('2024-01-01', [])))
  expect(values).toMatchObject({
    ...{ n_days: 0, n_weeks: 0, start: null, end: null, net_return_pct: 0, max_drawdown_pct: 0 },
    time_underwater: { longest_days: 0, total_days: 0 },
  })
  const { cagr_pct, win_rate_pct, ...others } = reasons
  expect([cagr_pct, win_rate_pct]).toEqual(['less_than_one_year', 'no_trades'])
  expect(others.sharpe_daily_annualized).toBe('too_few_points')
})

const within = (block: string, ...names: readonly string[]) => names.map(name => `fund_dd/${block}/${name}`)

test('every reason of a series of fewer than two days is too_few_points, except for CAGR and what is not there', () => {
  const ofYear = [
    ...['cagr_pct', ...within('risk_adjusted', 'calmar', 'ulcer_performance_index')],
    ...within('benchmark', 'cagr_pct', 'excess_cagr_pct'),
    ...['published/before/cagr_pct', 'published/after/cagr_pct'],
  ]
  const publication = { since: '2030-01-01T00:15:00Z', isNew: false }
  forAll(dailySeries(0, 1), daily => {
    const published = sincePublicationFigures(daily, publication)
    const figures = figuresOf(daily, 1, [], { benchmark: daily, trials: 3 })
    const { undefined: reasons } = splitFigures({ ...figures, published })
    for (const [path, reason] of Object.entries(reasons)) {
      if (ofYear.includes(path)) expect(reason, path).toBe('less_than_one_year')
      else if (!ABSENT.has(reason)) expect(reason, path).toBe('too_few_points')
    }
  })
})

test('a record of 89 days is not annualised, whatever it has gained; its volatility stays', () => {
  const raised = uneven(89).map(value => value + 0.01)
  const gained = dailyFrom('2024-01-01', raised)
  const trades = [trade('2024-01-05T00:00:00Z', 24, 0.02), trade('2024-01-09T00:00:00Z', 24, -0.01)]
  const benchmark = dailyFrom('2024-01-01', uneven(89))
  const { values, undefined: reasons } = splitFigures(figuresOf(gained, 1, trades, { benchmark }))
  const ofYear = [
    ...['sharpe_daily_annualized', 'sortino_daily_annualized', 'sharpe_weekly_annualized'],
    ...within('risk_adjusted', 'sharpe_std_error', 'sharpe_monthly_annualized', 'kelly_leverage'),
    ...within('risk_adjusted', 'sortino_weekly_annualized'),
    ...within('benchmark', 'alpha_annualized_pct', 'sharpe_daily_annualized'),
    ...within('trades', 'kelly_fraction', 'trades_per_year'),
  ]
  for (const path of ofYear) expect(reasons[path], path).toBe('too_few_points')
  const volatility_annualized_pct = expect.any(Number)
  expect(values.fund_dd).toMatchObject({
    risk_adjusted: { volatility_annualized_pct },
    benchmark: { volatility_annualized_pct, beta: expect.any(Number) },
  })
})

test('every figure of a series of any length is a finite number or undefined for a reason', () => {
  const anyRisk = fc.double({ min: 0.01, max: 20, noNaN: true })
  forAll(300, dailySeries(0, 40), ledgers, anyRisk, (daily, trades, k) => {
    const reversed = { ...daily, values: daily.values.toReversed() }
    const declared = { benchmark: reversed, trials: 1 + trades.length }
    expect(() => splitFigures(figuresOf(daily, k, trades))).not.toThrow()
    expect(() => splitFigures(figuresOf(daily, k, trades, declared))).not.toThrow()
  })
})

const daily = dailyFrom('2024-01-01', [0.1, -0.1])

test('the figures refuse a return that is not finite, by its date', () => {
  expect(() => figuresOf(dailyFrom('2024-01-01', [0.1]))).not.toThrow()
  const broken: Series = { ...daily, values: Float64Array.of(0.1, Number.NaN) }
  const weekly = completeWeeks(daily)
  expect(() => performanceFigures(broken, weekly, 1)).toThrow(/daily return of 2024-01-02 .* got NaN/)
})

test('a year is 365 days: of 365 days the CAGR is the net return, of 364 there is none', () => {
  const returns = Array.from({ length: 365 }, (_, i) => (i % 3 === 0 ? -0.01 : 0.01))
  const year = figuresFrom('2023-01-01', returns)
  expect(year.cagr_pct).toBeCloseTo(year.net_return_pct, 12)
  expect(figuresFrom('2023-01-01', returns.slice(1)).cagr_pct).toEqual(undefinedBecause('less_than_one_year'))
  const two = figuresFrom('2023-01-01', [...returns, ...returns])
  expect(two.cagr_pct).toBeCloseTo(year.net_return_pct, 11)
})

const GROUPS = [
  ...(['trades', 'risk_adjusted', 'drawdowns', 'monthly', 'annual'] as const),
  ...(['exposure', 'costs', 'excursions', 'replays'] as const),
]

/** The type of a block's `values`: every `Figure` a number or null. */
type Split<Block> = Block extends Undefined
  ? null
  : Block extends object
    ? { -readonly [Field in keyof Block]: Split<Block[Field]> }
    : Block

const TABLE = [{ year: 2024, sharpe: null, partial: true }]
const PLAIN = { table: TABLE, ruin_t: null, start: '2024-01-01', ruined: false }
const GROUPED = { group: { b: undefinedBecause('ruin'), deeper: { c: undefinedBecause('no_wins'), d: 2 } } }

test.each(casesOf<[string, Parameters<typeof splitFigures>[0], object, object]>`
an undefined figure into null and its reason under its path -> ${GROUPED} -> ${{ group: { b: null, deeper: { c: null, d: 2 } } }} -> ${{ 'group/b': 'ruin', 'group/deeper/c': 'no_wins' }}
tables, texts, flags and plain nulls as they are -> ${PLAIN} -> ${PLAIN} -> ${{}}
a figure of zero, also in a table, without a sign -> ${{ a: -0, table: [{ b: -0 }] }} -> ${{ a: 0, table: [{ b: 0 }] }} -> ${{}}`)(
  'a block of figures is split into values and reasons: %s',
  (_, block, values, reasons) => {
    expect(splitFigures(block)).toEqual({ values, undefined: reasons }) // which tells -0 from 0
  },
)

test('a figure that is not finite is refused by its path, also in a table', () => {
  expect(() => splitFigures({ group: { a: Number.NaN } })).toThrow(/figure group\/a must be a finite number/)
  expect(() => splitFigures({ table: [{ a: 1 }, { a: Infinity }] })).toThrow(/table\/1\/a .* got Infinity/)
})

test.each([
  [
    'with trades',
    figuresOf(dailyFrom('2020-01-01', constant(0.001, 900)), 1, [trade('2020-02-01T00:00:00Z', 9, 0.01)]),
  ],
  ['that is ruined', figuresFrom('2020-01-01', [0.1, -1, 0.1])],
  ['of one day', figuresFrom('2020-01-01', [0.1])],
])('the block of a series %s has exactly the fields that the wire describes', (_, figures) => {
  const { values } = splitFigures(figures)
  const parsed = fundDueDiligence().parse(values.fund_dd)
  for (const group of GROUPS) {
    const documented = Object.keys(fundDueDiligence().shape[group].shape)
    expect(Object.keys(parsed[group]).sort(), group).toEqual(documented.sort())
  }
})

test('the description of a trailing return has the number of days that its name has', () => {
  for (const [name, { description }] of Object.entries(fundDueDiligence().shape.annual.shape)) {
    const [, days] = /^trailing_(\d+)d/.exec(name) ?? []
    if (days !== undefined) expect(description).toContain(` the last ${days} days`)
  }
})

test('the computed block has the types that the wire describes', () => {
  expectTypeOf<Split<ReturnType<typeof strategyFigures>['fund_dd']>>().toExtend<
    z.infer<typeof fundDueDiligence>
  >()
})
