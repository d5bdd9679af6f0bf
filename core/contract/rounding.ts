// How published numbers are rounded, each once. Base returns are rounded when a history is made, so that figures follow
// from what is published; everything else at the wire.
import type { Series } from '#core/figures/series.ts'

/** Without the minus that rounding can leave on a zero. */
const unsigned = (value: number): number => (value === 0 ? 0 : value)

/** Percents and ratios: 6 decimals. */
export const toPercent = (value: number): number => unsigned(Number(value.toFixed(6)))

/** Correlations: 8 decimals. */
export const toCorrelation = (value: number): number => unsigned(Number(value.toFixed(8)))

/** Returns and equity: 10 significant digits. */
export const toSignificant = (value: number): number => unsigned(Number(value.toPrecision(10)))

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
function decimalsOf(tickSize: number): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals++) {
    if (Number(tickSize.toFixed(decimals)) === tickSize) return decimals
  }
  return MOST_DECIMALS
}
