import { type Figure, isUndefined, type UndefinedReason } from './figure.ts'

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

function splitTree(
  block: FigureTree,
  prefix: string,
  reasons: Record<string, UndefinedReason>,
): FigureValues {
  const values: Record<string, FigureValue> = {}
  for (const [field, node] of Object.entries(block)) {
    const path = prefix + field
    if (isUndefined(node)) {
      values[field] = null
      reasons[path] = node.undefinedBecause
    } else values[field] = isTree(node) ? splitTree(node, `${path}/`, reasons) : toPlain(node, path)
  }
  return values
}

const isTree = (node: FigureNode): node is FigureTree =>
  typeof node === 'object' && node !== null && !Array.isArray(node)

function toPlain(value: FigureValue, path: string): FigureValue {
  if (typeof value === 'number') return toPublishable(value, path)
  if (typeof value !== 'object' || value === null) return value
  if (isTable(value)) return value.map((row, i) => toPlain(row, `${path}/${i}`))
  return Object.fromEntries(
    Object.entries(value).map(([field, cell]) => [field, toPlain(cell, `${path}/${field}`)]),
  )
}

const isTable = (value: FigureValues | FigureTable): value is FigureTable => Array.isArray(value)

/** The number itself; negative zero becomes zero. */
function toPublishable(value: number, path: string): number {
  if (!Number.isFinite(value)) {
    throw new RangeError(`the figure ${path} must be a finite number or undefined for a reason, got ${value}`)
  }
  return value === 0 ? 0 : value
}
