import type { EpochDay } from '#core/calendar.ts'
import { toPublishedSeries } from '#core/contract/rounding.ts'
import type { Benchmark, StrategyData } from '#core/dataset/snapshot.ts'
import { lastDay, sliceSeries } from '#core/figures/series.ts'
import { buyAndHold } from '#core/replay/buy-and-hold.ts'
import type { BarsFile, Book } from '../book/book.ts'
import { toShared } from '../book/cell.ts'
import { cutBars } from './data-window.ts'

/**
 * Holding each instrument of the book that has bars, over all its bars up to the last public day, as published. Empty if
 * the catalogue turns the comparison off.
 */
export function benchmarksOf({ service, strategies, bars }: Book, last: EpochDay): Benchmark[] {
  if (!service.benchmark) return []
  const instruments = [...new Set(strategies.map(({ instrument }) => instrument))]
  return instruments.flatMap(instrument => {
    const files = [...bars].filter(([key]) => key.startsWith(`${instrument}/`)).map(([, file]) => file)
    const [longest] = files.sort(byReach)
    if (longest === undefined) return []
    const daily = toPublishedSeries(buyAndHold(cutBars(longest.bars, last)))
    return [{ instrument, daily: { ...daily, values: toShared(daily.values) } }]
  })
}

/** The bars that begin first, then the finest. */
const byReach = ({ bars: a }: BarsFile, { bars: b }: BarsFile): number =>
  a.t[0]! - b.t[0]! || a.timeframeMs - b.timeframeMs

/** Each from the first to the last day of the strategies on its instrument. */
export const publishedBenchmarks = (
  benchmarks: readonly Benchmark[],
  strategies: readonly StrategyData[],
): Benchmark[] =>
  benchmarks.map(({ instrument, daily }) => {
    const own = strategies.filter(strategy => strategy.instrument === instrument)
    const from = Math.min(...own.map(strategy => strategy.daily.first))
    const to = Math.max(...own.map(strategy => lastDay(strategy.daily)))
    return { instrument, daily: sliceSeries(daily, from, to) }
  })
