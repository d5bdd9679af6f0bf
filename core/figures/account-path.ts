import { drawdowns } from './drawdown.ts'
import { equityFromBaseline, ruinIndex } from './equity-curve.ts'
import { type Figure, isUndefined, type UndefinedReason, undefinedBecause } from './figure.ts'
import { assertFinite, type Series } from './series.ts'

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
  const ruin = ruinIndex(curve)
  return { daily, weekly, k, curve, depths: drawdowns(curve), ruinDay: ruin === null ? null : ruin - 1 }
}

const NO_WEEKS: Series = { period: 'weekly', first: 0, values: new Float64Array(0) }

/** The path of a benchmark, a part of a history or a replay, of which no figure is of its weeks. */
export const dailyPath = (daily: Series, k = 1): AccountPath => accountPath(daily, NO_WEEKS, k)

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
