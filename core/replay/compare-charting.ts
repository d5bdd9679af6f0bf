import { DAY_MS } from '#core/calendar.ts'
import { FIXED_ZONES, instantsOf, type ToInstant } from './chart-zone.ts'
import type { Side } from './strategy.ts'
import type { Trade } from './trade.ts'

type Fill = { readonly t: number; readonly price: number }

/** A trade that a charting tool lists. Times are those of its chart; the exit is null while it is open. */
export type ChartTrade = { readonly side: Side; readonly entry: Fill; readonly exit: Fill | null }

export type ChartExport = {
  readonly trades: readonly ChartTrade[]
  /** The last time in the export. */
  readonly end: number
}

type ChartRules = {
  readonly timeframeMs: number
  /** Largest difference of two prices that are the same, in the quote currency. */
  readonly tolerance: number
  /** The end of the ledger's bars: the export may be newer. */
  readonly endMs: number
  /** The zone of the chart in the IANA database; null: a constant offset from UTC, found by the trades. */
  readonly zone: string | null
}

export type ChartComparison = {
  readonly status: 'provisional' | 'confirmed' | 'diverged'
  readonly matched: number
  /** Trades of the time that both cover, of the one that has more of them. */
  readonly compared: number
  /** The share of the ledger's trades that the export covers. */
  readonly share: number
  /** Why it is provisional: the export covers too little of the ledger, or the ledger has too few trades. */
  readonly lacks: 'coverage' | 'trades' | null
}

/** The share of the compared trades that must match. */
const CONFIRMING_SHARE = 0.99

/** The share of the ledger that an export must cover: a part says nothing about the rest. */
const COVERED_SHARE = 0.95

/** So many trades of the ledger are evidence, */
export const ENOUGH_TRADES = 30

/** and so are all of at least so many that are spread over at least a year. */
export const FEW_TRADES = 10
/**
 * Compares a ledger with the list of trades that a charting tool exported. A trade matches one of the same side, entry
 * bar and exit bar whose two prices differ by at most `tolerance`; each is matched once. What happens after the end of
 * one of the two is open in both. Without a zone, the offset is the one with which most trades match: prices make a
 * wrong one match next to nothing. O(offsets x trades).
 */
export function compareCharting(
  trades: readonly Trade[],
  chart: ChartExport,
  rules: ChartRules,
): ChartComparison {
  const own = trades.map(toChartTrade)
  const zones = rules.zone === null ? FIXED_ZONES : [instantsOf(rules.zone)]
  const best = zones
    .map(toInstant => compareIn(toInstant, own, chart, rules))
    .reduce((a, b) => (b.matched > a.matched ? b : a))
  const { matched, compared, covered } = best
  const lacks = whatLacks(covered, own)
  const agrees = matched >= CONFIRMING_SHARE * compared
  return {
    status: lacks !== null ? 'provisional' : agrees ? 'confirmed' : 'diverged',
    matched,
    compared,
    share: own.length === 0 ? 0 : covered.length / own.length,
    lacks,
  }
}

const toChartTrade = ({ side, entry_time, entry_price, exit_time, exit_price }: Trade): ChartTrade => ({
  side,
  entry: { t: entry_time, price: entry_price },
  exit: exit_time === null || exit_price === null ? null : { t: exit_time, price: exit_price },
})

/** The trades of both in the time that both cover, if the chart shows its times in this way. */
function compareIn(
  toInstant: ToInstant,
  own: readonly ChartTrade[],
  chart: ChartExport,
  { timeframeMs, tolerance, endMs }: ChartRules,
) {
  const barOf = (ms: number): number => Math.floor(ms / timeframeMs)
  const theirs = chart.trades.map(({ side, entry, exit }) => ({
    side,
    entry: { ...entry, t: toInstant(entry.t) },
    exit: exit && { ...exit, t: toInstant(exit.t) },
  }))
  const from = barOf(Math.max(firstEntry(own), firstEntry(theirs)))
  const to = theirs.length === 0 ? from - 1 : barOf(Math.min(toInstant(chart.end), endMs - 1))
  const covered = own.filter(({ entry }) => barOf(entry.t) >= from && barOf(entry.t) <= to)
  const charted = theirs.filter(({ entry }) => barOf(entry.t) >= from && barOf(entry.t) <= to)
  const keyOf = ({ side, entry, exit }: ChartTrade): string => {
    const exitBar = exit === null || barOf(exit.t) > to ? 'open' : barOf(exit.t)
    return `${side} ${barOf(entry.t)} ${exitBar}`
  }
  return {
    matched: countMatches(covered, charted, keyOf, tolerance),
    compared: Math.max(covered.length, charted.length),
    covered,
  }
}

function whatLacks(covered: readonly ChartTrade[], own: readonly ChartTrade[]): ChartComparison['lacks'] {
  const lastEntry = own.reduce((latest, { entry }) => Math.max(latest, entry.t), Number.NEGATIVE_INFINITY)
  const isMany = own.length >= ENOUGH_TRADES
  const isLong = own.length >= FEW_TRADES && lastEntry - firstEntry(own) >= 365 * DAY_MS
  if (!isMany && !isLong) return 'trades'
  const needed = isMany ? Math.max(ENOUGH_TRADES, COVERED_SHARE * own.length) : own.length
  return covered.length >= needed ? null : 'coverage'
}

const firstEntry = (trades: readonly ChartTrade[]): number =>
  trades.reduce((earliest, { entry }) => Math.min(earliest, entry.t), Number.POSITIVE_INFINITY)

function countMatches(
  own: readonly ChartTrade[],
  theirs: readonly ChartTrade[],
  keyOf: (trade: ChartTrade) => string,
  tolerance: number,
): number {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= tolerance
  const unmatched = Map.groupBy(own, keyOf)
  let matched = 0
  for (const trade of theirs) {
    const key = keyOf(trade)
    const same = unmatched.get(key) ?? []
    const isOpen = key.endsWith('open')
    const at = same.findIndex(
      ({ entry, exit }) =>
        isNear(entry.price, trade.entry.price) &&
        (isOpen || isNear(exit?.price ?? Number.NaN, trade.exit?.price ?? Number.NaN)),
    )
    if (at < 0) continue
    same.splice(at, 1)
    matched++
  }
  return matched
}
