import { type AccountPath, orTooFew, unlessRuined } from './account-path.ts'
import { completeMonthReturns } from './calendar-periods.ts'
import { maxDrawdown, painIndex, ulcerIndex } from './drawdown.ts'
import { cagr } from './equity-curve.ts'
import { type Figure, mapFigure, NEGLIGIBLE, percent, share, undefinedBecause } from './figure.ts'
import { isFlat, mean, sampleDeviation, sampleVariance, standardizedMoments } from './moments.ts'
import { autocorrelationLag1, pearson } from './pearson.ts'
import { tailMean, tailQuantile, tailRatio } from './quantile.ts'
import { DAYS_PER_YEAR, MONTHS_PER_YEAR, WEEKS_PER_YEAR } from './series.ts'
import { sharpe, sharpeInference } from './sharpe.ts'
import { downsideDeviation, sortino } from './sortino.ts'

/** Return against risk, and the shape of the daily returns. `_pct` in percent, losses negative. */
export type RiskAdjustedFigures = RiskRatios & DailyShape

/**
 * The `risk_adjusted` block. All of it is undefined for a ruined account (`ruin`). With fewer than two days whatever is
 * undefined is so for `too_few_points`, but what divides the CAGR (`less_than_one_year`).
 */
export const riskAdjustedFigures = (path: AccountPath): RiskAdjustedFigures =>
  unlessRuined(path, { ...riskRatios(path), ...dailyShape(path) })

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

/**
 * Omega ratio at threshold 0: the sum of the gains over the sum of the losses. It ignores a positive factor on the
 * returns. Undefined without losses, `<= 1e-12` (`no_losses`).
 *
 * Source: Con Keating and William F. Shadwick, A Universal Performance Measure, 2002.
 */
export function omega(returns: Float64Array): Figure {
  let gains = 0
  let losses = 0
  for (let i = 0; i < returns.length; i++) {
    const value = returns[i]!
    if (value > 0) gains += value
    else losses -= value
  }
  return losses > NEGLIGIBLE ? gains / losses : undefinedBecause('no_losses')
}

/**
 * Stability: R^2 of the linear regression of the log equity at the ends of the days on time; 1 is steady growth, or
 * steady loss. The baseline is not an observation. Undefined with fewer than 3 points (`too_few_points`) and where the
 * returns or the log equity are flat (`zero_variance`).
 *
 * @param returns the returns of the days
 * @param curve the equity with its baseline, without ruin
 */
export function stability(returns: Float64Array, curve: Float64Array): Figure {
  if (returns.length < 3) return undefinedBecause('too_few_points')
  if (isFlat(returns)) return undefinedBecause('zero_variance')
  const rho = pearson(Float64Array.from(returns.keys()), 0, curve.map(Math.log), 1, returns.length)
  return Number.isNaN(rho) ? undefinedBecause('zero_variance') : rho * rho
}

export type DailyShape = {
  readonly tail_ratio: Figure
  readonly skewness_daily: Figure
  readonly kurtosis_excess_daily: Figure
  /** The return that one day in 20 falls short of, and the mean of those days. */
  readonly var_95_daily_pct: Figure
  readonly cvar_95_daily_pct: Figure
  /** The same of one day in 100. */
  readonly var_99_daily_pct: Figure
  readonly cvar_99_daily_pct: Figure
  readonly best_day_pct: Figure
  readonly worst_day_pct: Figure
  /** Of all days, also those without a position. */
  readonly positive_days_pct: Figure
  readonly autocorrelation_lag1_daily: Figure
}

/** The distribution of the daily returns. */
export function dailyShape({ daily: { values }, k }: AccountPath): DailyShape {
  const n = values.length
  const sorted = values.toSorted()
  const { skewness, kurtosisExcess } = standardizedMoments(values)
  const dayPct = (fraction: Figure): Figure => mapFigure(fraction, value => percent(k * value))
  const ranked = (rank: number): Figure => dayPct(sorted[rank] ?? undefinedBecause('too_few_points'))
  return {
    tail_ratio: tailRatio(sorted),
    skewness_daily: skewness,
    kurtosis_excess_daily: kurtosisExcess,
    var_95_daily_pct: dayPct(tailQuantile(sorted, 20)),
    cvar_95_daily_pct: dayPct(tailMean(sorted, 20)),
    var_99_daily_pct: dayPct(tailQuantile(sorted, 100)),
    cvar_99_daily_pct: dayPct(tailMean(sorted, 100)),
    best_day_pct: ranked(n - 1),
    worst_day_pct: ranked(0),
    positive_days_pct: share(countPositive(values), n),
    autocorrelation_lag1_daily: autocorrelationLag1(values),
  }
}

function countPositive(values: Float64Array): number {
  let count = 0
  for (let i = 0; i < values.length; i++) if (values[i]! > 0) count++
  return count
}
