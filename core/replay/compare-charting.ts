import type { Side } from './strategy.ts'
import type { Trade } from './trade.ts'

/** The entries that a charting tool lists. Times are those of its chart, whose zone is not in its export. */
export type ChartExport = {
  readonly entries: readonly { readonly side: Side; readonly t: number; readonly price: number }[]
  /** The last time in the export. */
  readonly end: number
}

type ChartRules = {
  readonly timeframeMs: number
  /** Largest difference of two entry prices that are the same, in the quote currency. */
  readonly tolerance: number
  /** The end of the ledger's bars: the export may be newer. */
  readonly endMs: number
}

export type ChartComparison = {
  readonly status: 'provisional' | 'confirmed' | 'diverged'
  readonly matched: number
  /** Trades of the time that both cover, of the one that has more of them. */
  readonly compared: number
}

/** The share of the compared trades that must match. */
const CONFIRMING_SHARE = 0.99

/** The share of the ledger that an export must cover, or it says too little. */
const COVERED_SHARE = 0.5

/** Zones of charts: whole quarters of an hour, from UTC-12 to UTC+14. */
const QUARTER_MS = 900_000
const ZONES = Array.from({ length: 26 * 4 + 1 }, (_, i) => (i - 12 * 4) * QUARTER_MS)

/**
 * Compares a ledger with the list of trades that a charting tool exported. A trade matches one of the same side and
 * entry bar whose price differs by at most `tolerance`; each is matched once. The zone of the chart is the one in which
 * most trades match: prices make a wrong one match next to nothing. O(zones x trades).
 */
export function compareCharting(
  trades: readonly Trade[],
  chart: ChartExport,
  { timeframeMs, tolerance, endMs }: ChartRules,
): ChartComparison {
  const own = trades.map(({ side, entry_time, entry_price }) => ({ side, t: entry_time, price: entry_price }))
  const barOf = (ms: number): number => Math.floor(ms / timeframeMs)
  const attempts = ZONES.map(zone => {
    const theirs = chart.entries.map(entry => ({ ...entry, t: entry.t - zone }))
    const from = barOf(Math.max(first(own), first(theirs)))
    const to = barOf(Math.min(chart.end - zone, endMs - 1))
    const isShared = ({ t }: Entry): boolean => barOf(t) >= from && barOf(t) <= to
    const [shared, charted] = [own.filter(isShared), theirs.filter(isShared)]
    const compared = Math.max(shared.length, charted.length)
    return { matched: countMatches(shared, charted, barOf, tolerance), compared, covered: shared.length }
  })
  const best = attempts.reduce((a, b) => (b.matched > a.matched ? b : a))
  const isEnough = best.covered > 0 && best.covered >= COVERED_SHARE * own.length
  const agrees = best.matched >= CONFIRMING_SHARE * best.compared
  return {
    status: isEnough ? (agrees ? 'confirmed' : 'diverged') : 'provisional',
    matched: best.matched,
    compared: best.compared,
  }
}

type Entry = ChartExport['entries'][number]

const first = (entries: readonly Entry[]): number =>
  entries.reduce((earliest, { t }) => Math.min(earliest, t), Number.POSITIVE_INFINITY)

function countMatches(
  own: readonly Entry[],
  theirs: readonly Entry[],
  barOf: (ms: number) => number,
  tolerance: number,
): number {
  const keyOf = ({ side, t }: Entry): string => `${side} ${barOf(t)}`
  const prices = new Map(
    [...Map.groupBy(own, keyOf)].map(([key, same]) => [key, same.map(({ price }) => price)]),
  )
  let matched = 0
  for (const entry of theirs) {
    const left = prices.get(keyOf(entry)) ?? []
    const at = left.findIndex(price => Math.abs(price - entry.price) <= tolerance)
    if (at < 0) continue
    left.splice(at, 1)
    matched++
  }
  return matched
}
