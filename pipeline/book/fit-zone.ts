import { DAY_MS } from '#core/calendar.ts'
import { type Bars, endOfBars } from '#core/replay/bars.ts'
import { OFFSETS } from '#core/replay/chart-zone.ts'
import { fixedZone, type Zone } from './zone.ts'

type Entry = { readonly localMs: number; readonly price: number }

/** A share of entries at the opens of their bars that a wrong zone does not reach by chance. */
const CONVINCING = 0.5

/** Ledgers contain rounding errors of binary arithmetic, and tools round prices to a tick. */
const PRICE_TOLERANCE = 1e-6

/**
 * Compares entries of unknown zone with the opens of the bars: in the right zone of a backtest that trades at opens all
 * agree, and in a wrong one next to none. `best` is the offset with the most, null if none convinces; `share` is that
 * of the stated zone, which is plausible unless another one is convincing and has more than twice as many.
 */
export function fitZone(entries: readonly Entry[], bars: Bars, stated: Zone | null) {
  const [from, to] = [bars.t[0]! + DAY_MS, endOfBars(bars) - DAY_MS]
  const covered = entries.filter(({ localMs }) => localMs >= from && localMs < to)
  const opens = new Map(Array.from(bars.t, (ms, i) => [ms, bars.o[i]!]))
  const isAtOpen = ({ localMs, price }: Entry, zone: Zone): boolean =>
    zone
      .instantsOf(localMs)
      .some(ms => Math.abs((opens.get(ms) ?? Number.NaN) - price) <= price * PRICE_TOLERANCE)
  const shareIn = (zone: Zone): number =>
    covered.length === 0 ? 0 : covered.filter(entry => isAtOpen(entry, zone)).length / covered.length
  const shares = OFFSETS.map(offset => ({ offset, share: shareIn(fixedZone('', offset)) }))
  const best = shares.reduce((a, b) => (b.share > a.share ? b : a))
  const own = stated === null ? 0 : shareIn(stated)
  const isConvincing = best.share >= CONVINCING
  return {
    best: isConvincing ? `${spellOffset(best.offset)} with ${spellShare(best.share)} of the entries` : null,
    share: spellShare(own),
    isPlausible: !isConvincing || own * 2 >= best.share,
  }
}

const spellShare = (share: number): string => `${Math.round(100 * share)} %`

/** `+08:00`. */
function spellOffset(ms: number): string {
  const minutes = Math.abs(ms) / 60_000
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
