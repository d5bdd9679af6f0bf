/** Why a statistic is undefined: a closed list, printed in the API reference. */
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
  'no_benchmark',
  'no_trials',
  'unknown_leverage',
  'no_module',
  'not_published',
] as const

export type UndefinedReason = (typeof UNDEFINED_REASONS)[number]

/** An undefined statistic, and why. On the wire: `null`, and the reason in `undefined`. */
export type Undefined = { readonly undefinedBecause: UndefinedReason }

/** A statistic: a finite number, or the reason why it is undefined. NaN is never a figure. */
export type Figure = number | Undefined

/** The figure that is undefined for this reason. */
export const undefinedBecause = (reason: UndefinedReason): Undefined => ({ undefinedBecause: reason })

/** Whether a figure, or a node of a block of figures, is an undefined figure. */
export const isUndefined = (value: unknown): value is Undefined =>
  typeof value === 'object' && value !== null && 'undefinedBecause' in value

/** `f(figure)` if the figure is defined; otherwise the figure itself, with its reason. */
export const mapFigure = (figure: Figure, f: (value: number) => Figure): Figure =>
  isUndefined(figure) ? figure : f(figure)

/**
 * Amounts up to this are rounding errors, not losses, gains or denominators: 1e-10 percent of the account. A
 * ratio to less would be noise or not finite.
 */
export const NEGLIGIBLE = 1e-12

/** A fraction in percent: 0.123 is 12.3 %. */
export const percent = (fraction: number): number => 100 * fraction

/** The same for a figure. */
export const percentFigure = (fraction: Figure): Figure => mapFigure(fraction, percent)

/** `count` of `total` in percent; undefined if `total` is 0 (`too_few_points`). */
export const share = (count: number, total: number): Figure =>
  total > 0 ? percent(count / total) : undefinedBecause('too_few_points')

/** A block of statistics: figures and plain values, nested by group, and tables of plain cells. */
type FigureTree = { readonly [field: string]: FigureNode }
type FigureNode = Figure | string | boolean | null | FigureTable | FigureTree
type FigureTable = readonly FigureValue[]

/** The values of a block, with null for undefined figures. */
export type FigureValues = { readonly [field: string]: FigureValue }
export type FigureValue = number | string | boolean | null | FigureTable | FigureValues

export type FigureBlock = {
  readonly values: FigureValues
  readonly undefined: Readonly<Record<string, UndefinedReason>>
}

/**
 * Splits a block into its published parts: `values`, in which an undefined figure is null, and `undefined`,
 * the reason for each of them by path, as in `{'fund_dd/risk_adjusted/calmar': 'no_drawdown'}`. Throws on a
 * number that is not finite: it is a defect of the statistic, and JSON would silently turn it into a null
 * without a reason.
 */
export function splitFigures(block: FigureTree): FigureBlock {
  const reasons: Record<string, UndefinedReason> = {}
  return { values: splitTree(block, '', reasons), undefined: reasons }
}

const splitTree = (block: FigureTree, prefix: string, reasons: Record<string, UndefinedReason>) =>
  Object.fromEntries(
    Object.entries(block).map(([field, node]) => [field, splitNode(node, prefix + field, reasons)]),
  )

function splitNode(node: FigureNode, path: string, reasons: Record<string, UndefinedReason>): FigureValue {
  if (isUndefined(node)) {
    reasons[path] = node.undefinedBecause
    return null
  }
  if (typeof node === 'number') return toPublishable(node, path)
  if (typeof node !== 'object' || node === null) return node
  if (isTable(node)) return node.map((row, i) => splitNode(row, `${path}/${i}`, reasons))
  return splitTree(node, `${path}/`, reasons)
}

const isTable = (value: FigureTree | FigureTable): value is FigureTable => Array.isArray(value)

/** The number itself; negative zero becomes zero. */
function toPublishable(value: number, path: string): number {
  if (!Number.isFinite(value)) {
    throw new RangeError(`the figure ${path} must be a finite number or undefined for a reason, got ${value}`)
  }
  return value === 0 ? 0 : value
}
