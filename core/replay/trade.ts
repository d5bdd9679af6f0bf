import type { Side } from './strategy.ts'

export const EXIT_REASONS = ['stop', 'signal', 'time', 'target', 'liquidation'] as const
export type ExitReason = (typeof EXIT_REASONS)[number]

/**
 * A row of a trade ledger. Times in epoch milliseconds; prices in the quote currency. An open trade has null
 * for `exit_time`, `exit_price` and `exit_reason`. Unknown values are null.
 */
export type Trade = {
  readonly side: Side
  readonly entry_time: number
  readonly entry_price: number
  readonly exit_time: number | null
  readonly exit_price: number | null
  readonly exit_reason: ExitReason | null
  /** Notional / account equity at the fill of the entry. */
  readonly leverage: number | null
  /** The protective stop at entry. */
  readonly stop: number | null
  /** Net return as a fraction of account equity at entry, all costs and funding in. */
  readonly account_return: number | null
  /** Commissions of both fills, a fraction of the notional at entry, negative if rebated; null: as declared. */
  readonly fees: number | null
  /** Funding as a fraction of the notional at entry, positive if received; null: as the payments of the instrument give. */
  readonly funding: number | null
}

/** Whether fees can be those of a trade: from a rebate of 5 basis points a side to 1 % a side. */
export const isPossibleFee = (fees: number): boolean => fees >= -0.001 && fees <= 0.02

export type Costs = {
  readonly commission_bps_per_side: number
  /** Slippage of every fill, in ticks, always against the account. */
  readonly slippage_ticks: number
  readonly tick_size: number
  /** Entries above this leverage are refused, not reduced. */
  readonly max_leverage: number
}

/** +1 for a long, -1 for a short: the sign of the profit when the price rises. */
export const signOf = (side: Side): 1 | -1 => (side === 'long' ? 1 : -1)

/** The commission of one side as a fraction of notional. */
export const commissionRate = (costs: Costs): number => costs.commission_bps_per_side / 10_000

/** The slippage of one fill in the quote currency. */
export const slippagePrice = (costs: Costs): number => costs.slippage_ticks * costs.tick_size
