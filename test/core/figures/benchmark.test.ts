// The comparison with a benchmark: naive code that follows docs/figures.md day by day and shares nothing with
// core/figures computes every figure a second time, and laws say how the figures hang together.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUndefined, splitFigures, undefinedBecause } from '#core/figures/figure.ts'
import type { Series } from '#core/figures/series.ts'
import { bestWithoutSkill, normalCdf, normalQuantile, sharpeInference } from '#core/figures/sharpe.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { returnsOf } from './arbitraries.ts'
import { constant, figuresOf } from './series.ts'

const DAY_MS = 86_400_000
const NAMES = ['too_few_points', 'zero_variance', 'no_wins', 'no_losses', 'no_benchmark', 'ruin'] as const
const [TOO_FEW, FLAT, NO_WINS, NO_LOSSES, NO_BENCHMARK, RUIN] = NAMES.map(undefinedBecause)

const blockOf = (daily: Series, benchmark: Series | null, k = 1) =>
  figuresOf(daily, k, [], { benchmark }).fund_dd.benchmark

/** An account and a benchmark over the same days. */
const twoSeries = (fewest: number, most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: 400 }), returnsOf(fewest, most), returnsOf(most, most))
    .map(([offset, ours, its]) => ({
      daily: { period: 'daily', first: 17_000 + offset, values: ours } as const,
      benchmark: { period: 'daily', first: 17_000 + offset, values: its.subarray(0, ours.length) } as const,
    }))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const average = (values: readonly number[]): number => sum(values) / values.length
const product = (values: readonly number[]): number => values.reduce((level, ret) => level * (1 + ret), 1)
const products = (a: readonly number[], b: readonly number[]): number =>
  sum(a.map((value, i) => (value - average(a)) * (b[i]! - average(b))))

const isFlat = (values: readonly number[]): boolean => Math.max(...values) - Math.min(...values) <= 1e-12

/** Returns of the complete months, keyed `2020-01`. */
function months(first: number, returns: readonly number[]): Map<string, number> {
  const days = returns.map((ret, i) => ({
    month: new Date((first + i) * DAY_MS).toISOString().slice(0, 7),
    ret,
  }))
  const complete = [...Map.groupBy(days, ({ month }) => month)].filter(([month, { length }]) => {
    const [year, number] = month.split('-').map(Number)
    return length === new Date(Date.UTC(year!, number!, 0)).getUTCDate()
  })
  return new Map(complete.map(([month, each]) => [month, product(each.map(({ ret }) => ret)) - 1]))
}

function capture(ours: Map<string, number>, its: Map<string, number>, isIn: (change: number) => boolean) {
  const chosen = [...its].filter(([, change]) => isIn(change))
  const of = average(chosen.map(([, change]) => change))
  if (chosen.length === 0 || Math.abs(of * chosen.length) <= 1e-12) return null
  return (100 * average(chosen.map(([month]) => ours.get(month)!))) / of
}

/** Every figure of the block by its definition. */
function naively(first: number, r: readonly number[], b: readonly number[]): Record<string, number | null> {
  const n = r.length
  const levels = b.map((_, i) => product(b.slice(0, i + 1)))
  const falls = levels.map((level, i) => level / Math.max(1, ...levels.slice(0, i)) - 1)
  const cagr = (returns: readonly number[]) => product(returns) ** (365 / n) - 1
  const deviation = isFlat(b) ? 0 : Math.sqrt(products(b, b) / (n - 1))
  const beta = n < 2 || isFlat(b) ? null : products(r, b) / products(b, b)
  const [m, c] = [months(first, r), months(first, b)]
  return {
    net_return_pct: 100 * (product(b) - 1),
    cagr_pct: n < 365 ? null : 100 * cagr(b),
    max_drawdown_pct: 100 * Math.min(0, ...falls.filter(fall => fall < -1e-12)),
    sharpe_daily_annualized: beta === null || n < 90 ? null : (average(b) / deviation) * Math.sqrt(365),
    volatility_annualized_pct: n < 2 ? null : 100 * deviation * Math.sqrt(365),
    excess_return_pct: 100 * (product(r) - product(b)),
    excess_cagr_pct: n < 365 ? null : 100 * (cagr(r) - cagr(b)),
    beta,
    alpha_annualized_pct: beta === null || n < 90 ? null : 36_500 * (average(r) - beta * average(b)),
    correlation:
      n < 30 || isFlat(r) || isFlat(b) ? null : products(r, b) / Math.sqrt(products(r, r) * products(b, b)),
    up_capture_pct: capture(m, c, change => change > 0),
    down_capture_pct: capture(m, c, change => change < 0),
  }
}

