import { type AccountPath, allUndefined, cagr, dailyPath, unlessRuined } from './account-path.ts'
import { completeMonthReturns } from './calendar-periods.ts'
import { type Figure, mapFigure, NEGLIGIBLE, percent, undefinedBecause } from './figure.ts'
import { isFlat, mean } from './moments.ts'
import { correlationFigure, MIN_OVERLAP, products } from './pearson.ts'
import { holdingFigures } from './performance.ts'
import { DAYS_PER_YEAR, lastDay, type Series, sliceSeries } from './series.ts'
import { annualized } from './sharpe.ts'

/**
 * The `benchmark` block: what buying and holding the instrument gave over the days of the account, and the
 * account compared with it. All of it is undefined without the returns of the instrument on each of these
 * days (`no_benchmark`), and the ratios after a ruin (`ruin`).
 *
 * @param benchmark daily returns of the instrument, at least over the days of the account
 */
export function benchmarkFigures(path: AccountPath, benchmark: Series | null) {
  const days = benchmarkOver(path.daily, benchmark)
  const held = days === null ? path : dailyPath(days)
  const block = { ...holdingFigures(held), ...comparison(path, held) }
  return days === null ? allUndefined(block, 'no_benchmark') : block
}

/** The part of a benchmark over the days of a series, or null if it lacks any of them. */
export function benchmarkOver(daily: Series, benchmark: Series | null): Series | null {
  if (benchmark === null) return null
  const days = sliceSeries(benchmark, daily.first, lastDay(daily))
  return days.first === daily.first && days.values.length === daily.values.length ? days : null
}

function comparison(path: AccountPath, held: AccountPath) {
  return {
    excess_return_pct: percent(path.curve.at(-1)! - held.curve.at(-1)!),
    excess_cagr_pct: mapFigure(cagr(path.curve), own =>
      mapFigure(cagr(held.curve), its => percent(own - its)),
    ),
    ...unlessRuined(path, unlessRuined(held, { ...regression(path, held), ...captures(path, held) })),
  }
}

/** Jensen's alpha at a risk-free rate of 0: the part of the mean return that beta does not explain, per year. */
function regression({ daily: { values }, k }: AccountPath, { daily: { values: benchmark } }: AccountPath) {
  const slope = beta(values, benchmark)
  const alpha = (value: number) => percent(DAYS_PER_YEAR * k * (mean(values) - value * mean(benchmark)))
  return {
    beta: mapFigure(slope, value => k * value),
    alpha_annualized_pct: annualized(values, DAYS_PER_YEAR, () => mapFigure(slope, alpha)),
    correlation: correlationFigure(values, benchmark, MIN_OVERLAP.daily),
  }
}

/**
 * Slope of the regression of returns on those of a benchmark, `cov(r, b) / var(b)`. Undefined with fewer than
 * two points (`too_few_points`) and if the benchmark is flat (`zero_variance`).
 */
export function beta(returns: Float64Array, benchmark: Float64Array): Figure {
  if (returns.length < 2) return undefinedBecause('too_few_points')
  if (isFlat(benchmark)) return undefinedBecause('zero_variance')
  const { xy, yy } = products(returns, benchmark)
  return xy / yy
}

/** Of complete months, in which the benchmark rose and in which it fell. */
function captures(path: AccountPath, held: AccountPath) {
  const [ours, its] = [completeMonthReturns(path), completeMonthReturns(held)]
  return { up_capture_pct: capture(ours, its, 1), down_capture_pct: capture(ours, its, -1) }
}

/** The quotient of the means is that of the sums, because both are over the same months. */
function capture(ours: readonly number[], its: readonly number[], sign: 1 | -1): Figure {
  let [own, of] = [0, 0]
  its.forEach((change, i) => {
    if (change * sign <= 0) return
    own += ours[i]!
    of += change
  })
  if (Math.abs(of) > NEGLIGIBLE) return percent(own / of)
  if (its.length === 0) return undefinedBecause('too_few_points')
  return undefinedBecause(sign > 0 ? 'no_wins' : 'no_losses')
}
