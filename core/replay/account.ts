import { paidUpTo } from './funding-sums.ts'
import { endOf } from './ledger.ts'
import type { ResolvedTrade, TradeTerms } from './resolve-trade.ts'
import { signOf } from './trade.ts'

/** An account that follows a ledger through time. Made by `openAccount`; changed in place. */
export type Account = {
  /** The ledger in order of entry. */
  readonly ledger: readonly ResolvedTrade[]
  readonly terms: TradeTerms
  /** The trades that were entered, in order of entry. */
  readonly taken: ResolvedTrade[]
  /** Indices into `taken`, with what their value needs. */
  open: Holding[]
  /** Equity without the value of the open trades. */
  realised: number
  /** Nothing is left: no more trades happen. */
  ruined: boolean
}

type Holding = {
  readonly index: number
  readonly trade: ResolvedTrade
  /** Account equity at the entry. */
  readonly base: number
  /** Base x leverage; 0 where the leverage is unknown, and then the value is 0 until the exit. */
  readonly notional: number
  /** The running sum of funding at the entry. */
  readonly paidBefore: number
}

/** An account with an equity of 1, before the first trade. */
export const openAccount = (ledger: readonly ResolvedTrade[], terms: TradeTerms): Account => ({
  ledger,
  terms,
  taken: [],
  open: [],
  realised: 1,
  ruined: false,
})

/** Enters and exits, in the order of time, all that happens before `horizon`. */
export function advanceTo(account: Account, horizon: number): void {
  const { ledger, taken } = account
  while (!account.ruined && taken.length < ledger.length) {
    const trade = ledger[taken.length]!
    if (trade.entry_time >= horizon) break
    settleUpTo(account, trade.entry_time)
    enter(account, trade)
  }
  // Times are whole milliseconds, so this is everything before the horizon.
  settleUpTo(account, horizon - 1)
}

/** Equity with the open trades at `price`, funding up to and including `ms` paid. */
export function equityAt({ realised, open, terms }: Account, price: number, ms: number): number {
  let equity = realised
  for (const holding of open) equity += valueAt(holding, terms, price, ms)
  return equity
}

/**
 * Ends the account at a close: each open trade becomes a liquidation there, with what it was worth as its
 * result (all that the account had, where it is the only one).
 */
export function ruin(account: Account, price: number, barOpen: number): void {
  for (const holding of account.open) {
    const value = valueAt(holding, account.terms, price, barOpen)
    account.taken[holding.index] = liquidated(holding, Math.max(-1, value / holding.base), price, barOpen)
  }
  account.open = []
  account.realised = 0
  account.ruined = true
}

function settleUpTo(account: Account, ms: number): void {
  let due = 0
  for (const { base, trade } of account.open) {
    if (endOf(trade) > ms) continue
    account.realised += base * (trade.account_return ?? 0)
    due++
  }
  if (due > 0) account.open = account.open.filter(({ trade }) => endOf(trade) > ms)
}

// The price of the entry is the market's price at that instant, for the trades that are open already. Those
// that enter at the very same instant (the parts of one position) are sized on the same equity, so they do
// not count.
function enter(account: Account, trade: ResolvedTrade): void {
  const { terms, taken } = account
  let base = account.realised
  for (const holding of account.open) {
    if (holding.trade.entry_time === trade.entry_time) continue
    base += valueAt(holding, terms, trade.entry_price, trade.entry_time)
  }
  account.ruined = base <= 0
  if (account.ruined) return
  const notional = base * (trade.leverage ?? 0)
  const paidBefore = paidUpTo(terms.funding, trade.entry_time)
  account.open.push({ index: taken.length, trade, base, notional, paidBefore })
  taken.push(trade)
}

// A mark pays the funding up to its bar's open; a trade that entered inside the bar has paid none yet.
function valueAt(holding: Holding, { feeRate, funding }: TradeTerms, price: number, ms: number): number {
  const { trade, notional, paidBefore } = holding
  const sign = signOf(trade.side)
  const paid = paidUpTo(funding, Math.max(ms, trade.entry_time)) - paidBefore
  return notional * (sign * (price / trade.entry_price - 1) - feeRate - (sign * paid) / trade.entry_price)
}

const liquidated = (
  { trade }: Holding,
  accountReturn: number,
  price: number,
  barOpen: number,
): ResolvedTrade => ({
  ...trade,
  exit_time: Math.max(trade.entry_time, barOpen),
  exit_price: price,
  exit_reason: 'liquidation',
  account_return: accountReturn,
  return_per_notional: trade.leverage === null ? null : accountReturn / trade.leverage,
})
