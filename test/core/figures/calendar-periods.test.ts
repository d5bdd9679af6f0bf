import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { calendarPeriods, periodReturns } from '#core/figures/calendar-periods.ts'
import { equityFromBaseline } from '#core/figures/equity-curve.ts'
import { undefinedBecause } from '#core/figures/figure.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'
import { constant, dailyFrom, figuresFrom, figuresOf, trade } from './series.ts'

test('only the first and the last calendar period can be partial, and 29 February belongs to a leap year', () => {
  const first = parseIsoDate('2024-01-31')!
  expect(calendarPeriods(first, 1 + 29 + 30, 1)).toEqual([
    { year: 2024, month: 1, from: 0, days: 1, partial: true },
    { year: 2024, month: 2, from: 1, days: 29, partial: false },
    { year: 2024, month: 3, from: 30, days: 30, partial: true },
  ])
  expect(calendarPeriods(parseIsoDate('2023-12-31')!, 1 + 366 + 365, 12)).toEqual([
    { year: 2023, month: 1, from: 0, days: 1, partial: true },
    { year: 2024, month: 1, from: 1, days: 366, partial: false },
    { year: 2025, month: 1, from: 367, days: 365, partial: false },
  ])
})

test('a series without days has no calendar period', () => {
  expect(calendarPeriods(0, 0, 1)).toEqual([])
})

test('every day is in the period that its date says, and each period has all its days or is partial', () => {
  forAll(fc.integer({ min: -5000, max: 40_000 }), fc.integer({ min: 1, max: 900 }), (first, length) => {
    const dates = Array.from({ length }, (_, i) => toIsoDate(first + i))
    const months = calendarPeriods(first, length, 1)
    const labels = months.flatMap(({ year, month, days }) =>
      Array(days).fill(`${year}-${String(month).padStart(2, '0')}`),
    )
    expect(labels).toEqual(dates.map(date => date.slice(0, 7)))
    const years = calendarPeriods(first, length, 12).flatMap(({ year, days }) =>
      Array(days).fill(String(year)),
    )
    expect(years).toEqual(dates.map(date => date.slice(0, 4)))
    expect(months.slice(1, -1).some(({ partial }) => partial)).toBe(false)
  })
})

test('the returns of the periods compound to the return of the series', () => {
  forAll(dailySeries(1, 150), ({ first, values }) => {
    const curve = equityFromBaseline(values)
    const months = calendarPeriods(first, values.length, 1)
    const total = periodReturns(curve, months).reduce((level, month) => level * (1 + month), 1)
    expect(Math.abs(total - curve.at(-1)!)).toBeLessThanOrEqual(1e-12 * curve.at(-1)!)
  })
})

const TOO_FEW = undefinedBecause('too_few_points')

/** From 2022-12-31 on: a day of a year, a year that loses 20 %, a year that gains 50 %, and two days. */
const years = [0.1, ...constant(0, 100), -0.2, ...constant(0, 264), 0.5, ...constant(0, 365), 0, 0.25]

const { annual } = figuresFrom('2022-12-31', years).fund_dd

test('the annual table has a row for every year that the series touches, and says which are whole', () => {
  expect(annual.table.map(({ year, days, partial }) => [year, days, partial])).toEqual([
    [2022, 1, true],
    [2023, 365, false],
    [2024, 366, false],
    [2025, 2, true],
  ])
  const returns = annual.table.map(({ return_pct }) => return_pct)
  for (const [i, expected] of [10, -20, 50, 25].entries()) expect(returns[i]).toBeCloseTo(expected, 10)
})

test('the drawdown of a year starts from the equity at the end of the year before', () => {
  expect(annual.table.map(({ max_drawdown_pct }) => Math.round(max_drawdown_pct * 1e9) / 1e9)).toEqual([
    0, -20, 0, 0,
  ])
})

test('the ratios of a year with one day, or without variance, are plain nulls', () => {
  expect(annual.table[0]).toMatchObject({ sharpe: null, volatility_pct: null })
  const flat = figuresFrom('2023-12-30', constant(0.01, 4)).fund_dd.annual.table
  expect(flat[0]).toMatchObject({ sharpe: null, volatility_pct: 0 })
})

test('the volatility of a year is annualised by 365 days and grows with the risk', () => {
  // sample deviation 0.02
  const [row] = figuresFrom('2024-01-01', [-0.01, 0.01, 0.03], 2).fund_dd.annual.table
  expect(row!.volatility_pct).toBeCloseTo(2 * 2 * Math.sqrt(365), 12)
})

