import { DAY_MS, type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { dayOf, lastDay, type Series } from '#core/figures/series.ts'
import { type Bars, endOfBars, type Funding, isLastOfDay } from './bars.ts'
import { createDailyGrowth, type DailyGrowth, inceptionOf, toDailyMarks } from './daily.ts'
import { byEntry, cutTrade, endOf } from './ledger.ts'
import { chargesOf, paidUpTo, type ResolvedTrade, resolveTrade, type TradeTerms } from './resolve-trade.ts'
import { type Costs, signOf, type Trade } from './trade.ts'

export type LedgerInput = {
  /** The strategy's id, for error sentences. */
  readonly id: string
  readonly trades: readonly Trade[]
  /** They must end with a complete day. Trades that exit later are open; later entries are dropped. */
  readonly bars: Bars
  /** Null: the instrument has no funding. */
  readonly funding: Funding | null
  readonly costs: Costs
  readonly baseRisk: number
  /** The first day of the series. Default, and if null: the first day that the bars cover from midnight. */
  readonly from?: EpochDay | null
}

export type LedgerMarks = ReturnType<typeof markLedger>

/**
 * Daily returns from a ledger, closes and funding alone: independent of the engine: their marks must be
 * equal.
 *
 * With account equity `E`, a trade is sized on the equity `B` at its entry; side `s`, leverage `L`, entry
 * price `Pe`, net return `R`, entry commission `f`. While open it is worth `B*L*(s*(P/Pe - 1) - f)` at price
 * P, less the funding so far; at its exit `E += B*R`, exactly. Fees and funding that the ledger states are in R alone:
 * they are known at the exit, and a mark must not depend on what follows. Entries and exits of a day are applied in the
 * order of time, exits first on a tie, but never before their own entry; then `Eq = E + sum of values` at the
 * last close of the day, and the return is `Eq / Eq of the day before - 1`. So the product of `1 + ret` over
 * a trade's life is `1 + R`.
 *
 * Funding at T affects the trades with `entry < T <= exit`, at the last close known at T, and is in the mark
 * of a bar where T is not later than its open. A trade of unknown leverage is worth 0 until its exit. If
 * equity is 0 or below at any bar's close (or nothing is left for an entry), the account is ruined as in the
 * engine: open trades are liquidated, equity stays 0, later returns are 0, later trades are dropped.
 *
 * Throws on trades of which nothing gives the size; the reader of ledgers and the audit have checked the rest. O(bars +
 * trades log trades).
 */
export function markLedger(input: LedgerInput) {
  const { bars } = input
  const from = inceptionOf(`strategy ${input.id}`, bars, input.from)
  const terms = toTerms(input)
  const ledger = resolveLedger(input, terms)
  const account = openAccount(ledger, terms)
  const days = createDailyGrowth(bars)
  const ruinedOn = markBars(account, bars, days)
  return {
    ...toDailyMarks(days, from),
    /** In order of entry, without an exit if open at the end; trades ended by ruin are liquidations. */
    trades: account.taken,
    ruined_on: ruinedOn,
    /** They would have entered after the ruin, and are not in `trades`. */
    trades_after_ruin: ruinedOn === null ? 0 : ledger.length - account.taken.length,
  }
}

const toTerms = ({ bars, funding, costs, baseRisk }: LedgerInput): TradeTerms => ({
  ...chargesOf(bars, costs, funding),
  baseRisk,
  maxLeverage: costs.max_leverage,
})

function resolveLedger({ id, trades, bars }: LedgerInput, terms: TradeTerms): ResolvedTrade[] {
  const ledger: ResolvedTrade[] = []
  for (const i of byEntry(trades)) {
    const trade = cutTrade(trades[i]!, endOfBars(bars))
    if (trade === null) break // in order of entry: none of the rest has entered either
    const resolved = resolveTrade(trade, terms)
    if (typeof resolved === 'string') throw new Error(`strategy ${id}: trade ${i} of the ledger ${resolved}`)
    ledger.push(resolved)
  }
  return ledger
}

// Fills the days, and returns the day of the ruin.
function markBars(account: Account, bars: Bars, { first, growth }: DailyGrowth) {
  let ruinedOn: EpochDay | null = null
  for (let i = 0; i < bars.t.length; i++) {
    const day = toEpochDay(bars.t[i]!)
    const equity = ruinedOn === null ? Math.max(closeBar(account, bars, i, day), 0) : 0
    if (isLastOfDay(bars, i, day)) growth[day - first] = closeDay(account, equity)
    if (ruinedOn === null && equity === 0) {
      ruin(account, bars.c[i]!, bars.t[i]!)
      ruinedOn = day
    }
  }
  return ruinedOn
}

// The equity at the bar's close. The last bar of a day includes the events in a gap between it and midnight.
function closeBar(account: Account, bars: Bars, i: number, day: EpochDay): number {
  const { t, c, timeframeMs } = bars
  advanceTo(account, isLastOfDay(bars, i, day) ? (day + 1) * DAY_MS : t[i]! + timeframeMs)
  return account.ruined ? 0 : equityAt(account, c[i]!, t[i]!)
}

// The growth since the last daily close; an account without equity stays as it is.
function closeDay(account: Account, equity: number): number {
  const growth = account.opening === 0 ? 1 : account.grown * (equity / account.opening)
  account.grown = 1
  account.opening = equity
  return growth
}

/** The account of a ledger at a point in time, with an equity of 1 at first; changed in place. */
type Account = {
  /** The ledger in order of entry. */
  readonly ledger: readonly ResolvedTrade[]
  readonly terms: TradeTerms
  /** The trades that were entered, in order of entry. */
  readonly taken: ResolvedTrade[]
  /** Open trades as indices into `taken`, with the data to value them. */
  open: Holding[]
  /** Equity without the value of the open trades, in units. */
  realised: number
  /**
   * What 1 is worth in equity at the start: the equity when a trade last entered an account without open ones. So
   * the numbers of a trade, rounding errors included, do not depend on the trades before it, and a day whose trades
   * stay the same keeps its return to the last bit.
   */
  unit: number
  /** Equity at the last daily close, in units, and the growth since then in the units before this one. */
  opening: number
  grown: number
  /** Nothing is left, and no more trades happen. */
  ruined: boolean
}

type Holding = {
  readonly index: number
  readonly trade: ResolvedTrade
  /** Account equity at the entry. */
  readonly base: number
  /** Base x leverage; 0 if the leverage is unknown; then the value is 0 until the exit. */
  readonly notional: number
  /** The running sum of funding at the entry. */
  readonly paidBefore: number
}

export const openAccount = (ledger: readonly ResolvedTrade[], terms: TradeTerms): Account => ({
  ...{ ledger, terms, taken: [], open: [] },
  ...{ realised: 1, unit: 1, opening: 1, grown: 1, ruined: false },
})

/** Applies all entries and exits before `horizon`, in order of time. */
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
function equityAt({ realised, open, terms }: Account, price: number, ms: number): number {
  let equity = realised
  for (const holding of open) equity += valueAt(holding, terms, price, ms)
  return equity
}

/**
 * Ends the account at a close: each open trade becomes a liquidation there, with its value as its result (the
 * whole account, if it is the only one).
 */
function ruin(account: Account, price: number, barOpen: number): void {
  for (const holding of account.open) {
    const { trade, index, base } = holding
    const account_return = Math.max(-1, valueAt(holding, account.terms, price, barOpen) / base)
    account.taken[index] = {
      ...trade,
      exit_time: Math.max(trade.entry_time, barOpen),
      exit_price: price,
      exit_reason: 'liquidation',
      account_return,
      ...{ fees: null, funding: null }, // those of another exit
      return_per_notional: trade.leverage === null ? null : account_return / trade.leverage,
    }
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

// Trades that are already open are valued at the price of the entry. Trades that enter at the same instant
// (the parts of one position) are sized on the same equity, so they do not count.
function enter(account: Account, trade: ResolvedTrade): void {
  const { terms, taken } = account
  if (account.open.length === 0 && account.realised > 0) startUnit(account)
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

function startUnit(account: Account): void {
  account.grown *= account.realised / account.opening
  account.unit *= account.realised
  account.opening = 1
  account.realised = 1
}

// A mark includes funding up to its bar's open; a trade that entered inside the bar has paid none yet.
function valueAt(holding: Holding, { feeRate, funding }: TradeTerms, price: number, ms: number): number {
  const { trade, notional, paidBefore } = holding
  const sign = signOf(trade.side)
  const paid = paidUpTo(funding, Math.max(ms, trade.entry_time)) - paidBefore
  return notional * (sign * (price / trade.entry_price - 1) - feeRate - (sign * paid) / trade.entry_price)
}

/**
 * Largest difference between two computations of the same daily returns. Both sum some thousand products of
 * doubles in different orders, which leaves about 1e-13; a difference in the rules shows from 1e-6 up.
 */
export const DUAL_MARKS_BOUND = 1e-9

/**
 * The dual check: the daily returns of the engine against those made from ledger, closes and funding alone.
 * The difference is absolute, in units of return; `worst_day` is the first day with the largest, null for
 * empty series. Throws if the two do not cover the same days.
 */
export function compareMarks(engineDaily: Series, ledgerDaily: Series) {
  const days = engineDaily.values.length
  const { period, first } = ledgerDaily
  if (engineDaily.period !== period || engineDaily.first !== first || days !== ledgerDaily.values.length) {
    const [engine, ledger] = [engineDaily, ledgerDaily].map(
      series => `${series.period} from ${toIsoDate(series.first)} to ${toIsoDate(lastDay(series))}`,
    )
    throw new Error(`two series of marks must cover the same days; one is ${engine}, the other ${ledger}`)
  }
  const differences = engineDaily.values.map((value, i) => {
    const difference = Math.abs(value - ledgerDaily.values[i]!)
    return Number.isNaN(difference) ? Infinity : difference
  })
  const worst_difference = differences.reduce((worst, each) => Math.max(worst, each), 0)
  return {
    agree: worst_difference <= DUAL_MARKS_BOUND,
    worst_day: days === 0 ? null : dayOf(engineDaily, differences.indexOf(worst_difference)),
    worst_difference,
  }
}