test('every figure of the benchmark is what its definition gives', () => {
  forAll(60, twoSeries(0, 420), ({ daily, benchmark }) => {
    const { values } = splitFigures(blockOf(daily, benchmark))
    expect(values).toEqual(near(naively(daily.first, [...daily.values], [...benchmark.values])))
  })
})

test('the account at k times the risk has k times the beta and the alpha, and the same correlation and benchmark', () => {
  forAll(twoSeries(2, 200), fc.double({ min: 0.1, max: 0.5, noNaN: true }), ({ daily, benchmark }, k) => {
    const base = splitFigures(blockOf(daily, benchmark)).values
    const scaled = splitFigures(blockOf(daily, benchmark, k)).values
    for (const name of ['beta', 'alpha_annualized_pct']) {
      const [before, after] = [base[name], scaled[name]]
      if (typeof before === 'number') expect(after).toBeCloseTo(k * before, 9)
      else expect(after).toBe(before)
    }
    for (const name of ['correlation', 'net_return_pct', 'sharpe_daily_annualized', 'max_drawdown_pct']) {
      expect(scaled[name]).toBe(base[name])
    }
  })
})

test('the benchmark may have more days than the account', () => {
  forAll(twoSeries(0, 50), fc.nat(9), fc.nat(9), ({ daily, benchmark }, before, after) => {
    const longer = {
      ...benchmark,
      first: benchmark.first - before,
      values: Float64Array.of(...constant(0.5, before), ...benchmark.values, ...constant(0.5, after)),
    }
    expect(blockOf(daily, longer)).toEqual(blockOf(daily, benchmark))
  })
})

const year = Array.from({ length: 400 }, (_, i) => 0.02 * Math.sin(1 + i * i))
const daily = dailyFrom('2020-01-01', year)

test('a benchmark that is not there on each of the days has no figure', () => {
  for (const benchmark of [
    null,
    dailyFrom('2020-01-01', year.slice(1)),
    dailyFrom('2020-01-02', year),
    dailyFrom('2019-01-01', [0.1]),
    dailyFrom('2022-01-01', year),
    dailyFrom('2020-01-01', []),
  ]) {
    for (const [name, figure] of Object.entries(blockOf(daily, benchmark))) {
      expect(figure, name).toEqual(NO_BENCHMARK)
    }
  }
})

const held = dailyFrom('2020-01-01', constant(0.001, 400))
const one = (value: number) => dailyFrom('2020-01-01', [value])
const LOST = { net_return_pct: -100, cagr_pct: -100, max_drawdown_pct: -100 }

test.each(casesOf<[string, Series, Series, object]>`
a flat benchmark, with neither slope nor capture -> ${daily} -> ${held} -> ${{ beta: FLAT, alpha_annualized_pct: FLAT, correlation: FLAT, sharpe_daily_annualized: FLAT, volatility_annualized_pct: 0, down_capture_pct: NO_LOSSES, max_drawdown_pct: 0 }}
a benchmark that falls evenly, without a capture of gains -> ${daily} -> ${dailyFrom('2020-01-01', constant(-0.001, 400))} -> ${{ up_capture_pct: NO_WINS }}
a flat account, with a slope of 0 -> ${held} -> ${daily} -> ${{ correlation: FLAT, beta: 0 }}
a benchmark of one day, with the returns alone -> ${one(0.5)} -> ${one(0.25)} -> ${{ net_return_pct: 25, excess_return_pct: 25, beta: TOO_FEW, correlation: TOO_FEW, volatility_annualized_pct: TOO_FEW, up_capture_pct: TOO_FEW, cagr_pct: undefinedBecause('less_than_one_year') }}
a benchmark that loses everything, without a ratio -> ${daily} -> ${dailyFrom('2020-01-01', year.with(200, -1))} -> ${{ ...LOST, sharpe_daily_annualized: RUIN, beta: RUIN, up_capture_pct: RUIN }}`)(
  'the comparison with a benchmark is that of %s',
  (_, account, benchmark, expected) => {
    expect(blockOf(account, benchmark)).toMatchObject(near(expected, 1e-12) as object)
  },
)

