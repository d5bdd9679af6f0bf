// The book in one page, also of books that have little to say.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCorrelation, readStats, readSummary } from './evaluate.ts'

const wave = (phase: number): number[] => Array.from({ length: 60 }, (_, i) => Math.sin(phase + i) / 50)

describe('the summary', () => {
  test('of strategies that share no day has a book of 0 days that gained and lost nothing, and ratios of null', () => {
    const book = handSnapshot([
      { id: 'alder', returns: [0.01, 0.02] },
      { id: 'birch', first: '2024-03-01', returns: [0.01] },
    ])
    expect(readSummary(book).data.equal_weight_book).toMatchObject({
      n_days: 0,
      net_return_pct: 0,
      cagr_pct: null,
      max_drawdown_pct: 0,
      sharpe_daily_annualized: null,
    })
  })

  test('of one strategy has a mean correlation of 0, no extreme pairs and one bet', () => {
    const { data } = readSummary(handSnapshot([{ id: 'alder', returns: wave(0) }]))
    expect(data.strategy_count).toBe(1)
    expect(data.mean_pairwise_correlation).toBe(0)
    expect(data.diversification).toMatchObject({
      mean_correlation: 0,
      most_correlated: null,
      least_correlated: null,
      effective_bets: 1,
    })
  })

  test('names the two extreme pairs with the cells that the matrix has', () => {
    const book = handSnapshot([
      { id: 'alder', returns: wave(0) },
      { id: 'birch', returns: wave(0.3) },
      { id: 'cedar', returns: wave(2) },
    ])
    const { matrix } = readCorrelation(book).data
    const { most_correlated, least_correlated } = readSummary(book).data.diversification
    expect(most_correlated).toEqual({ pair: ['alder', 'birch'], correlation: matrix[0]![1] })
    expect(least_correlated).toEqual({ pair: ['alder', 'cedar'], correlation: matrix[0]![2] })
  })

  test('of one strategy is that strategy: the book has its days, its return, its drawdown and its Sharpe', () => {
    const book = handSnapshot([{ id: 'alder', returns: wave(1) }])
    const stats = readStats(book, { sid: 'alder' }).data
    expect(readSummary(book).data.equal_weight_book).toMatchObject({
      n_days: stats.n_days,
      net_return_pct: stats.net_return_pct,
      cagr_pct: stats.cagr_pct,
      max_drawdown_pct: stats.max_drawdown_pct,
      sharpe_daily_annualized: stats.sharpe_daily_annualized,
    })
  })

  test('covers the days from the earliest to the latest of any strategy, and has one mean correlation twice', () => {
    fc.assert(
      fc.property(anySnapshot, snapshot => {
        const { data } = readSummary(snapshot)
        const windows = snapshot.strategies.map(({ window }) => window)
        expect(data.coverage).toEqual({
          from: windows.map(({ from }) => from).sort()[0],
          to: windows
            .map(({ to }) => to)
            .sort()
            .at(-1),
        })
        expect(data.strategy_count).toBe(windows.length)
        expect(data.mean_pairwise_correlation).toBe(data.diversification.mean_correlation)
      }),
      { numRuns: 40 },
    )
  })
})
