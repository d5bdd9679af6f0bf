// How published numbers are rounded: once, here, at the wire. Inside the program nothing is ever rounded.

/** Without the minus that rounding can leave on a zero. */
const unsigned = (value: number): number => (value === 0 ? 0 : value)

/** Percents and ratios: 6 decimals. */
export const toPercent = (value: number): number => unsigned(Number(value.toFixed(6)))

/** Correlations: 8 decimals. */
export const toCorrelation = (value: number): number => unsigned(Number(value.toFixed(8)))

/** Returns and equity: 10 significant digits. */
export const toSignificant = (value: number): number => unsigned(Number(value.toPrecision(10)))

/** Prices: the decimals of the instrument's tick, 8 at the most. */
export const toPrice = (value: number, decimals: number): number => unsigned(Number(value.toFixed(decimals)))

/** The decimals that a tick size needs: 0.1 has 1, 0.25 has 2, 5 has none. Never more than 8. */
export function decimalsOf(tickSize: number): number {
  for (let decimals = 0; decimals < 8; decimals++) {
    if (Number(tickSize.toFixed(decimals)) === tickSize) return decimals
  }
  return 8
}
