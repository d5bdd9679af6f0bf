import { drawdowns } from './drawdown.ts'
import { equityFromBaseline, ruinIndex } from './equity-curve.ts'
import { assertFinite } from './finite-series.ts'
import { assertPositive } from './positive.ts'
import type { Series } from './series.ts'

/** An account that followed a series at `k` times its base risk: what every statistic of the series starts from. */
export type AccountPath = {
  /** Base returns, never multiplied: a ratio that ignores `k` is then the same to the bit at every risk. */
  readonly daily: Series
  /** Complete ISO weeks of the base returns. */
  readonly weekly: Series
  readonly k: number
  /** Equity with its baseline: `n + 1` points. */
  readonly curve: Float64Array
  /** Drawdown of each of the `n` days. */
  readonly depths: Float64Array
  /** The index of the day that took everything, or null. */
  readonly ruinDay: number | null
}

/**
 * Follows a daily series at `k` times its base risk. Throws where the series are not what they are said to be, a return
 * is not finite, or `k` is not a positive number.
 */
export function accountPath(daily: Series, weekly: Series, k: number): AccountPath {
  assertPeriod(daily, 'daily')
  assertPeriod(weekly, 'weekly')
  assertPositive(k, 'the risk factor k = risk_pct / base_risk_pct')
  assertFinite(weekly)
  assertFinite(daily)
  const curve = equityFromBaseline(daily.values, k)
  const ruin = ruinIndex(curve)
  return { daily, weekly, k, curve, depths: drawdowns(curve), ruinDay: ruin === null ? null : ruin - 1 }
}

function assertPeriod({ period }: Series, expected: Series['period']): void {
  if (period !== expected) {
    throw new RangeError(
      `the figures need a ${expected} series here, got a ${period} one; pass the daily series and its complete weeks, ` +
        'in this order',
    )
  }
}
