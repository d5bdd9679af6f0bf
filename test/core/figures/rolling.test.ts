import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIsoDate, toWeek } from '#core/calendar.ts'
import { accountPath } from '#core/figures/account-path.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import { completeWeeks, dayOf, lastDay, type Series } from '#core/figures/series.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { aReturn, dailySeries } from './arbitraries.ts'
import { constant, figuresOf } from './series.ts'

const rollingOf = (daily: Series, benchmark: Series | null = null, k = 1) =>
  rollingFigures(accountPath(daily, completeWeeks(daily), k), benchmark)

/** So many returns from a few that are drawn, stretched by factors of very different size. */
const longReturns = (length: number) =>
  fc
    .tuple(
      fc.array(aReturn, { minLength: 30, maxLength: 60 }),
      fc.array(fc.constantFrom(1, 1e-3, 1e-6, 0), { minLength: 2, maxLength: 7 }),
    )
    .map(([values, scales]) =>
      Float64Array.from({ length }, (_, i) => {
        const scale = scales[Math.floor(i / 190) % scales.length]!
        return scale * values[(i * 7 + Math.floor(i / values.length)) % values.length]!
      }),
    )

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0)

/** Mean and sums of squares of one window, in two passes. */
function direct(r: Float64Array, b: Float64Array) {
  const [mr, mb] = [sum(r) / 365, sum(b) / 365]
  const squares = sum(r.map(value => (value - mr) ** 2))
  const deviation = Math.sqrt(squares / 364)
  const isFlat = (values: Float64Array) => Math.max(...values) - Math.min(...values) <= 1e-12
  return {
    return_pct: 100 * (r.reduce((level, ret) => level * (1 + ret), 1) - 1),
    volatility_pct: isFlat(r) ? 0 : 100 * deviation * Math.sqrt(365),
    sharpe: isFlat(r) ? Number.NaN : (mr / deviation) * Math.sqrt(365),
    beta: isFlat(b)
      ? Number.NaN
      : sum(r.map((value, i) => (value - mr) * (b[i]! - mb))) / sum(b.map(value => (value - mb) ** 2)),
  }
}

const rowOf = ({ return_pct, volatility_pct, sharpe, beta }: ReturnType<typeof rollingOf>, at: number) => ({
  ...{ return_pct: return_pct[at], volatility_pct: volatility_pct[at], sharpe: sharpe[at], beta: beta[at] },
})

test('the rolling figures of every window are those of its days, to 1e-9', () => {
  const lengths = fc.integer({ min: 365, max: 1200 })
  forAll(
    8,
    lengths.chain(length => fc.tuple(longReturns(length), longReturns(length))),
    ([ours, its]) => {
      const rolling = rollingOf(dailyFrom('2020-01-01', ours), dailyFrom('2020-01-01', its))
      expect(rolling.beta.length).toBe(ours.length - 364)
      for (let from = 0; from < rolling.beta.length; from++) {
        const expected = direct(ours.subarray(from, from + 365), its.subarray(from, from + 365))
        expect(rowOf(rolling, from), `${from}`).toEqual(near(expected))
      }
    },
  )
})

test('rolling figures keep their digits after a day a thousand million times as large as the others, and if nearly flat', () => {
  const small = Array.from({ length: 1500 }, (_, i) => 1e-4 * Math.sin(1 + i * i))
  const outlier = Float64Array.from(small).with(400, 1e5)
  const steady = Float64Array.from(small, value => 0.01 + 1e-5 * value)
  for (const [ours, its] of [
    [outlier, steady],
    [steady, outlier],
  ] as const) {
    const rolling = rollingOf(dailyFrom('2020-01-01', ours), dailyFrom('2020-01-01', its))
    for (const from of [0, 35, 36, 400, 401, 730, 1135]) {
      const expected = direct(ours.subarray(from, from + 365), its.subarray(from, from + 365))
      expect(rowOf(rolling, from), `${from}`).toEqual(near(expected))
    }
  }
})

test('rolling figures are dated by the last day of their windows, and agree with the statistics of a series of 365 days', () => {
  const returns = Array.from({ length: 365 }, (_, i) => 0.02 * Math.sin(1 + i * i))
  const [daily, benchmark] = [dailyFrom('2023-01-01', returns), dailyFrom('2023-01-01', returns.toReversed())]
  const { values } = splitFigures(figuresOf(daily, 2, [], { benchmark }))
  const rolling = rollingOf(daily, benchmark, 2)
  expect(rolling.first).toBe(Date.UTC(2023, 11, 31) / 86_400_000)
  expect(values).toMatchObject({
    net_return_pct: expect.closeTo(rolling.return_pct[0]!, 9),
    sharpe_daily_annualized: expect.closeTo(rolling.sharpe[0]!, 9),
    fund_dd: {
      risk_adjusted: { volatility_annualized_pct: expect.closeTo(rolling.volatility_pct[0]!, 9) },
      benchmark: { beta: expect.closeTo(rolling.beta[0]!, 9) },
    },
  })
})