test('a ruined account has the returns of itself and of its benchmark, and no ratio of the account', () => {
  const block = blockOf(dailyFrom('2020-01-01', year.with(200, -1)), daily)
  const whole = blockOf(daily, daily)
  const slope = { beta: RUIN, alpha_annualized_pct: RUIN, correlation: RUIN }
  expect(block).toMatchObject({ ...slope, up_capture_pct: RUIN, down_capture_pct: RUIN })
  for (const name of ['net_return_pct', 'cagr_pct', 'sharpe_daily_annualized'] as const) {
    expect(block[name]).toEqual(whole[name])
  }
  expect(block.excess_return_pct).toBeCloseTo(-100 - Number(whole.net_return_pct), 9)
})

// The root of erfc(-x / sqrt(2)) / 2 = p, found with 60 digits, of the double that p reads as.
test.each([
  [1e-300, -37.0470962993612],
  [1e-16, -8.222082216130435],
  [1e-5, -4.264890793922825],
  [0.001, -3.0902323061678136],
  [0.00136, -2.9977283532625965],
  [0.02425, -1.972961051311885],
  [0.3, -0.5244005127080408],
  [0.4999, -0.00025066283008800747],
  [0.5, 0],
  [0.75, 0.6744897501960817],
  [0.99, 2.3263478740408408],
  [0.999999, 4.753424308817087],
])('the normal quantile of %f is %f to 1e-12', (p, expected) => {
  expect(Math.abs(normalQuantile(p) - expected)).toBeLessThanOrEqual(1e-12)
})

test('the normal quantile is the inverse of the distribution function', () => {
  forAll(1000, fc.double({ min: -37, max: 0, noNaN: true }), x => {
    expect(Math.abs(normalQuantile(normalCdf(x)) - x)).toBeLessThanOrEqual(1e-12)
  })
})

// By the formula, with quantiles of 60 digits; the true expected maxima are 0.5642, 1.5388, 2.5076 and 3.2414.
test.each([
  [1, 0],
  [2, 0.5197553442805939],
  [10, 1.57459830134575],
  [100, 2.530602893201682],
  [1000, 3.2551215136527256],
  [1e15, 8.012394087828731],
])('the best of %i trials without skill is %f deviations above the mean', (trials, expected) => {
  expect(bestWithoutSkill(trials)).toBeCloseTo(expected, 12)
})

test('the deflated Sharpe ratio of one trial is the probabilistic one, to the last bit', () => {
  forAll(returnsOf(0, 60), returns => {
    const { deflated, probabilistic } = sharpeInference(returns, 1)
    expect(deflated).toEqual(probabilistic)
  })
})

test('the deflated Sharpe ratio agrees with the formula, computed naively', () => {
  forAll(returnsOf(4, 60), fc.integer({ min: 2, max: 1e6 }), (returns, trials) => {
    const { deflated } = sharpeInference(returns, trials)
    if (isUndefined(deflated)) return
    const n = returns.length
    const average = returns.reduce((sum, r) => sum + r, 0) / n
    const moment = (j: number) => returns.reduce((sum, r) => sum + (r - average) ** j, 0) / n
    const s = average / Math.sqrt((moment(2) * n) / (n - 1))
    const v = 1 - (moment(3) / moment(2) ** 1.5) * s + ((moment(4) / moment(2) ** 2 - 1) / 4) * s ** 2
    if (v < 1e-6) return // the quotient is then mostly rounding
    const hurdle = bestWithoutSkill(trials) / Math.sqrt(n - 1)
    expect(deflated).toBeCloseTo(normalCdf((s - hurdle) * Math.sqrt((n - 1) / v)), 8)
  })
})

test('the deflated Sharpe ratio without a number of trials is undefined, whatever the series', () => {
  expect(sharpeInference(Float64Array.of(0.1)).deflated).toEqual(undefinedBecause('no_trials'))
  expect(sharpeInference(Float64Array.of(0.1), 3).deflated).toEqual(undefinedBecause('too_few_points'))
})
