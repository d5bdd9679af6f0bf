import { DAY_MS } from '#core/calendar.ts'
import { type Bars, endOfBars, lastAtOrBefore } from '#core/replay/bars.ts'
import { OFFSETS } from '#core/replay/chart-zone.ts'

/** An entry at a time of unknown zone; `prices` are those that the open of its bar may have. */
type Entry = { readonly t: number; readonly prices: readonly number[] }

/** Ledgers contain rounding errors of binary arithmetic, and tools round prices to a tick. */
const PRICE_TOLERANCE = 1e-6

/**
 * Compares entries with the opens of the bars: in the right zone of a backtest that trades at opens all agree, and in a
 * wrong one next to none. `shareIn` is the share that agrees if the times mean certain instants, `bestOf` the offset from
 * UTC with the largest share, of the zones of charts and of others. `count` entries are compared.
 */
export function fitOpens(entries: readonly Entry[], bars: Bars) {
  const covered = entries.filter(({ t }) => t >= bars.t[0]! + DAY_MS && t < endOfBars(bars) - DAY_MS)
  const isAtOpen = (ms: number, { prices }: Entry): boolean => {
    const i = lastAtOrBefore(bars.t, ms)
    return bars.t[i] === ms && prices.some(price => Math.abs(bars.o[i]! - price) <= price * PRICE_TOLERANCE)
  }
  const shareIn = (instantsOf: (t: number) => readonly number[]): number =>
    covered.filter(entry => instantsOf(entry.t).some(ms => isAtOpen(ms, entry))).length /
    Math.max(covered.length, 1)
  const bestOf = (others: readonly number[]) =>
    [...others, ...OFFSETS]
      .map(offset => ({ offset, share: shareIn(t => [t - offset]) }))
      .reduce((a, b) => (b.share > a.share ? b : a))
  return { count: covered.length, shareIn, bestOf }
}
