/** What the statistics need of a closed trade. Times in epoch milliseconds. */
export type TradeOutcome = {
  readonly side: 'long' | 'short'
  readonly entry_time: number
  readonly exit_time: number
  /** Net return as a fraction of account equity at entry, at base risk. */
  readonly account_return: number
}

/**
 * The account returns of trades in the order given. Throws, naming the first such trade, where one is not a finite
 * number: an unknown outcome is neither a win nor a loss, so a ledger that has one has no trade statistics.
 */
export function accountReturns(trades: readonly TradeOutcome[]): number[] {
  return trades.map(({ account_return, entry_time }, i) => {
    if (Number.isFinite(account_return)) return account_return
    throw new RangeError(
      `the account_return of trade ${i}, entered at ${new Date(entry_time).toISOString()}, must be a finite number, ` +
        `got ${account_return}; give the ledger account returns, or the leverage to make them from`,
    )
  })
}
