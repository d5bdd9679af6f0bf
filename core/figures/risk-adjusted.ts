import { type AccountPath, cagr, orTooFew, unlessRuined } from './account-path.ts'
import { completeMonthReturns } from './calendar-periods.ts'
import { maxDrawdown, painIndex, ulcerIndex } from './drawdown.ts'
import { type Figure, mapFigure, NEGLIGIBLE, percent, share, undefinedBecause } from './figure.ts'
import {
  gainsOverLosses,
  isFlat,
  mean,
  sampleDeviation,
  sampleVariance,
  standardizedMoments,
} from './moments.ts'
import { correlationFigure } from './pearson.ts'
import { tailMean, tailQuantile, tailRatio } from './quantile.ts'
import { DAYS_PER_YEAR, MONTHS_PER_YEAR, WEEKS_PER_YEAR } from './series.ts'
import { annualized, downsideDeviation, sharpe, sharpeInference, sortino } from './sharpe.ts'

/**
 * The `risk_adjusted` block: return against risk, and the distribution of the daily returns, losses negative.
 * All of it is undefined for a ruined account (`ruin`), except the number of trials, which is the one
 * declared. With fewer than two days the reason is always `too_few_points`, except for what divides the CAGR
 * (`less_than_one_year`).
 */
export const riskAdjustedFigures = (path: AccountPath, trials: number | null) => ({
  trials: trials ?? undefinedBecause('no_trials'),
  ...unlessRuined(path, { ...riskRatios(path, trials), ...dailyShape(path) }),
})

/**
 * Return against risk. Ratios that do not depend on the risk level are computed from the base returns, the
 * others at the path's level.
 */
const riskRatios = (path: AccountPath, trials: number | null) => ({
  ...deviations(path),
  ...inference(path, trials),
  ...monthlyRatios(path),
  ...drawdownRatios(path),
  sortino_weekly_annualized: annualized(path.weekly.values, WEEKS_PER_YEAR, sortino),
  omega: orTooFew(path, gainsOverLosses(path.daily.values)),
  kelly_leverage: annualized(path.daily.values, DAYS_PER_YEAR, values => kellyLeverage(values, path.k)),
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

/** The standard error is that of the annualised daily ratio. */
function inference({ daily: { values } }: AccountPath, trials: number | null) {
  const { standardError, probabilistic, deflated, minTrackRecord } = sharpeInference(values, trials)
  return {
    sharpe_std_error: annualized(values, DAYS_PER_YEAR, (_, days) =>
      mapFigure(standardError, error => error * Math.sqrt(days)),
    ),
    probabilistic_sharpe_ratio: probabilistic,
    deflated_sharpe_ratio: deflated,
    min_track_record_days: minTrackRecord,
  }
}

/** Of complete months. Gain to pain: their sum / that of the losing ones. */
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
    sharpe_monthly_annualized: annualized(Float64Array.from(months), MONTHS_PER_YEAR, sharpe),
    gain_to_pain_monthly: losses > NEGLIGIBLE ? sum / losses : noPain,
  }
}

/** Calmar: CAGR / max drawdown. Recovery: net return / max drawdown. Ulcer performance: CAGR / index. */
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

/** Mean / variance of the daily returns: the leverage under which the account would have grown fastest. */
const kellyLeverage = (values: Float64Array, k: number): Figure =>
  isFlat(values) ? undefinedBecause('zero_variance') : mean(values) / sampleVariance(values) / k

/**
 * Stability: R^2 of the linear regression of the log equity at the ends of the days on time; 1 is steady
 * growth, or steady loss. The baseline is not an observation. Undefined with fewer than 3 points
 * (`too_few_points`) and if the returns or the log equity are flat (`zero_variance`).
 *
 * @param returns the returns of the days
 * @param curve the equity with its baseline, without ruin
 */
export function stability(returns: Float64Array, curve: Float64Array): Figure {
  if (returns.length >= 3 && isFlat(returns)) return undefinedBecause('zero_variance')
  const days = Float64Array.from(returns.keys())
  return mapFigure(correlationFigure(days, curve.subarray(1).map(Math.log), 3), rho => rho * rho)
}

/**
 * Of all days, with a position or not. VaR and CVaR: the 5 % and 1 % quantiles, and the means of the days up
 * to them. Autocorrelation: of the days with those after them, each part with its own mean.
 */
function dailyShape({ daily: { values }, k }: AccountPath) {
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
    positive_days_pct: share(values.filter(value => value > 0).length, n),
    autocorrelation_lag1_daily: correlationFigure(values.subarray(0, -1), values.subarray(1), 2),
  }
}
