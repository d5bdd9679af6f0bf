import { DAY_MS } from '#core/calendar.ts'
import { type Bars, endOfBars, lastAtOrBefore } from '#core/replay/bars.ts'
import { OFFSETS } from '#core/replay/chart-zone.ts'
import { signOf } from '#core/replay/trade.ts'
import type { LedgerTrade } from '../book/book.ts'
import { counted } from '../book/field.ts'
import type { Found } from './finding.ts'
import { all, type Check, inFuture, runChecks } from './run-checks.ts'

export type TradeGround = {
  /** Null for a ledger beside reported returns. */
  readonly bars: Bars | null
  readonly maxLeverage: number
  /** What the declared slippage adds to a price. */
  readonly slippage: number
  readonly nowMs: number
}

type Data = ReturnType<typeof factsOf>

/** With the first trade of each key, and why the times are those of another zone; null if they are not. */
const factsOf = (trades: readonly LedgerTrade[], ground: TradeGround) => ({
  ...{ ...ground, trades, shift: findShift(trades, ground) },
  firsts: new Map(trades.map((trade, i) => [keyOf(trade), i] as const).reverse()),
})

/** The cap applies to a decision; until its fill the price and the account move a little. */
const LEVERAGE_SLACK = 0.05

/** Fewer entries fit another time by chance. */
const LEAST_ENTRIES = 10

/** The share of entries at the open of a bar above which times fit, and below which they do not. */
const FITS = 0.8
const FITS_NOT = 0.3

/** What is checked in a ledger as a whole. Whether each trade can have happened is the audit's subject. */
const CHECKS: readonly Check<Data>[] = [
  inFuture('trade', ({ trades }, i) => Math.max(trades[i]!.entry_time, trades[i]!.exit_time ?? 0)),
  {
    ...{ code: 'leverage_over_cap', severity: 'blocking', group: all },
    is: ({ trades, maxLeverage }, i) => (trades[i]!.leverage ?? 0) > maxLeverage * (1 + LEVERAGE_SLACK),
    what: ({ trades, maxLeverage }, at) =>
      `expected a leverage of at most ${maxLeverage}, the max_leverage of the strategy, got ${counted(at.length, 'trade')} over it, the largest ${Math.max(...at.map(i => trades[i]!.leverage ?? 0))}`,
    fix: 'correct the leverage (notional / account equity at entry), or state the cap that applied as max_leverage',
  },
  {
    ...{ code: 'duplicate_trades', severity: 'serious', group: all },
    is: ({ trades, firsts }, i) => firsts.get(keyOf(trades[i]!)) !== i,
    what: (_, { length }) =>
      `${counted(length, 'trade')} equal to an earlier one in side, times, prices and result`,
    fix: 'remove the copies, or number equal parts of one entry in a column `part`',
  },
  {
    ...{ code: 'shifted_labels', severity: 'serious', group: all },
    is: ({ shift }) => shift !== null,
    what: ({ shift }) => shift ?? '',
    fix: 'correct the zone of the times of the ledger or of the bars; a bar has the time of its open',
  },
]

export function checkTrades(trades: readonly LedgerTrade[], ground: TradeGround): Found[] {
  const entries = trades.map(({ entry_time }) => entry_time)
  const exits = trades.map(({ exit_time, entry_time }) => exit_time ?? entry_time)
  return runChecks(CHECKS, factsOf(trades, ground), entries, exits)
}

/** Equal for trades that are copies; equal parts of one entry are numbered. */
const keyOf = ({ side, part, account_return, ...trade }: LedgerTrade): string =>
  [side, trade.entry_time, trade.entry_price, trade.exit_time, trade.exit_price, account_return, part].join()

/**
 * Entries that are at the opens of bars some hours away have times of another zone, or the bars have; one bar away, the
 * label of one of them is the close of the bar. In the right zone of a backtest that trades at opens all agree, and in a wrong
 * one next to none.
 */
function findShift(trades: readonly LedgerTrade[], { bars, slippage }: TradeGround): string | null {
  if (bars === null) return null
  const [first, last] = [bars.t[0]! + DAY_MS, endOfBars(bars) - DAY_MS]
  const covered = trades.filter(({ entry_time }) => entry_time >= first && entry_time < last)
  const shareAt = (offset: number): number =>
    covered.filter(trade => isAtOpen(trade, bars, offset, slippage)).length / Math.max(covered.length, 1)
  const own = shareAt(0)
  if (covered.length < LEAST_ENTRIES || own >= FITS_NOT) return null
  const { offset, share } = [-bars.timeframeMs, bars.timeframeMs, ...OFFSETS]
    .map(offset => ({ offset, share: shareAt(offset) }))
    .reduce((a, b) => (b.share > a.share ? b : a))
  if (share < FITS) return null
  const hours = Math.abs(offset) === bars.timeframeMs ? 'one bar' : `${Math.abs(offset) / 3_600_000} hours`
  const shift = `${hours} ${offset < 0 ? 'later' : 'earlier'}`
  return `expected entries at the opens of bars, got ${Math.round(share * 100)} % of them at opens ${shift} and ${Math.round(own * 100)} % at their own times`
}

/** Ledgers contain rounding errors of binary arithmetic, and tools round prices to a tick. */
const PRICE_TOLERANCE = 1e-6

/** Whether a trade is entered at the open of a bar, with the declared slippage or without, if its times are ahead by an offset. */
function isAtOpen(trade: LedgerTrade, bars: Bars, offset: number, slippage: number): boolean {
  const { side, entry_time, entry_price: price } = trade
  const i = lastAtOrBefore(bars.t, entry_time - offset)
  const isNear = (open: number): boolean => Math.abs(bars.o[i]! - open) <= open * PRICE_TOLERANCE
  return bars.t[i] === entry_time - offset && (isNear(price) || isNear(price - signOf(side) * slippage))
}
