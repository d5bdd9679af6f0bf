/** What a trade did to the equity, as it is published. */
export type TradeResult = 'win' | 'loss' | 'breakeven'

/** By the account, like the win rate: where the leverage is unknown, prices alone may miss a cost and the sign. */
export const tradeResult = (accountReturn: number): TradeResult =>
  accountReturn > 0 ? 'win' : accountReturn < 0 ? 'loss' : 'breakeven'
