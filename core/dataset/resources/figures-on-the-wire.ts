import { toPercent } from '#core/contract/rounding.ts'
import type { FigureValue, FigureValues } from '#core/figures/figure.ts'

/** Computed statistics as they are published: every number rounded once, to 6 decimals. */
export const publishFigures = (values: FigureValues): FigureValues =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [field, publishFigure(value)]))

function publishFigure(value: FigureValue): FigureValue {
  if (typeof value === 'number') return toPercent(value)
  if (typeof value !== 'object' || value === null) return value
  return isList(value) ? value.map(publishFigure) : publishFigures(value)
}

const isList = (value: FigureValues | readonly FigureValue[]): value is readonly FigureValue[] =>
  Array.isArray(value)
