import { max, mean, median } from 'simple-statistics'
import { type Figure, undefinedBecause } from './figure.ts'
import { longestRun } from './longest-run.ts'
import { type OutcomeFigures, outcomeFigures } from './outcome-figures.ts'
import { DAYS_PER_YEAR } from './periods-per-year.ts'
import { tradeFigures } from './trade-figures.ts'
import { accountReturns, type TradeOutcome } from './trade-outcome.ts'
import { type WinLossFigures, winLossFigures } from './win-loss-figures.ts'

/** The trades of one side. */
export type SideFigures = {
  readonly count: number
  readonly win_rate_pct: Figure
  readonly profit_factor: Figure
}

/** Closed trades, each by its net return on account equity. */
export type TradeStatistics = SideFigures &
  OutcomeFigures &
  WinLossFigures & {
    /** By exit time; a trade of exactly 0 ends both runs. */
    readonly max_consecutive_wins: number
    readonly max_consecutive_losses: number
    readonly average_holding_hours: Figure
    readonly median_holding_hours: Figure
    readonly max_holding_hours: Figure
    readonly trades_per_year: Figure
    readonly long: SideFigures
    readonly short: SideFigures
  }

const HOUR_MS = 3_600_000

/**
 * The `trades` block. Without trades every figure is undefined (`no_trades`); without a win what needs one is
 * (`no_wins`), else without a loss what needs one (`no_losses`); a deviation needs two trades (`too_few_points`). It
 * speaks of the ledger and not of the equity, so a ruined account keeps it.
 *
 * @param nDays days of the series, for trades per year
 * @param k factor on every outcome
 * @param baseRisk `base_risk_pct`, a fraction: one R at `k` = 1
 */
export function tradeStatistics(
  trades: readonly TradeOutcome[],
  nDays: number,
  k: number,
  baseRisk: number,
): TradeStatistics {
  const outcomes = accountReturns(trades)
  return {
    ...sideFigures(trades),
    ...outcomeFigures(outcomes, k, baseRisk),
    ...winLossFigures(outcomes, k),
    ...runs(trades),
    ...holdingHours(trades),
    trades_per_year: tradesPerYear(trades.length, nDays),
    long: sideFigures(trades.filter(({ side }) => side === 'long')),
    short: sideFigures(trades.filter(({ side }) => side === 'short')),
  }
}

function sideFigures(trades: readonly TradeOutcome[]): SideFigures {
  const { trade_count, win_rate_pct, profit_factor } = tradeFigures(trades)
  return { count: trade_count, win_rate_pct, profit_factor }
}

function runs(trades: readonly TradeOutcome[]) {
  const byExit = trades.toSorted((a, b) => a.exit_time - b.exit_time || a.entry_time - b.entry_time)
  const outcomes = accountReturns(byExit)
  return {
    max_consecutive_wins: longestRun(outcomes, 1),
    max_consecutive_losses: longestRun(outcomes, -1),
  }
}

function holdingHours(trades: readonly TradeOutcome[]) {
  const hours = trades.map(({ entry_time, exit_time }) => (exit_time - entry_time) / HOUR_MS)
  const ofHours = (statistic: (values: number[]) => number): Figure =>
    hours.length === 0 ? undefinedBecause('no_trades') : statistic(hours)
  return {
    average_holding_hours: ofHours(mean),
    median_holding_hours: ofHours(median),
    max_holding_hours: ofHours(max),
  }
}

function tradesPerYear(count: number, nDays: number): Figure {
  if (count === 0) return undefinedBecause('no_trades')
  return nDays === 0 ? undefinedBecause('too_few_points') : (count / nDays) * DAYS_PER_YEAR
}
