import { barHolding, describeInstant, endOfBars, lastAtOrBefore } from './bars.ts'
import { FUNDING_JITTER_MS, unfundedSpanOf, unfundedSpans } from './funding-coverage.ts'
import { endOf } from './ledger.ts'
import type { LedgerInput } from './marks.ts'
import type { Deviation } from './measures.ts'
import { chargesOf, fundingOf, returnPerNotional } from './resolve-trade.ts'
import { signOf, type Trade } from './trade.ts'

type AuditInput = Pick<LedgerInput, 'trades' | 'bars' | 'funding' | 'costs'> & {
  /**
   * Largest difference between a result and its recomputation: a fraction of account equity at entry, and of notional
   * if that is less. The published return is that of notional, so that it differs by no more than this either.
   */
  readonly resultTolerance: number
}

export type AuditProblem = {
  /** The trade's index in the ledger. */
  readonly index: number
  readonly problem: keyof typeof CHECKS
  /** A whole sentence that names the trade. */
  readonly message: string
}

/**
 * A price may be outside its bar by this fraction: ledgers contain rounding errors of binary arithmetic
 * (63001.80000000001), and no market has so small a tick.
 */
const PRICE_TOLERANCE = 1e-9

/** A result may differ from its recomputation by this share beside the tolerance, for the same reason. */
const RESULT_DUST = 1e-9

/**
 * Checks a ledger against the bars and the funding of its instrument. Without a problem, the trades are possible:
 *
 * - each fill is inside the bar that contains its time, give or take the declared slippage. A fill in a gap
 *   or outside the bars is a problem; one after the last bar is not checked;
 * - the stop is on the losing side of the entry, unless the bar opened beyond it and the trade ended at once;
 * - a stop exit is not worse than the stop, less the slippage, unless its bar opened beyond the stop; a
 *   better one is a stop that was moved;
 * - no bar between entry and exit touched the stop: such a trade should have ended there;
 * - funding that the ledger states is that of the payments, or small where they are unknown (`describeFundingFault`);
 * - a result that is given with its leverage follows from prices, commission and funding, or what the ledger states of
 *   them, within the tolerance, and may be lower by the declared slippage of both fills. The tolerance makes no gain of a
 *   loss, and no loss of a gain. A trade with a position where funding payments are missing is not recomputed.
 *
 * That there is one position at a time, the reader of the ledger has checked. O(trades log bars + bars with a position).
 */
export function auditLedger(input: AuditInput): AuditProblem[] {
  const audit = prepare(input)
  return input.trades.flatMap((trade, index) =>
    CHECK_LIST.flatMap(([problem, check]) => {
      const what = check(trade, audit)
      return what === null ? [] : { index, problem, message: `trade ${index} ${what}` }
    }),
  )
}

type Check = (trade: Trade, audit: Audit) => string | null

/** By problem, in the order in which those of a trade are reported: the rest of the sentence that names it, or null. */
const CHECKS = {
  entry_fill: ({ entry_time, entry_price, side }: Trade, audit: Audit) =>
    describeFillFault('entry', entry_time, entry_price, signOf(side), audit),
  exit_fill: ({ exit_time, exit_price, side }: Trade, audit: Audit) =>
    exit_time === null || exit_price === null
      ? null
      : describeFillFault('exit', exit_time, exit_price, side === 'long' ? -1 : 1, audit),
  stop_side: describeSideFault,
  stop_exit: describeStopExitFault,
  stop_missed: describeMissedStop,
  funding: describeFundingFault,
  result: describeResultFault,
} satisfies Record<string, Check>

const CHECK_LIST = Object.entries(CHECKS) as [keyof typeof CHECKS, Check][]

const prepare = (input: AuditInput) => ({
  ...input,
  ...chargesOf(input.bars, input.costs, input.funding),
  unfunded: unfundedSpans(input.funding),
})

type Audit = ReturnType<typeof prepare>

/**
 * Whether the audit can recompute the result of a trade: leverage and, once it is closed, its result are given. Without
 * them the trade may be possible, but its effect on the account is only a claim.
 */
export const isRecomputable = ({ leverage, exit_time, exit_reason, account_return }: Trade): boolean =>
  leverage !== null && (exit_time === null || exit_reason === 'liquidation' || account_return !== null)

