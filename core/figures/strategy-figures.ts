import { accountPath, assertPositive } from './account-path.ts'
import { annualFigures } from './annual.ts'
import { drawdownFigures } from './drawdown-figures.ts'
import { exposureFigures } from './exposure.ts'
import { monthlyFigures } from './monthly.ts'
import { performanceFigures } from './performance.ts'
import { riskAdjustedFigures } from './risk-adjusted.ts'
import type { Series } from './series.ts'
import { type OpenTrade, type TradeOutcome, tradeFigures, tradeStatistics } from './trade-statistics.ts'

/** The input of the statistics of a strategy, all at base risk. */
type StrategyInput = {
  readonly daily: Series
  /** The complete weeks of `daily`. */
  readonly weekly: Series
  /** Closed trades, in any order; none for a book, or if only returns are reported. */
  readonly trades: readonly TradeOutcome[]
  /** Positions that are open at the end of the series; none by default. */
  readonly open?: readonly OpenTrade[]
  /** A fraction: 0.02 = 2 % of equity per trade. */
  readonly base_risk_pct: number
  /** The factor on all of it, `risk_pct / base_risk_pct`; 1 by default. */
  readonly k?: number
}

/**
 * All statistics of a strategy, or of a book (without trades), at `k` times its base risk. Names end in the
 * unit: `_pct` percent, `_days`, `_hours`; ratios have none. Each field is described in
 * `core/contract/payloads`.
 */
export const strategyFigures = (input: StrategyInput) => ({
  ...performanceFigures(input.daily, input.weekly, input.k ?? 1),
  ...tradeFigures(input.trades),
  fund_dd: fundDueDiligence(input),
})

/** The `fund_dd` block, for the due diligence of a fund. The file of each group defines its null rules. */
export function fundDueDiligence(input: StrategyInput) {
  const { daily, weekly, trades, open = [], base_risk_pct, k = 1 } = input
  assertPositive(base_risk_pct, 'base_risk_pct, the fraction of equity at risk in a trade,')
  const path = accountPath(daily, weekly, k)
  return {
    trades: tradeStatistics(trades, daily.values.length, k, base_risk_pct),
    risk_adjusted: riskAdjustedFigures(path),
    drawdowns: drawdownFigures(path),
    monthly: monthlyFigures(path),
    annual: annualFigures(path, trades),
    exposure: exposureFigures(daily, [...trades, ...open.map(untilTheEnd)]),
  }
}

/** An open position lasts to the end of the window, where exposure is cut. */
const untilTheEnd = (position: OpenTrade) => ({ ...position, exit_time: Infinity })
