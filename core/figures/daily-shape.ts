import type { AccountPath } from './account-path.ts'
import { autocorrelationLag1 } from './autocorrelation.ts'
import { type Figure, mapFigure, undefinedBecause } from './figure.ts'
import { standardizedMoments } from './moments.ts'
import { percent, share } from './percent.ts'
import { tailMean, tailQuantile, tailRatio } from './tail.ts'

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
