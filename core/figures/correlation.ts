import type { Period } from './series.ts'

/**
 * Correlations of `size` series, row by row: cell (i, j) is at `i * size + j`. Symmetric to the bit. NaN marks a cell
 * that does not exist; on the diagonal, where it is 1 otherwise, it says that the series itself is flat or too short.
 */
export type CorrelationMatrix = {
  readonly size: number
  readonly rho: Float64Array
  /** Points that both series have; on the diagonal, the length of the series. */
  readonly overlap: Int32Array
}

/** Common points below which a correlation says nothing: a month of days, a quarter of complete weeks. */
export const MIN_OVERLAP: Readonly<Record<Period, number>> = { daily: 30, weekly: 12 }

/** Why a cell that has this overlap does not exist: too short, or else one leg was flat over it. */
export const undefinedCellReason = (overlap: number, period: Period): 'too_few_points' | 'zero_variance' =>
  overlap < MIN_OVERLAP[period] ? 'too_few_points' : 'zero_variance'