// `direction` is +1 for a buy and -1 for a sale: slippage can put a buy that much above its bar.
function describeFillFault(
  fill: 'entry' | 'exit',
  ms: number,
  price: number,
  direction: 1 | -1,
  { bars, slippage }: Audit,
): string | null {
  if (bars.t.length > 0 && ms >= endOfBars(bars)) return null
  const i = barHolding(bars, ms)
  if (i < 0)
    return `has its ${fill} at ${describeInstant(ms)}, where there is no bar: correct the time or add the bar`
  const lowest = bars.l[i]! - (direction === -1 ? slippage : 0)
  const highest = bars.h[i]! + (direction === 1 ? slippage : 0)
  const slack = price * PRICE_TOLERANCE
  if (price >= lowest - slack && price <= highest + slack) return null
  return (
    `has its ${fill} at ${price}, outside the bar at ${describeInstant(bars.t[i]!)}, which with the ` +
    `declared slippage reaches from ${lowest} to ${highest}: correct the price, the time or the bars`
  )
}

function describeSideFault(trade: Trade): string | null {
  const { stop } = trade
  if (stop === null || signOf(trade.side) * (trade.entry_price - stop) > 0) return null
  const endedAtOnce = trade.exit_time === trade.entry_time
  if (endedAtOnce && (trade.exit_reason === 'stop' || trade.exit_reason === 'liquidation')) return null
  const expected = trade.side === 'long' ? 'below' : 'above'
  return (
    `is ${trade.side} from ${trade.entry_price} with its stop at ${stop}, which must be ${expected} the ` +
    'entry: correct the side or the stop'
  )
}

function describeStopExitFault(trade: Trade, { bars, slippage }: Audit): string | null {
  const { stop, exit_time, exit_price } = trade
  if (stop === null || trade.exit_reason !== 'stop' || exit_time === null || exit_price === null) return null
  const i = barHolding(bars, exit_time)
  if (i < 0) return null // reported as a fill without a bar
  const sign = signOf(trade.side)
  const triggered = sign * (bars.o[i]! - stop) < 0 ? bars.o[i]! : stop
  const worst = triggered - sign * slippage
  if (sign * (exit_price - worst) >= -worst * PRICE_TOLERANCE) return null
  return (
    `exited by its stop at ${exit_price}, worse than the ${worst} that the stop ${stop}, the open ` +
    `${bars.o[i]} of that bar and the declared slippage allow: correct the exit, its reason or the stop`
  )
}

// The entry bar counts only if the entry is at its open; inside a bar the low may precede the entry. The exit
// bar does not count: an exit at its open precedes the rest of the bar.
function describeMissedStop(trade: Trade, { bars }: Audit): string | null {
  const { stop } = trade
  if (stop === null) return null
  const touched = trade.side === 'long' ? bars.l : bars.h
  const sign = signOf(trade.side)
  const entryBar = lastAtOrBefore(bars.t, trade.entry_time - 1) + 1
  const exitBar = lastAtOrBefore(bars.t, endOf(trade) - bars.timeframeMs) + 1
  for (let i = entryBar; i < exitBar; i++) {
    if (sign * (touched[i]! - stop) > 0) continue
    return (
      `stays open after the bar at ${describeInstant(bars.t[i]!)}, which reached ${touched[i]} and so its ` +
      `stop ${stop}: correct the stop or the exit`
    )
  }
  return null
}

/** The price at a payment is not exactly the last close: by this share of each payment, stated funding may differ. */
const FUNDING_TOLERANCE = 0.1

/** Stated funding where payments are unknown: at most so much of notional for each 8 hours begun. */
const MOST_FUNDING = 0.0005
const HOUR_MS = 3_600_000

