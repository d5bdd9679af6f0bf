import { accountPath, assertPositive } from './account-path.ts'
import { benchmarkFigures } from './benchmark.ts'
import { annualFigures, monthlyFigures } from './calendar-periods.ts'
import { drawdownFigures } from './drawdown-figures.ts'
import {
  type CostData,
  costFigures,
  type Excursion,
  excursionFigures,
  type ReplayData,
  replayFigures,
} from './execution.ts'
import { performanceFigures, sincePublicationFigures } from './performance.ts'
import { riskAdjustedFigures } from './risk-adjusted.ts'
import type { Series } from './series.ts'
import {
  exposureFigures,
  type OpenTrade,
  type TradeOutcome,
  tradeFigures,
  tradeStatistics,
} from './trade-statistics.ts'

type StrategyInput = {
  readonly daily: Series
  readonly weekly: Series
  /** Closed trades, in any order; none for a book, or if only returns are reported. */
  readonly trades: readonly TradeOutcome[]
  /** Positions that are open at the end of the series; none by default. */
  readonly open?: readonly OpenTrade[]
  /** A fraction: 0.02 = 2 % of equity per trade. */
  readonly base_risk_pct: number
  /** Daily returns of the instrument, over these days at least; null or absent if it has no benchmark. */
  readonly benchmark?: Series | null
  /** Variants that were tried until this one was found, itself included; null or absent if unknown. */
  readonly trials?: number | null
  /** Null, the default, where the leverage of a trade is unknown, or there are no bars. */
  readonly costs?: CostData | null
  /** Those of the closed trades; null, the default, as for costs. */
  readonly excursions?: readonly Excursion[] | null
  /** Null, the default, without a module. */
  readonly replays?: ReplayData | null
  /** The factor on all of it, `risk_pct / base_risk_pct`; 1 by default. */
  readonly k?: number
}

/**
 * All statistics of a strategy, or of a book (without trades), at `k` times its base risk. Names end in the
 * unit: `_pct` percent, `_days`, `_hours`; ratios have none. Each field is described in
 * `core/contract/payloads`. `fund_dd` is for the due diligence of a fund; the file of each group defines its null rules.
 */
export function strategyFigures(input: StrategyInput) {
  const { daily, weekly, trades, open = [], base_risk_pct, benchmark = null, trials = null, k = 1 } = input
  assertPositive(base_risk_pct, 'base_risk_pct, the fraction of equity at risk in a trade,')
  const path = accountPath(daily, weekly, k)
  return {
    ...performanceFigures(daily, weekly, k),
    ...tradeFigures(trades),
    fund_dd: {
      trades: tradeStatistics(trades, daily.values.length, k, base_risk_pct),
      risk_adjusted: riskAdjustedFigures(path, trials),
      drawdowns: drawdownFigures(path),
      monthly: monthlyFigures(path),
      annual: annualFigures(path, trades),
      exposure: exposureFigures(daily, trades, open),
      benchmark: benchmarkFigures(path, benchmark),
      since_publication: sincePublicationFigures(daily, null), // known when a version is compared with the one before
      costs: costFigures(input.costs ?? null, k),
      excursions: excursionFigures(input.excursions ?? null),
      replays: replayFigures(input.replays ?? null, daily, base_risk_pct),
    },
  }
}
