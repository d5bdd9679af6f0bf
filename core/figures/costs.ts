import { allUndefined, dailyPath } from './account-path.ts'
import { type Figure, mapFigure, NEGLIGIBLE, percent, undefinedBecause } from './figure.ts'
import { headlineFigures } from './performance.ts'
import type { Series } from './series.ts'

/** A closed trade and what its costs took, fractions of account equity at entry. */
export type TradeCosts = {
  /** All costs in. */
  readonly result: number
  /** The commissions of both fills. */
  readonly fees: number
  /** The slippage of both fills. */
  readonly slippage: number
  /** Negative if received. */
  readonly funding: number
}

export type CostData = {
  readonly trades: readonly TradeCosts[]
  /** The daily returns at twice the costs. */
  readonly doubled: Series
}

/**
 * The `costs` block: what each cost took of the gross profit, which is the sum of the results that are positive before
 * costs, and what is left at twice the costs. The shares are undefined without trades (`no_trades`) and without a gross
 * profit (`no_wins`); all of it without the costs of every trade (`unknown_leverage`).
 *
 * @param k factor on the returns at twice the costs; the shares do not depend on it
 */
export function costFigures(data: CostData | null, k: number) {
  const trades = data?.trades ?? []
  const gross = data === null ? undefinedBecause('unknown_leverage') : grossProfit(trades)
  const shareOf = (part: 'fees' | 'slippage' | 'funding'): Figure =>
    mapFigure(gross, profit => percent(trades.reduce((sum, trade) => sum + trade[part], 0) / profit))
  const twice = headlineFigures(dailyPath(data?.doubled ?? NO_DAYS, k))
  return {
    fees_pct_of_gross_profit: shareOf('fees'),
    slippage_pct_of_gross_profit: shareOf('slippage'),
    funding_pct_of_gross_profit: shareOf('funding'),
    at_twice_the_costs: data === null ? allUndefined(twice, 'unknown_leverage') : twice,
  }
}

function grossProfit(trades: readonly TradeCosts[]): Figure {
  if (trades.length === 0) return undefinedBecause('no_trades')
  let sum = 0
  for (const { result, fees, slippage, funding } of trades) {
    sum += Math.max(result + fees + slippage + funding, 0)
  }
  return sum > NEGLIGIBLE ? sum : undefinedBecause('no_wins')
}

const NO_DAYS: Series = { period: 'daily', first: 0, values: new Float64Array(0) }
