import { toIsoInstant } from '#core/calendar.ts'
import { type Bars, lastAtOrBefore } from '#core/replay/bars.ts'
import { signOf, type Trade } from '#core/replay/trade.ts'
import { counted } from '../book/field.ts'
import { type Found, MOST_PLACES, type Verdict } from './finding.ts'

/** What the trades of a ledger are checked against. */
export type TradeGround = {
  /** Null for a ledger beside reported returns. */
  readonly bars: Bars | null
  readonly maxLeverage: number
  /** What the declared slippage adds to a price. */
  readonly slippage: number
  readonly nowMs: number
}

type TradeCheck = (trades: readonly Trade[], ground: TradeGround) => readonly Found[]

/** What is checked in a ledger as a whole. Whether each trade can have happened is the audit's subject. */
const TRADE_CHECKS: readonly TradeCheck[] = [findFuture, findLeverage, findDuplicates, findShift]

export const checkTrades: TradeCheck = (trades, ground) =>
  TRADE_CHECKS.flatMap(check => check(trades, ground))

function findFuture(trades: readonly Trade[], { nowMs }: TradeGround): Found[] {
  const isFuture = ({ entry_time, exit_time }: Trade): boolean => Math.max(entry_time, exit_time ?? 0) > nowMs
  return overTrades(trades, isFuture, count => ({
    code: 'future_trades',
    severity: 'blocking',
    what: `${counted(count, 'trade')} of the future, while it is ${toIsoInstant(nowMs)}`,
    fix: 'remove them, or correct the unit or the zone of the times',
  }))
}

/** The cap applies to a decision; until its fill the price and the account move a little. */
const LEVERAGE_SLACK = 0.05

function findLeverage(trades: readonly Trade[], { maxLeverage }: TradeGround): Found[] {
  const isOver = ({ leverage }: Trade): boolean =>
    leverage !== null && leverage > maxLeverage * (1 + LEVERAGE_SLACK)
  const largest = trades.reduce((most, { leverage }) => Math.max(most, leverage ?? 0), 0)
  return overTrades(trades, isOver, count => ({
    code: 'leverage_over_cap',
    severity: 'blocking',
    what: `expected a leverage of at most ${maxLeverage}, the max_leverage of the strategy, got ${counted(count, 'trade')} over it, the largest ${largest}`,
    fix: 'correct the leverage (notional / account equity at entry), or state the cap that applied as max_leverage',
  }))
}

function findDuplicates(trades: readonly Trade[]): Found[] {
  const keys = trades.map(each =>
    [
      each.side,
      each.entry_time,
      each.entry_price,
      each.exit_time,
      each.exit_price,
      each.account_return,
    ].join(),
  )
  const seen = new Set<string>()
  const repeated = keys.map(key => seen.size === seen.add(key).size)
  return overTrades(
    trades,
    (_, i) => repeated[i]!,
    count => ({
      code: 'duplicate_trades',
      severity: 'serious',
      what: `${counted(count, 'trade')} equal to an earlier one in side, times, prices and result`,
      fix: 'remove the copies',
    }),
  )
}

/** Fewer entries fit another time by chance. */
const LEAST_ENTRIES = 10

/** The share of entries at the open of a bar above which times fit, and below which they do not. */
const FITS = 0.8
const FITS_NOT = 0.3

const HALF_HOUR_MS = 1_800_000
const ZONES = Array.from({ length: 53 }, (_, i) => (i - 24) * HALF_HOUR_MS) // UTC-12 to UTC+14

/**
 * Entries that are at the opens of bars some hours away have times of another zone, or the bars have; one bar away, the
 * label of one of them is the close of the bar.
 */
function findShift(trades: readonly Trade[], { bars, slippage }: TradeGround): Found[] {
  if (bars === null || trades.length < LEAST_ENTRIES) return []
  const share = (shift: number): number =>
    trades.filter(trade => isAtOpen(trade, bars, shift, slippage)).length / trades.length
  if (share(0) >= FITS_NOT) return []
  const shifts = [-bars.timeframeMs, bars.timeframeMs, ...ZONES]
  const best = shifts.reduce((a, b) => (share(b) > share(a) ? b : a), 0)
  if (share(best) < FITS) return []
  const found = spellShift(best, bars.timeframeMs)
  return overTrades(
    trades,
    () => true,
    () => ({
      code: 'shifted_labels',
      severity: 'serious',
      what: `expected entries at the opens of bars, got ${Math.round(share(best) * 100)} % of them at opens ${found} and ${Math.round(share(0) * 100)} % at their own times`,
      fix: 'correct the zone of the times of the ledger or of the bars; a bar has the time of its open',
    }),
  )
}

export const spellShift = (shift: number, timeframeMs: number): string => {
  const way = shift > 0 ? 'later' : 'earlier'
  return Math.abs(shift) === timeframeMs ? `one bar ${way}` : `${Math.abs(shift) / 3_600_000} hours ${way}`
}

function isAtOpen(
  { entry_time, entry_price, side }: Trade,
  bars: Bars,
  shift: number,
  slip: number,
): boolean {
  const i = lastAtOrBefore(bars.t, entry_time + shift)
  if (i < 0 || bars.t[i] !== entry_time + shift) return false
  const open = bars.o[i]!
  const dust = 1e-9 * open
  return [0, signOf(side) * slip].some(each => Math.abs(open + each - entry_price) <= dust)
}

/** A finding about the trades for which `isIn` holds; none if there are none. */
function overTrades(
  trades: readonly Trade[],
  isIn: (trade: Trade, index: number) => boolean,
  toVerdict: (count: number) => Verdict,
): Found[] {
  const at = [...trades.keys()].filter(i => isIn(trades[i]!, i))
  if (at.length === 0) return []
  const entries = at.map(i => trades[i]!.entry_time)
  const from = entries.reduce((a, b) => Math.min(a, b))
  const to = at.reduce((last, i) => Math.max(last, trades[i]!.exit_time ?? trades[i]!.entry_time), from)
  return [{ ...toVerdict(at.length), from, to, at: at.slice(0, MOST_PLACES), count: at.length }]
}
