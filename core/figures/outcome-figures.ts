import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics'
import { type Figure, undefinedBecause } from './figure.ts'
import { percent } from './percent.ts'
import { isFlat } from './variance.ts'

/** How the outcomes of trades are distributed. R is the equity at risk in one trade. */
export type OutcomeFigures = {
  /** Mean outcome. */
  readonly expectancy_pct: Figure
  /** The same in R, which ignores the risk level. */
  readonly expectancy_r: Figure
  readonly median_trade_pct: Figure
  /** Sample standard deviation. */
  readonly std_trade_pct: Figure
  readonly best_trade_pct: Figure
  readonly worst_trade_pct: Figure
  /** The worst losing trade in R, negative. */
  readonly largest_loss_r: Figure
  /** System quality number, `sqrt(N) * mean / std`. Source: Van K. Tharp, Trade Your Way to Financial Freedom. */
  readonly sqn: Figure
}

/**
 * Figures of the outcomes of trades, fractions of account equity at base risk.
 *
 * @param k factor on every outcome
 * @param baseRisk `base_risk_pct`, a fraction: one R at `k` = 1
 */
export function outcomeFigures(outcomes: readonly number[], k: number, baseRisk: number): OutcomeFigures {
  const values = [...outcomes]
  const statistic = (of: (values: number[]) => number): Figure =>
    values.length === 0 ? undefinedBecause('no_trades') : of(values)
  const statisticPct = (of: (values: number[]) => number): Figure => statistic(() => percent(k * of(values)))
  return {
    expectancy_pct: statisticPct(mean),
    expectancy_r: statistic(() => mean(values) / baseRisk),
    median_trade_pct: statisticPct(median),
    std_trade_pct:
      values.length === 1 ? undefinedBecause('too_few_points') : statisticPct(sampleStandardDeviation),
    best_trade_pct: statisticPct(max),
    worst_trade_pct: statisticPct(min),
    largest_loss_r: largestLoss(values, baseRisk),
    sqn: systemQuality(values),
  }
}

function largestLoss(values: number[], baseRisk: number): Figure {
  if (values.length === 0) return undefinedBecause('no_trades')
  const worst = min(values)
  return worst < 0 ? worst / baseRisk : undefinedBecause('no_losses')
}

function systemQuality(values: number[]): Figure {
  if (values.length === 0) return undefinedBecause('no_trades')
  if (values.length === 1) return undefinedBecause('too_few_points')
  if (isFlat(Float64Array.from(values))) return undefinedBecause('zero_variance')
  return (Math.sqrt(values.length) * mean(values)) / sampleStandardDeviation(values)
}
