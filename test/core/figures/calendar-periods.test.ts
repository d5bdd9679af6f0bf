import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { calendarPeriods } from '#core/figures/calendar-periods.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'
import { constant, figuresFrom, figuresOf, trade } from './series.ts'

/** The days of a month, or of a year, by the calendar of `Date`. */
const daysIn = (year: number, month: number, months: number): number =>
  (Date.UTC(year, month - 1 + months) - Date.UTC(year, month - 1)) / 86_400_000

test.each([
  ['month', 1, 'YYYY-MM'],
  ['year', 12, 'YYYY'],
] as const)(
  'every day is in the %s that its date says, which has all its days or is partial',
  (_, months, label) => {
    forAll(fc.integer({ min: -5000, max: 40_000 }), fc.nat(900), (first, length) => {
      const dates = Array.from({ length }, (_, i) => toIsoDate(first + i))
      const periods = calendarPeriods(first, length, months)
      expect(periods.flatMap(({ from, days }) => dates.slice(from, from + days))).toEqual(dates)
      for (const { year, month, from, days, partial } of periods) {
        const start = `${year}-${String(month).padStart(2, '0')}`.slice(0, label.length)
        expect(dates.slice(from, from + days).every(date => date.startsWith(start))).toBe(true)
        expect(partial).toBe(days < daysIn(year, month, months))
      }
      expect(new Set(dates.map(date => date.slice(0, label.length))).size).toBe(periods.length)
    })
  },
)

/** From 2022-12-31 on: a day of a year, a year that loses 20 %, a year that gains 50 %, and two days. */
const years = [0.1, ...constant(0, 100), -0.2, ...constant(0, 264), 0.5, ...constant(0, 365), 0, 0.25]

const { annual } = figuresFrom('2022-12-31', years).fund_dd

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

test('the runs of years are of whole years, and the year to date is the last one', () => {
  const runs = { longest_up_streak_years: 1, longest_down_streak_years: 1 }
  expect(annual).toMatchObject({ complete_count: 2, ...runs })
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

test('the runs of months are of whole months, and the month to date is the last one', () => {
  // 31 January, then February +10 %, March -5 %, April -5 %, May 0 %, June +20 %, and 1 July
  const month = (value: number, days: number): number[] => [value, ...constant(0, days - 1)]
  const spring = [...month(0.1, 28), ...month(-0.05, 31), ...month(-0.05, 30), ...month(0, 31)]
  const returns = [0.5, ...spring, ...month(0.2, 30), 0.5]
  const { monthly, annual } = figuresFrom('2023-01-31', returns).fund_dd
  const runs = { longest_up_streak_months: 1, longest_down_streak_months: 2 }
  expect(monthly).toMatchObject({ complete_count: 5, ...runs })
  expect(annual.mtd_pct).toBeCloseTo(50, 10)
})

test('months and years both compound to the net return', () => {
  forAll(dailySeries(1, 400), daily => {
    const { fund_dd, net_return_pct } = figuresOf(daily)
    for (const { table } of [fund_dd.monthly, fund_dd.annual]) {
      const total = table.reduce((level, { return_pct }) => level * (1 + return_pct / 100), 1)
      const net = 1 + net_return_pct / 100
      expect(Math.abs(total - net)).toBeLessThanOrEqual(1e-11 * Math.max(1, net))
    }
  })
})
