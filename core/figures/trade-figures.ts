import { type Figure, undefinedBecause } from './figure.ts'
import { NEGLIGIBLE } from './negligible.ts'
import { percent } from './percent.ts'
import { accountReturns, type TradeOutcome } from './trade-outcome.ts'

/** The trade figures of the stats block. They ignore the risk level: it multiplies wins and losses alike. */
export type TradeFigures = {
  /** Closed trades. */
  readonly trade_count: number
  readonly win_rate_pct: Figure
  readonly profit_factor: Figure
}

/**
 * Count, win rate and profit factor of closed trades, each weighed by its net return on account equity. A trade of
 * exactly 0 counts, and is no win. Undefined without trades (`no_trades`); see `profitFactor`.
 */
export function tradeFigures(trades: readonly TradeOutcome[]): TradeFigures {
  const outcomes = accountReturns(trades)
  return {
    trade_count: outcomes.length,
    win_rate_pct: winRatePct(outcomes),
    profit_factor: profitFactor(outcomes),
  }
}

/** `100 * wins / trades`. */
export const winRatePct = (outcomes: readonly number[]): Figure =>
  outcomes.length === 0
    ? undefinedBecause('no_trades')
    : percent(outcomes.filter(outcome => outcome > 0).length / outcomes.length)

/** Sum of the wins / sum of the losses: 0 without a win, undefined without losses, `<= 1e-12` (`no_losses`). */
export function profitFactor(outcomes: readonly number[]): Figure {
  if (outcomes.length === 0) return undefinedBecause('no_trades')
  let wins = 0
  let losses = 0
  for (const outcome of outcomes) {
    if (outcome > 0) wins += outcome
    else losses -= outcome
  }
  return losses > NEGLIGIBLE ? wins / losses : undefinedBecause('no_losses')
}
