// What the trades of a record show: how far its results are from their recomputation, and what its stops cost.
import { mean, sampleStandardDeviation } from 'simple-statistics'
import type { ClosedTrade } from './resolve-trade.ts'
import { type Costs, signOf } from './trade.ts'

/** A given result less its recomputation, and what the declared slippage may take of it: fractions of account equity. */
export type Deviation = Readonly<Record<'excess' | 'slippage', number>>

/** A mean this many standard errors from 0 happens by chance in one of 16 000 ledgers. */
const STANDARD_ERRORS = 4

/** Fewer trades do not show how far their results scatter. */
const ENOUGH_TRADES = 20

/** Half a unit of the last digit in which a mean is printed: 0.05 basis points. */
const HALF_A_DIGIT = 0.000_005

/**
 * Why the results of a ledger cannot be those of its prices, rounded; or null. Rounding is symmetric: the mean of n errors
 * within a tolerance T is 0, with a standard error of at most `T / sqrt(3n)`, that of evenly spread ones. If they scatter
 * less, their own deviation counts: a constant surcharge does not scatter at all.
 */
export function describeBias(deviations: readonly Deviation[], tolerance: number): string | null {
  const n = deviations.length
  if (n === 0) return null
  const excess = deviations.map(each => each.excess)
  const even = tolerance / Math.sqrt(3)
  const spread = n < ENOUGH_TRADES ? even : Math.min(even, sampleStandardDeviation(excess))
  const most = (STANDARD_ERRORS * spread) / Math.sqrt(n) + HALF_A_DIGIT
  const better = mean(excess)
  const worse = -better - mean(deviations.map(({ slippage }) => slippage))
  if (better <= most && worse <= most) return null
  const [word, question] = better > most ? ['better', 'missing'] : ['worse', 'counted twice']
  return (
    `the results are ${word} than the prices by ${inBps(Math.abs(better))} bp a trade: are costs ${question}? ` +
    `Rounding explains at most ${inBps(most)} bp in ${n} trades: correct account_return, or give what was paid in the columns fees and funding`
  )
}

const inBps = (fraction: number): string => (fraction * 10_000).toFixed(1)

const DUST = 1e-12

/** A trade that ended at its stop, and its loss in units of the base risk. */
export type StopLoss = { readonly trade: ClosedTrade; readonly loss: number }

/**
 * The trades that ended at the stop of their entry. A fill that is better than it by more than a tick is of a stop that
 * was moved; if no stop is known, a gain is.
 */
export const lossesAtStops = (trades: readonly ClosedTrade[], baseRisk: number, costs: Costs): StopLoss[] =>
  trades
    .filter(({ side, stop, exit_price, exit_reason, account_return }) => {
      const better = stop === null ? account_return : signOf(side) * (exit_price - stop)
      return exit_reason === 'stop' && better <= (stop === null ? -DUST : costs.tick_size * (1 + 1e-6))
    })
    .map(trade => ({ trade, loss: -trade.account_return / baseRisk }))
