import { from, not } from 'arquero'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import type { FigureValue, FigureValues } from '#core/figures/split-figures.ts'

/** A row a strategy, a column a year: `{strategy: 'alder', 2024: 12.5, 2025: -3.1}`; percent, null where it has no day. */
export type YearlyReturns = readonly Readonly<Record<string, string | number | null>>[]

/** The calendar years of all strategies side by side, in catalogue order: the operator's first look at a night. */
export function yearlyReturns(strategies: readonly StrategyData[]): YearlyReturns {
  const years = strategies.flatMap((strategy, position) =>
    yearsOf(strategy).map(({ year, return_pct }) => ({ position, strategy: strategy.id, year, return_pct })),
  )
  if (years.length === 0) return []
  const wide = from(years.toSorted((a, b) => a.year - b.year)) // a pivot orders its columns as it meets them
    .groupby('position', 'strategy')
    .pivot('year', 'return_pct')
    .ungroup()
    .orderby('position')
    .select(not('position'))
  return wide.objects().map(nullMissing)
}

type Year = { readonly year: number; readonly return_pct: number }

/** The rows of `fund_dd.annual.table`. */
function yearsOf({ figures }: StrategyData): Year[] {
  const table = at(at(figures.values.fund_dd, 'annual'), 'table')
  return Array.isArray(table) ? table.filter(isYear) : []
}

const at = (value: FigureValue | undefined, field: string): FigureValue | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as FigureValues)[field]
    : undefined

const isYear = (row: unknown): row is Year =>
  typeof row === 'object' && row !== null && 'year' in row && 'return_pct' in row

const nullMissing = (row: object): Record<string, string | number | null> =>
  Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cell ?? null]))