/** The makers of a ledger gain by the funding that it states: it is compared with the payments, or limited without them. */
function describeFundingFault(trade: Trade, audit: Audit): string | null {
  const { funding: stated, exit_time } = trade
  if (stated === null || exit_time === null || exit_time >= endOfBars(audit.bars)) return null
  const closed = { ...trade, exit_time, funding: null }
  const isKnown = audit.funding.t.length > 0 && unfundedSpanOf(closed, audit.unfunded) === null
  const { expected, most } = isKnown ? fundingByPayments(closed, audit) : fundingByHours(closed)
  if (Math.abs(stated - expected) <= most) return null
  const payments = isKnown ? `give ${sixDigits(expected)}` : 'are unknown'
  return (
    `has a funding of ${stated} of its notional, and the payments while it was open ${payments}, so that ${sixDigits(most)} ` +
    'more or less is accepted: correct funding, which is positive if received, or ' +
    (isKnown ? 'leave it blank' : 'add the payments of the instrument')
  )
}

type Closed = Trade & { readonly exit_time: number }

/** A payment within a minute of a fill may be in stated funding or not. */
function fundingByPayments(trade: Closed, { funding }: Audit) {
  const { entry_time, exit_time, entry_price } = trade
  const first = lastAtOrBefore(funding.t, entry_time - FUNDING_JITTER_MS) + 1
  const last = lastAtOrBefore(funding.t, exit_time + FUNDING_JITTER_MS)
  let most = 0
  for (let i = first; i <= last; i++) {
    const payment = Math.abs(funding.paid[i]! - (funding.paid[i - 1] ?? 0)) / entry_price
    const toFill = Math.min(funding.t[i]! - entry_time, exit_time - funding.t[i]!)
    most += toFill > FUNDING_JITTER_MS ? FUNDING_TOLERANCE * payment : payment
  }
  return { expected: fundingOf(trade, exit_time, funding), most }
}

/** Exchanges pay at full hours, so a trade over none received nothing. */
function fundingByHours({ entry_time, exit_time }: Closed) {
  const isOverHour =
    Math.floor((exit_time + FUNDING_JITTER_MS) / HOUR_MS) >
    Math.floor((entry_time - FUNDING_JITTER_MS) / HOUR_MS)
  const begun = Math.max(1, Math.ceil((exit_time - entry_time) / (8 * HOUR_MS)))
  return { expected: 0, most: isOverHour ? MOST_FUNDING * begun : 0 }
}

// The prices are fills, so slippage is in them. If a ledger has the prices of the market instead, slippage is in its
// results alone, which are lower by it. A liquidation returns -1 at any price, because the account is gone.
function recompute(trade: Trade, audit: Audit) {
  const { leverage, account_return, exit_time, exit_reason, entry_price } = trade
  if (leverage === null || account_return === null || exit_reason === 'liquidation') return null
  if (unfundedSpanOf(trade, audit.unfunded) !== null) return null
  const perNotional = returnPerNotional(trade, audit)
  // Bars and funding are not known to the end of a trade that exits after the last bar.
  if (exit_time === null || perNotional === null || exit_time >= endOfBars(audit.bars)) return null
  const expected = Math.max(-1, leverage * perNotional)
  return { account_return, leverage, expected, slippage: (2 * audit.slippage) / entry_price } // of notional
}

/** How far each result that can be recomputed is from its recomputation. */
export function measureResults(input: AuditInput): Deviation[] {
  const audit = prepare(input)
  return input.trades.flatMap(trade => {
    const found = recompute(trade, audit)
    if (found === null) return []
    return { excess: found.account_return - found.expected, slippage: found.leverage * found.slippage }
  })
}

function describeResultFault(trade: Trade, audit: Audit): string | null {
  const found = recompute(trade, audit)
  if (found === null) return null
  const { account_return, leverage, expected, slippage } = found
  const { resultTolerance } = audit
  const unit = Math.min(1, leverage)
  const dust = RESULT_DUST * unit
  const slack = resultTolerance * unit + dust
  const worst = expected - leverage * slippage
  const lowest = worst < 0 ? worst - slack : Math.max(worst - slack, -dust)
  const highest = expected > 0 ? expected + slack : Math.min(expected + slack, dust)
  if (account_return >= lowest && account_return <= highest) return null
  return (
    `has the result ${account_return}, and ${sixDigits(expected)} follows from its prices, its leverage of ${leverage}, the ` +
    `commission and the funding, with a tolerance of ${resultTolerance} of the account and of notional, within which no ` +
    `loss becomes a gain: correct account_return, leverage or the ` +
    'prices, or give what was paid in the columns fees and funding'
  )
}

const sixDigits = (value: number): number => Number(value.toPrecision(6))
