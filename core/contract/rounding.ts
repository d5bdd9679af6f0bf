// How published numbers are rounded, each once: the exact value of the double, a half away from zero, as `toFixed` and
// `toPrecision` do. Base returns are rounded when a history is made, so that figures follow from what is published; everything
// else at the wire.
import type { Series } from '#core/figures/series.ts'

/** Without the minus that rounding can leave on a zero. */
const unsigned = (value: number): number => (value === 0 ? 0 : value)

/** Scaled by a power of ten, smaller numbers are off by less than 1e-6. */
const LARGEST_SCALED = 1e9

/** Nearer to a tie than this, the scaled number does not decide. */
const TIE_MARGIN = 1e-5

/**
 * Rounds to the decimals of a power of ten, as `toFixed` does, which is four times as slow and decides near a tie. An integer
 * over a power of ten that a double holds exactly is the double that its decimal text reads back as.
 */
function toDecimals(value: number, power: number, decimals: number): number {
  const scaled = Math.abs(value) * power
  const below = Math.floor(scaled)
  const rest = scaled - below
  if (!(scaled < LARGEST_SCALED) || Math.abs(rest - 0.5) < TIE_MARGIN)
    return unsigned(Number(value.toFixed(decimals)))
  const rounded = (rest > 0.5 ? below + 1 : below) / power
  return value < 0 && rounded !== 0 ? -rounded : rounded
}

/** Percents and ratios: 6 decimals. */
export const toPercent = (value: number): number => toDecimals(value, 1e6, 6)

/** Correlations: 8 decimals. */
export const toCorrelation = (value: number): number => toDecimals(value, 1e8, 8)

/** Digits of returns and equity. */
export const DIGITS = 10

/** Powers of ten that a double holds exactly. */
export const POWER = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))

/** Magnitudes that a power of ten scales to ten digits: from `SMALLEST` to below `LARGEST`. */
export const SMALLEST = 1e-12
export const LARGEST = 1e9

/** How many decimals leave ten significant digits: 9 for 1.5, 11 for 0.015. */
export function decimalPlaces(magnitude: number): number {
  let places = DIGITS - 1
  if (magnitude >= 1) while (magnitude >= POWER[DIGITS - places]!) places--
  else while (magnitude * POWER[places - DIGITS + 1]! < 1) places++
  return places
}

/** Whether a number that was scaled to ten digits is too near to a tie to decide: it is off by less than 1e-6. */
export const isNearTie = (scaled: number): boolean => Math.abs(scaled - Math.floor(scaled) - 0.5) < TIE_MARGIN

/** Returns and equity: 10 significant digits, as `toPrecision` has them, which takes ten times as long. */
export function toSignificant(value: number): number {
  const magnitude = Math.abs(value)
  if (!(magnitude >= SMALLEST && magnitude < LARGEST)) return unsigned(Number(value.toPrecision(DIGITS)))
  const power = POWER[decimalPlaces(magnitude)]!
  const scaled = magnitude * power
  if (isNearTie(scaled)) return Number(value.toPrecision(DIGITS))
  return Math.sign(value) * (Math.round(scaled) / power)
}

/** The same for every return of a series. */
export const toPublishedSeries = (series: Series): Series => ({
  ...series,
  values: series.values.map(toSignificant),
})

/** Prices without a known tick: 8 decimals. */
export const toPrice = (value: number): number => unsigned(Number(value.toFixed(MOST_DECIMALS)))

const MOST_DECIMALS = 8

/** Rounds prices of an instrument to its tick: with a tick of 0.25, 100.4 is 100.5. A tick of 0 is unknown. */
export function tickRounder(tickSize: number): (price: number) => number {
  const decimals = decimalsOf(tickSize)
  if (!(tickSize > 0) || Number(tickSize.toFixed(decimals)) !== tickSize) return toPrice
  return price => unsigned(Number((Math.round(price / tickSize) * tickSize).toFixed(decimals)))
}

/** The decimals that a tick size needs: 0.1 has 1, 0.25 has 2, 5 has none. Never more than 8. */
export function decimalsOf(tickSize: number): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals++) {
    if (Number(tickSize.toFixed(decimals)) === tickSize) return decimals
  }
  return MOST_DECIMALS
}