test('rolling figures of a series shorter than a window have no rows', () => {
  for (const length of [0, 1, 364])
    expect(rollingOf(dailyFrom('2020-01-01', constant(0.01, length))).sharpe).toHaveLength(0)
})

test('rolling figures have no beta without a benchmark, and no Sharpe ratio over a flat window', () => {
  const rolling = rollingOf(dailyFrom('2020-01-01', [...constant(0.01, 366), 0.02]))
  expect([...rolling.beta]).toEqual([Number.NaN, Number.NaN, Number.NaN])
  expect([...rolling.volatility_pct.subarray(0, 2)]).toEqual([0, 0])
  expect([...rolling.sharpe]).toEqual([Number.NaN, Number.NaN, expect.any(Number)])
  expect(rolling.sharpe[2]).toBeGreaterThan(0)
})

test('rolling figures of windows that end after a ruin are the loss alone, and of those that begin after it nothing', () => {
  const returns = Array.from({ length: 1000 }, (_, i) => 0.02 * Math.sin(1 + i * i)).with(450, -0.5)
  const daily = dailyFrom('2020-01-01', returns)
  const [rolling, whole] = [rollingOf(daily, daily, 2), rollingOf(daily, daily, 1)]
  // The day of ruin is the last of the window that begins 364 days before it.
  expect([...rolling.return_pct.subarray(86, 451)]).toEqual(constant(-100, 365))
  expect(rolling.return_pct.subarray(451).every(Number.isNaN)).toBe(true)
  for (const name of ['volatility_pct', 'sharpe', 'beta'] as const) {
    expect(rolling[name].subarray(0, 86).some(Number.isNaN)).toBe(false)
    expect(rolling[name].subarray(86).every(Number.isNaN)).toBe(true)
    expect(whole[name].some(Number.isNaN)).toBe(false)
  }
})

test('rolling figures that are too large to be published are refused', () => {
  const daily = dailyFrom('2020-01-01', [...constant(-0.999, 100), ...constant(5, 365)])
  expect(() => rollingOf(daily)).not.toThrow()
  expect(() =>
    rollingOf(dailyFrom('2020-01-01', [...constant(-0.999, 100), ...constant(99, 300), ...constant(0, 65)])),
  ).toThrow(/small enough to be published/)
})

test('the week over New Year is one week, dated by its Sunday', () => {
  // Monday 2024-12-30 to Sunday 2025-01-05, with two days of the week before and one of the week after.
  const weeks = completeWeeks(dailyFrom('2024-12-28', [0.5, 0.5, 0.1, 0, 0, 0.2, 0, 0, -0.5, 0.5]))
  expect(toIsoDate(weeks.first)).toBe('2025-01-05')
  expect([...weeks.values]).toEqual([1.1 * 1.2 * 0.5 - 1])
})

test('a day of ruin makes its week -1', () => {
  expect([...completeWeeks(dailyFrom('2024-12-30', [0, -1.5, -3, 0, 0, 0, 0])).values]).toEqual([-1])
})

test('the product of complete weeks is the product of their days', () => {
  forAll(dailySeries(0, 120), series => {
    const weeks = completeWeeks(series)
    let product = 1
    for (const week of weeks.values) product *= 1 + week
    let days = 1
    const monday = weeks.first - 6 - series.first
    for (let i = 0; i < weeks.values.length * 7; i++) days *= 1 + series.values[monday + i]!
    expect(Math.abs(product - days)).toBeLessThanOrEqual(1e-12 * days)
  })
})

test('every week is wholly in the series, and no complete week is missing', () => {
  forAll(dailySeries(0, 60), series => {
    const weeks = completeWeeks(series)
    const numbers = Array.from(series.values, (_, i) => toWeek(dayOf(series, i)))
    const complete = new Set(numbers.filter(n => numbers.filter(other => other === n).length === 7))
    expect(new Set(Array.from(weeks.values, (_, i) => toWeek(dayOf(weeks, i))))).toEqual(complete)
    if (weeks.values.length > 0) expect(lastDay(weeks)).toBeLessThanOrEqual(lastDay(series))
  })
})

test('a return of a week that is not finite is refused by its date', () => {
  expect(() => completeWeeks(dailyFrom('2024-12-30', [0, Number.NaN]))).toThrow(/2024-12-31 .* got NaN/)
})
