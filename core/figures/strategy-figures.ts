import { accountPath, assertPositive } from './account-path.ts'
import { type AnnualFigures, annualFigures } from './annual.ts'
import { type DrawdownFigures, drawdownFigures } from './drawdown-figures.ts'
import { type ExposureFigures, exposureFigures } from './exposure.ts'
import { type MonthlyFigures, monthlyFigures } from './monthly.ts'
import { type PerformanceFigures, performanceFigures } from './performance.ts'
import { type RiskAdjustedFigures, riskAdjustedFigures } from './risk-adjusted.ts'
import type { Series } from './series.ts'
import {
  type TradeFigures,
  type TradeOutcome,
  type TradeStatistics,
  tradeFigures,
  tradeStatistics,
} from './trade-statistics.ts'

/** Everything that is computed of one strategy. */
export type StrategyFigures = PerformanceFigures & TradeFigures & { readonly fund_dd: FundDueDiligence }

/** All statistics of a strategy, or of a book (without trades), at `k` times its base risk. */
export const strategyFigures = (input: StrategyInput): StrategyFigures => ({
  ...performanceFigures(input.daily, input.weekly, input.k ?? 1),
  ...tradeFigures(input.trades),
  fund_dd: fundDueDiligence(input),
})

/** What the statistics of a strategy are made from, all at base risk. */
export type StrategyInput = {
  readonly daily: Series
  /** The complete weeks of `daily`. */
  readonly weekly: Series
  /** Closed trades, in any order; none for a book, or where only returns are reported. */
  readonly trades: readonly TradeOutcome[]
  /** A fraction: 0.02 = 2 % of equity per trade. */
  readonly base_risk_pct: number
  /** The factor on all of it, `risk_pct / base_risk_pct`; 1 by default. */
  readonly k?: number
}

/** What a fund's due diligence asks for. Units last in names: `_pct` percent, `_days`, `_hours`; ratios have none. */
export type FundDueDiligence = {
  readonly trades: TradeStatistics
  readonly risk_adjusted: RiskAdjustedFigures
  readonly drawdowns: DrawdownFigures
  readonly monthly: MonthlyFigures
  readonly annual: AnnualFigures
  readonly exposure: ExposureFigures
}

/** The `fund_dd` block. Each group says in its own file what it is made of and when it is undefined. */
export function fundDueDiligence(input: StrategyInput): FundDueDiligence {
  const { daily, weekly, trades, base_risk_pct, k = 1 } = input
  assertPositive(base_risk_pct, 'base_risk_pct, the fraction of equity at risk in a trade,')
  const path = accountPath(daily, weekly, k)
  return {
    trades: tradeStatistics(trades, daily.values.length, k, base_risk_pct),
    risk_adjusted: riskAdjustedFigures(path),
    drawdowns: drawdownFigures(path),
    monthly: monthlyFigures(path),
    annual: annualFigures(path, trades),
    exposure: exposureFigures(daily, trades),
  }
}
