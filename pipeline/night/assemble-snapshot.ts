import { toIsoDate } from '#core/calendar.ts'
import type { DateWindow, Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { completeWeeks, equalWeightBook } from '#core/figures/derived-series.ts'
import { diversification } from '#core/figures/diversification.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { lastDay } from '#core/figures/series.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import type { Book } from '../book/book.ts'

/** Puts the computed strategies and matrices together, and computes what is true of all together. */
export function assembleSnapshot(
  { service }: Book,
  version: string,
  strategies: readonly StrategyData[],
  correlation: Snapshot['correlation'],
): Snapshot {
  const book = equalWeightBook(strategies.map(({ daily }) => daily))
  return {
    dataset: { version, ...service, window: coverage(strategies), history_restated: false },
    strategies,
    correlation,
    book: splitFigures(performanceFigures(book, completeWeeks(book), 1)),
    diversification: splitFigures(
      diversification(
        correlation.daily,
        strategies.map(({ id }) => id),
      ),
    ),
  }
}

/** From the earliest to the latest day of any series. */
const coverage = (strategies: readonly StrategyData[]): DateWindow => ({
  from: toIsoDate(Math.min(...strategies.map(({ daily }) => daily.first))),
  to: toIsoDate(Math.max(...strategies.map(({ daily }) => lastDay(daily)))),
})
