/** Why a statistic does not exist. One closed list; the API reference prints it. */
export const UNDEFINED_REASONS = [
  'too_few_points',
  'less_than_one_year',
  'zero_variance',
  'no_losses',
  'no_wins',
  'no_drawdown',
  'no_trades',
  'zero_denominator',
  'non_positive_sharpe',
  'ruin',
] as const

export type UndefinedReason = (typeof UNDEFINED_REASONS)[number]

/** A statistic that does not exist, and why. On the wire: `null`, and the reason in `undefined`. */
export type Undefined = { readonly undefinedBecause: UndefinedReason }

/** A statistic: a finite number, or the reason why there is none. NaN is never a figure. */
export type Figure = number | Undefined

/** The figure that does not exist, for this reason. */
export const undefinedBecause = (reason: UndefinedReason): Undefined => ({ undefinedBecause: reason })

/** Whether a figure, or a node of a block of figures, is one that does not exist. */
export const isUndefined = (value: unknown): value is Undefined =>
  typeof value === 'object' && value !== null && 'undefinedBecause' in value

/** `f(figure)` where the figure exists; otherwise the same reason, handed on. */
export const mapFigure = (figure: Figure, f: (value: number) => Figure): Figure =>
  isUndefined(figure) ? figure : f(figure)

/**
 * Amounts up to this are rounding, not losses, gains or denominators: a hundred-billionth of a percent of the account.
 * A ratio to less would be noise, or not finite.
 */
export const NEGLIGIBLE = 1e-12

/** A fraction as percent: 0.123 is 12.3 %. */
export const percent = (fraction: number): number => 100 * fraction

/** The same for a figure. */
export const percentFigure = (fraction: Figure): Figure => mapFigure(fraction, percent)

/** `count` of `total` as percent; undefined of nothing (`too_few_points`). */
export const share = (count: number, total: number): Figure =>
  total > 0 ? percent(count / total) : undefinedBecause('too_few_points')