test('the Sharpe ratio of a year needs 90 days of it', () => {
  const returns = Array.from({ length: 90 }, (_, i) => [-0.01, 0.01, 0.03][i % 3]!) // mean 0.01
  const sharpeOf = (days: number) =>
    figuresFrom('2024-01-01', returns.slice(0, days)).fund_dd.annual.table[0]!.sharpe
  expect(sharpeOf(89)).toBeNull()
  expect(sharpeOf(90)).toBeCloseTo((0.01 / Math.sqrt((60 * 0.02 ** 2) / 89)) * Math.sqrt(365), 12)
})

test('the statistics of years are those of whole years', () => {
  const runs = { longest_up_streak_years: 1, longest_down_streak_years: 1 }
  expect(annual).toMatchObject({ complete_count: 2, ...runs })
  expect(annual.average_year_pct).toBeCloseTo(15, 10)
  expect(annual.positive_years_pct).toBe(50)
  expect(annual.average_down_year_pct).toBeCloseTo(-20, 10)
  expect(annual.ytd_pct).toBeCloseTo(25, 10)
})

test('a trade belongs to the year of its exit in the annual table', () => {
  const daily = dailyFrom('2022-12-31', years)
  const trades = [
    trade('2023-12-31T00:00:00Z', 12, 0.01),
    trade('2023-12-31T12:00:00Z', 12, 0.01), // closed at midnight: the first instant of 2024
    trade('2024-12-31T12:00:00Z', 24, 0.01),
  ]
  const table = figuresOf(daily, 1, trades).fund_dd.annual.table
  expect(table.map(({ trade_count }) => trade_count)).toEqual([0, 1, 1, 1])
})

test('trailing windows are calendar days to the last one, and the three-year one is per year', () => {
  const gain = [...constant(0, 10), 1.331, ...constant(0, 1090)]
  const { annual: long } = figuresFrom('2020-01-01', gain).fund_dd
  expect(long.trailing_1095d_cagr_pct).toBeCloseTo(100 * (Math.cbrt(2.331) - 1), 10)
  expect(long.trailing_365d_return_pct).toBe(0)
  expect(annual.trailing_30d_return_pct).toBeCloseTo(25, 10)
  expect(annual.trailing_1095d_cagr_pct).toEqual(TOO_FEW)
})

test('the statistics and runs of months are those of whole months', () => {
  // 31 January, then February +10 %, March -5 %, April -5 %, May 0 %, June +20 %, and 1 July
  const month = (value: number, days: number): number[] => [value, ...constant(0, days - 1)]
  const spring = [...month(0.1, 28), ...month(-0.05, 31), ...month(-0.05, 30), ...month(0, 31)]
  const returns = [0.5, ...spring, ...month(0.2, 30), 0.5]
  const { monthly, annual } = figuresFrom('2023-01-31', returns).fund_dd
  const runs = { longest_up_streak_months: 1, longest_down_streak_months: 2 }
  expect(monthly).toMatchObject({ complete_count: 5, ...runs })
  expect(monthly.best_month_pct).toBeCloseTo(20, 10)
  expect(monthly.worst_month_pct).toBeCloseTo(-5, 10)
  expect(monthly.average_month_pct).toBeCloseTo(4, 10)
  expect(monthly.median_month_pct).toBeCloseTo(0, 10)
  expect(monthly.positive_months_pct).toBe(40)
  expect(monthly.average_up_month_pct).toBeCloseTo(15, 10)
  expect(monthly.best_rolling_3m_pct).toBeCloseTo(100 * (0.95 * 1.2 - 1), 10)
  expect(monthly.worst_rolling_3m_pct).toBeCloseTo(100 * (0.95 * 0.95 - 1), 10)
  expect(monthly.best_rolling_12m_pct).toEqual(TOO_FEW)
  expect(annual.mtd_pct).toBeCloseTo(50, 10)
})

test('months and years both compound to the net return', () => {
  forAll(50, dailySeries(1, 400), daily => {
    const { fund_dd, net_return_pct } = figuresOf(daily)
    for (const { table } of [fund_dd.monthly, fund_dd.annual]) {
      const total = table.reduce((level, { return_pct }) => level * (1 + return_pct / 100), 1)
      const net = 1 + net_return_pct / 100
      expect(Math.abs(total - net)).toBeLessThanOrEqual(1e-11 * Math.max(1, net))
    }
  })
})
