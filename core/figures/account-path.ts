import { drawdowns } from './drawdown.ts'
import { type Figure, isUndefined, type UndefinedReason, undefinedBecause } from './figure.ts'
import { assertFinite, DAYS_PER_YEAR, NO_DAYS, type Series } from './series.ts'

/** An account that follows a series at `k` times its base risk: the input of every statistic of it. */
export type AccountPath = {
  /**
   * Base returns, not multiplied by `k`: a ratio that ignores `k` is then bit for bit the same at every risk
   * level.
   */
  readonly daily: Series
  /** Complete ISO weeks of the base returns. */
  readonly weekly: Series
  readonly k: number
  /** Equity with its baseline: `n + 1` points. */
  readonly curve: Float64Array
  /** Drawdown of each of the `n` days. */
  readonly depths: Float64Array
  /** The index of the day of ruin, or null. */
  readonly ruinDay: number | null
}

/** The path of a daily series at `k` times its base risk. Throws if a return is not finite, or `k` not a positive number. */
export function accountPath(daily: Series, weekly: Series, k: number): AccountPath {
  assertPositive(k, 'the risk factor k = risk_pct / base_risk_pct')
  assertFinite(weekly)
  assertFinite(daily)
  const curve = equityFromBaseline(daily.values, k)
  const ruinDay = curve.at(-1) === 0 ? curve.indexOf(0) - 1 : null // an equity too small for a double is ruin, too
  return { daily, weekly, k, curve, depths: drawdowns(curve), ruinDay }
}

/** The path of a benchmark, a part of a history or a replay, of which no figure is of its weeks. */
export const dailyPath = (daily: Series, k = 1): AccountPath =>
  accountPath(daily, { ...NO_DAYS, period: 'weekly' }, k)

/** Throws unless `value` is a positive finite number. `what` names it in the error. */
export function assertPositive(value: number, what: string): void {
  if (value > 0 && value < Infinity) return
  throw new RangeError(`${what} must be a positive finite number, got ${value}`)
}

/** The block itself or, if the account is ruined, the same fields undefined (`ruin`). */
export function unlessRuined<Field extends string>({ ruinDay }: AccountPath, block: Record<Field, Figure>) {
  return ruinDay === null ? block : allUndefined(block, 'ruin')
}

/** The fields of a block, all undefined for the same reason. */
export function allUndefined<Field extends string>(block: Record<Field, Figure>, reason: UndefinedReason) {
  const none = { ...block }
  for (const field in none) none[field] = undefinedBecause(reason)
  return none
}

/** With fewer than two days the reason of an undefined figure is always `too_few_points`. */
export const orTooFew = ({ daily }: AccountPath, figure: Figure): Figure =>
  isUndefined(figure) && daily.values.length < 2 ? undefinedBecause('too_few_points') : figure

/**
 * Equity compounded from simple returns, `E_i = E_{i-1} * (1 + k * r_i)` with `E_0 = 1` on the day before the
 * first return: point `i` of the result is the equity at the end of the day of return `i`.
 *
 * Ruin: from the first day with `1 + k * r_i <= 0` on the equity is 0. Throws a RangeError if a return is not
 * finite, or if a multiplied return or the equity is larger than a published number may be.
 *
 * @param returns simple returns, fractions, gapless
 * @param k the factor on every return; 1 leaves them exactly as they are
 */
export const equityCurve = (returns: Float64Array, k = 1): Float64Array =>
  equityFromBaseline(returns, k).subarray(1) // a view: copying would cost more than the one number it saves

/**
 * The same curve with its baseline: `n + 1` points, of which point 0 is `E_0 = 1` and point `i` the equity
 * after `i` days. The baseline counts as a point: a loss on the first day is a drawdown; windows may begin at
 * the baseline.
 */
export function equityFromBaseline(returns: Float64Array, k = 1): Float64Array {
  const curve = new Float64Array(returns.length + 1)
  let level = 1
  curve[0] = level
  for (let i = 0; i < returns.length; i++) {
    const growth = 1 + k * returns[i]!
    level = growth > 0 ? level * growth : 0
    const isPublishable = Math.abs(growth) <= LARGEST_PUBLISHED && level <= LARGEST_PUBLISHED // false for NaN
    if (!isPublishable) throw notCompoundable(returns[i]!, i, k)
    curve[i + 1] = level
  }
  return curve
}

/** A margin below the range of a double, for percent and for rounding to ten digits. */
export const LARGEST_PUBLISHED = 1e306

const notCompoundable = (value: number, i: number, k: number): RangeError =>
  new RangeError(
    `return ${i} of the series times ${k} must be finite and leave the equity finite, got ${value}; ` +
      'correct the source of the series; returns are never filled in or skipped',
  )

/**
 * Compound annual growth rate, `E_n^(365 / n) - 1`, a fraction; -1 for an account without equity. Undefined
 * on fewer than 365 days (`less_than_one_year`): a month extrapolated to a year is meaningless.
 *
 * @param curve equity with its baseline: `n + 1` points
 */
export function cagr(curve: Float64Array): Figure {
  const n = curve.length - 1
  if (n < DAYS_PER_YEAR) return undefinedBecause('less_than_one_year')
  return curve[n]! ** (DAYS_PER_YEAR / n) - 1
}

/**
 * Return over the last `days` calendar days, `E_n / E_{n-days} - 1`, a fraction; the window may begin at the
 * baseline. Undefined if the series is shorter (`too_few_points`).
 *
 * @param curve equity with its baseline, without ruin
 */
export function trailingReturn(curve: Float64Array, days: number): Figure {
  const last = curve.length - 1
  return last < days ? undefinedBecause('too_few_points') : curve[last]! / curve[last - days]! - 1
}

/** The worst return over any `days` consecutive calendar days, a fraction; undefined in the same cases. */
export function worstReturn(curve: Float64Array, days: number): Figure {
  if (curve.length <= days) return undefinedBecause('too_few_points')
  let worst = Infinity
  for (let i = days; i < curve.length; i++) worst = Math.min(worst, curve[i]! / curve[i - days]!)
  return worst - 1
}
