import type { AccountPath } from './account-path.ts'
import { cagr } from './cagr.ts'
import { maxDrawdown, painIndex, ulcerIndex } from './drawdown.ts'
import { type Figure, mapFigure, undefinedBecause } from './figure.ts'
import { completeMonthReturns } from './living-periods.ts'
import { mean } from './mean.ts'
import { NEGLIGIBLE } from './negligible.ts'
import { omega } from './omega.ts'
import { percent } from './percent.ts'
import { DAYS_PER_YEAR, MONTHS_PER_YEAR, WEEKS_PER_YEAR } from './periods-per-year.ts'
import { orTooFew } from './ruin.ts'
import { sharpe } from './sharpe.ts'
import { sharpeInference } from './sharpe-inference.ts'
import { downsideDeviation, sortino } from './sortino.ts'
import { stability } from './stability.ts'
import { isFlat, sampleDeviation, sampleVariance } from './variance.ts'

export type RiskRatios = {
  readonly volatility_annualized_pct: Figure
  readonly downside_deviation_annualized_pct: Figure
  /** Of the annualised daily Sharpe ratio. */
  readonly sharpe_std_error: Figure
  /** Probability, 0 to 1, that the true Sharpe ratio is positive. */
  readonly probabilistic_sharpe_ratio: Figure
  readonly min_track_record_days: Figure
  /** Of complete months. */
  readonly sharpe_monthly_annualized: Figure
  readonly sortino_weekly_annualized: Figure
  /** CAGR / deepest drawdown. */
  readonly calmar: Figure
  /** Net return / deepest drawdown. */
  readonly recovery_factor: Figure
  readonly omega: Figure
  /** Sum of the complete months / that of the losing ones. */
  readonly gain_to_pain_monthly: Figure
  readonly ulcer_index_pct: Figure
  /** CAGR / ulcer index. */
  readonly ulcer_performance_index: Figure
  readonly pain_index_pct: Figure
  /** Mean / variance of the daily returns: the leverage that would have grown fastest. */
  readonly kelly_leverage: Figure
  readonly stability_r2: Figure
}

/** Return against risk. Ratios that ignore the risk level come from the base returns, the others are at the path's. */
export const riskRatios = (path: AccountPath): RiskRatios => ({
  ...deviations(path),
  ...inference(path),
  ...monthlyRatios(path),
  ...drawdownRatios(path),
  sortino_weekly_annualized: sortino(path.weekly.values, WEEKS_PER_YEAR),
  omega: orTooFew(path, omega(path.daily.values)),
  kelly_leverage: kellyLeverage(path),
  stability_r2: stability(path.daily.values, path.curve),
})

function deviations({ daily: { values }, k }: AccountPath) {
  const annual = percent(k * Math.sqrt(DAYS_PER_YEAR))
  const atLeastTwo = (deviation: (values: Float64Array) => number): Figure =>
    values.length < 2 ? undefinedBecause('too_few_points') : annual * deviation(values)
  return {
    volatility_annualized_pct: atLeastTwo(sampleDeviation),
    downside_deviation_annualized_pct: atLeastTwo(downsideDeviation),
  }
}

function inference({ daily: { values } }: AccountPath) {
  const { standardError, probabilistic, minTrackRecord } = sharpeInference(values)
  return {
    sharpe_std_error: mapFigure(standardError, error => error * Math.sqrt(DAYS_PER_YEAR)),
    probabilistic_sharpe_ratio: probabilistic,
    min_track_record_days: minTrackRecord,
  }
}

function monthlyRatios(path: AccountPath) {
  const months = completeMonthReturns(path)
  let sum = 0
  let losses = 0
  for (const month of months) {
    sum += month
    losses -= Math.min(month, 0)
  }
  const noPain = undefinedBecause(months.length === 0 ? 'too_few_points' : 'no_losses')
  return {
    sharpe_monthly_annualized: sharpe(Float64Array.from(months), MONTHS_PER_YEAR),
    gain_to_pain_monthly: losses > NEGLIGIBLE ? sum / losses : noPain,
  }
}

function drawdownRatios(path: AccountPath) {
  const { curve, depths } = path
  const deepest = -maxDrawdown(depths)
  const ulcer = ulcerIndex(depths)
  const growth = cagr(curve)
  const per = (value: number, depth: number): Figure =>
    depth > 0 ? value / depth : undefinedBecause('no_drawdown')
  const ofDays = (value: number): Figure =>
    depths.length === 0 ? undefinedBecause('too_few_points') : percent(value)
  return {
    calmar: mapFigure(growth, value => per(value, deepest)),
    recovery_factor: orTooFew(path, per(curve.at(-1)! - 1, deepest)),
    ulcer_index_pct: ofDays(ulcer),
    ulcer_performance_index: mapFigure(growth, value => per(value, ulcer)),
    pain_index_pct: ofDays(painIndex(depths)),
  }
}

function kellyLeverage({ daily: { values }, k }: AccountPath): Figure {
  if (values.length < 2) return undefinedBecause('too_few_points')
  if (isFlat(values)) return undefinedBecause('zero_variance')
  return mean(values) / sampleVariance(values) / k
}
