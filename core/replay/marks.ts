import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
import { type Account, advanceTo, equityAt, openAccount, ruin } from './account.ts'
import { assertFunding, assertMarkable, type Bars, describeInstant, endOfBars, type Funding } from './bars.ts'
import {
  assertInception,
  createDailyCloses,
  type DailyCloses,
  type DailyMarks,
  firstCompleteDay,
  toDailyMarks,
} from './daily.ts'
import { sumFunding } from './funding-sums.ts'
import { byEntry, cutTrade, describeFault, describeOverlap, findOverlaps } from './ledger.ts'
import { type ResolvedTrade, resolveTrade, type TradeTerms } from './resolve-trade.ts'
import { assertCosts, type Costs, commissionRate, type Trade } from './trade.ts'

export type LedgerInput = {
  /** The strategy's id, for error sentences. */
  readonly id: string
  readonly trades: readonly Trade[]
  /**
   * Cut at the end of the last complete day. Trades that exit later are open there, later entries do not
   * exist.
   */
  readonly bars: Bars
  readonly funding: Funding | null
  readonly costs: Costs
  readonly baseRisk: number
  /** Several positions at a time, such as partial exits that are trades of their own. */
  readonly allowOverlap?: boolean
  /**
   * The first day of the series, which is cut there. Default: the first day that the bars cover from
   * midnight.
   */
  readonly from?: EpochDay
}

export type LedgerMarks = DailyMarks & {
  /** In order of entry, those open at the end without an exit; what a ruin ended is a liquidation. */
  readonly trades: ResolvedTrade[]
  /** The day on which equity reached 0; null: never. */
  readonly ruined_on: EpochDay | null
  /** Trades of the ledger that would have entered after the ruin: they are not in `trades`. */
  readonly trades_after_ruin: number
}

/**
 * Daily returns from a ledger, closes and funding alone: independent of the engine, whose own marks they must
 * equal.
 *
 * With account equity `E`, a trade is sized on the equity `B` at its entry; side `s`, leverage `L`, entry
 * price `Pe`, net return `R`, entry commission `f`. While open it is worth `B*L*(s*(P/Pe - 1) - f)` at price
 * P, less the funding so far; at its exit `E += B*R`, exactly. Entries and exits of a day are applied in the
 * order of time, exits first on a tie, but never before their own entry; then `Eq = E + sum of values` at the
 * last close of the day, and the return is `Eq / Eq of the day before - 1`. So the product of `1 + ret` over
 * a trade's life is `1 + R`.
 *
 * Funding stamped at T hits the trades with `entry < T <= exit`, at the last close known at T, and is in the
 * mark of a bar where T is not later than its open. A trade of unknown leverage is worth 0 until its exit.
 * Where equity is 0 or below at any bar's close (or nothing is left for an entry), the account is ruined as
 * in the engine: what is open is liquidated, equity stays 0, later returns are 0, later trades do not happen.
 *
 * Throws on rows that are no trades, on overlaps that are not allowed, and on trades before the first bar.
 * O(bars + trades log trades).
 */
export function markLedger(input: LedgerInput): LedgerMarks {
  const { bars } = input
  assertMarkable(`strategy ${input.id}`, bars)
  const from = input.from ?? firstCompleteDay(bars)
  assertLedgerInput(input, from)
  const terms = toTerms(input)
  const ledger = resolveLedger(input, terms)
  const account = openAccount(ledger, terms)
  const closes = createDailyCloses(bars)
  const ruinedOn = markBars(account, bars, closes)
  return {
    ...toDailyMarks(closes, from),
    trades: account.taken,
    ruined_on: ruinedOn,
    trades_after_ruin: ruinedOn === null ? 0 : ledger.length - account.taken.length,
  }
}

function assertLedgerInput(
  { id, trades, bars, funding, costs, allowOverlap }: LedgerInput,
  from: EpochDay,
): void {
  const who = `strategy ${id}`
  assertInception(who, bars, from)
  assertCloses(who, bars)
  assertCosts(who, costs)
  if (funding !== null) assertFunding(who, funding)
  trades.forEach((trade, i) => {
    const fault = describeFault(trade) ?? describeTooEarly(trade, bars)
    if (fault !== null) refuse(id, i, fault)
  })
  const overlap = allowOverlap === true ? undefined : findOverlaps(trades)[0]
  if (overlap !== undefined) refuse(id, overlap.index, describeOverlap(trades, overlap))
}

// A NaN among the closes would pass for a day without bars.
function assertCloses(who: string, { t, c }: Bars): void {
  for (let i = 0; i < t.length; i++) {
    if (c[i]! > 0 && c[i]! < Number.POSITIVE_INFINITY && (i === 0 || t[i]! > t[i - 1]!)) continue
    throw new Error(
      `${who}: bar ${i} must be later than the one before and close above 0; it has t ${t[i]} and ` +
        `close ${c[i]}: mend the bars`,
    )
  }
}

const describeTooEarly = ({ entry_time }: Trade, bars: Bars): string | null =>
  entry_time >= bars.t[0]!
    ? null
    : `enters at ${describeInstant(entry_time)}, before the first bar at ${describeInstant(bars.t[0]!)}: ` +
      'bring the bars since its entry'

function refuse(id: string, index: number, why: string): never {
  throw new Error(`strategy ${id}: trade ${index} of the ledger ${why}`)
}

const toTerms = ({ bars, funding, costs, baseRisk }: LedgerInput): TradeTerms => ({
  feeRate: commissionRate(costs),
  baseRisk,
  maxLeverage: costs.max_leverage,
  funding: sumFunding(bars, funding),
})

function resolveLedger({ id, trades, bars }: LedgerInput, terms: TradeTerms): ResolvedTrade[] {
  const ledger: ResolvedTrade[] = []
  for (const i of byEntry(trades)) {
    const trade = cutTrade(trades[i]!, endOfBars(bars))
    if (trade === null) break // in order of entry: none of the others has entered either
    const resolved = resolveTrade(trade, terms)
    ledger.push(typeof resolved === 'string' ? refuse(id, i, resolved) : resolved)
  }
  return ledger
}

// Fills `closes` and returns the day of the ruin.
function markBars(account: Account, bars: Bars, closes: DailyCloses): EpochDay | null {
  let ruinedOn: EpochDay | null = null
  for (let i = 0; i < bars.t.length; i++) {
    const day = toEpochDay(bars.t[i]!)
    const equity = ruinedOn === null ? closeBar(account, bars, i, day) : 0
    closes.equity[day - closes.first] = Math.max(equity, 0)
    if (ruinedOn === null && equity <= 0) {
      ruin(account, bars.c[i]!, bars.t[i]!)
      ruinedOn = day
    }
  }
  return ruinedOn
}

// The equity at the bar's close. The last bar of a day also sees what happens in a gap between it and
// midnight.
function closeBar(account: Account, { t, c, timeframeMs }: Bars, i: number, day: EpochDay): number {
  const isLastOfDay = i + 1 === t.length || toEpochDay(t[i + 1]!) !== day
  advanceTo(account, isLastOfDay ? (day + 1) * DAY_MS : t[i]! + timeframeMs)
  return account.ruined ? 0 : equityAt(account, c[i]!, t[i]!)
}
