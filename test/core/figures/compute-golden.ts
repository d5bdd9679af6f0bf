// What the golden statistics hold, computed by the code under test and laid out like the golden files.

import { type CorrelationMatrix, correlationMatrix, MIN_OVERLAP } from '#core/figures/correlation.ts'
import { completeWeeks, equalWeightBook } from '#core/figures/derived-series.ts'
import { type Diversification, diversification, type NamedPair } from '#core/figures/diversification.ts'
import { isUndefined, type Undefined } from '#core/figures/figure.ts'
import { DAYS_PER_YEAR, MONTHS_PER_YEAR, type Series, WEEKS_PER_YEAR } from '#core/figures/series.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { Fixture } from './golden-statistics.ts'

const ANY_RISK = 0.02 // the goldens have no figure in R

export const computeGolden = (fixture: Fixture, trades: string | null, k: number) => ({
  meta: {
    returns: fixture.returns,
    trades,
    k,
    periods_per_year: DAYS_PER_YEAR,
    weeks_per_year: WEEKS_PER_YEAR,
    months_per_year: MONTHS_PER_YEAR,
    min_cagr_days: DAYS_PER_YEAR,
    weekly_rescale: 'scaled',
    min_overlap: { ...MIN_OVERLAP },
  },
  base: computeBlock(fixture, 1),
  rescaled: { k, ...computeBlock(fixture, k) },
})

function computeBlock({ series, trades }: Fixture, k: number) {
  const names = [...series.keys()]
  const daily = [...series.values()]
  const matrix = correlationMatrix(daily)
  const book = equalWeightBook(daily)
  return {
    strategies: Object.fromEntries(
      names.map((name, i) => [name, compute(daily[i]!, trades.get(name) ?? [], k)]),
    ),
    correlation: {
      daily: { ...describe(matrix, names), min_overlap: MIN_OVERLAP.daily },
      weekly: {
        ...describe(correlationMatrix(daily.map(completeWeeks)), names),
        min_overlap: MIN_OVERLAP.weekly,
      },
    },
    book: compute(book, [], k),
    summary: {
      n_strategies: names.length,
      common_days: book.values.length,
      ...summarize(diversification(matrix, names)),
    },
  }
}

function compute(daily: Series, trades: Parameters<typeof strategyFigures>[0]['trades'], k: number) {
  const weekly = completeWeeks(daily)
  const split = splitFigures(strategyFigures({ daily, weekly, trades, k, base_risk_pct: ANY_RISK }))
  return { ...split.values, undefined: split.undefined }
}

const describe = (matrix: CorrelationMatrix, names: readonly string[]) => ({
  matrix: Object.fromEntries(
    names.map((row, i) => [
      row,
      Object.fromEntries(names.map((column, j) => [column, cellOf(matrix, i, j)])),
    ]),
  ),
  ...summarize(diversification(matrix, names)),
})

function cellOf({ rho, size }: CorrelationMatrix, i: number, j: number): number | null {
  const value = rho[i * size + j]!
  return Number.isNaN(value) ? null : value
}

/** The goldens leave the number of strategies used open where there is nothing that it is the number of. */
const summarize = (figures: Diversification) => ({
  n_strategies_used: figures.n_strategies_used < 2 ? null : figures.n_strategies_used,
  mean_pairwise: isUndefined(figures.mean_correlation) ? null : figures.mean_correlation,
  most_correlated: toGoldenPair(figures.most_correlated),
  least_correlated: toGoldenPair(figures.least_correlated),
  effective_bets: isUndefined(figures.effective_bets) ? null : figures.effective_bets,
})

const toGoldenPair = (found: NamedPair | Undefined) =>
  isUndefined(found) ? null : { a: found.pair[0], b: found.pair[1], rho: found.correlation, n: found.overlap }
