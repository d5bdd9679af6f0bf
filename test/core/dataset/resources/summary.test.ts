// The book in one page, also of books that have little to say.
import { expect, test } from 'vitest'
import { forAll } from '#test/support/for-all.ts'
import { anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCorrelation, readStats, readSummary } from './evaluate.ts'

const wave = (phase: number): number[] => Array.from({ length: 60 }, (_, i) => Math.sin(phase + i) / 50)

test('the summary of twenty strategies and one that ended before they began has the bets of the twenty', () => {
  const twenty = Array.from({ length: 20 }, (_, i) => ({ id: `s${i}`, returns: wave(i) }))
  const retired = { id: 'retired', first: '2023-01-01', returns: wave(0.5) }
  const { diversification: without } = readSummary(handSnapshot(twenty)).data
  const { data, meta } = readSummary(handSnapshot([retired, ...twenty]))
  expect(data.diversification).toEqual({ ...without, coverage: { pairs: 210, pairs_defined: 190 } })
  expect(data.diversification.effective_bets).toBeGreaterThan(1)
  expect(data.equal_weight_book).toMatchObject({
    n_days: 425, // 2023-01-01 to 2024-02-29
    coverage: {
      from: '2023-01-01',
      to: '2024-02-29',
      fewest_strategies: 0,
      most_strategies: 20,
      days_with_all: 0,
      days_without_any: 305,
    },
  })
  expect(data.equal_weight_book.net_return_pct).not.toBe(0)
  expect(meta.note).toMatch(/strategies alive on that day.*pairs that have a correlation/)
})

test('the summary of strategies that share no day has a book of each in its time, no extreme pairs and a bet for each', () => {
  const book = handSnapshot([
    { id: 'alder', returns: wave(0).slice(0, 31) },
    { id: 'birch', first: '2024-03-01', returns: wave(1).slice(0, 31) },
  ])
  const { data } = readSummary(book)
  expect(data.equal_weight_book.n_days).toBe(91)
  expect(data.diversification).toMatchObject({
    mean_correlation: 0,
    most_correlated: null,
    effective_bets: 2,
  })
})

test('the summary of a version that did not count them has no coverage and no note', () => {
  const snapshot = handSnapshot([{ id: 'alder', returns: wave(0) }])
  const { coverage: _, ...book } = snapshot.book.values
  const { coverage: __, ...spread } = snapshot.diversification.values
  const { data, meta } = readSummary({
    ...snapshot,
    book: { ...snapshot.book, values: book },
    diversification: { ...snapshot.diversification, values: spread },
  })
  expect(data).toMatchObject({ equal_weight_book: { coverage: null }, diversification: { coverage: null } })
  expect(meta.note).toBeUndefined()
})

test('the summary of one strategy has a mean correlation of 0, no extreme pairs and one bet', () => {
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

test('the summary names the two extreme pairs with the cells that the matrix has', () => {
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

test('the summary of one strategy is that strategy: the book has its days, its return, its drawdown and its Sharpe', () => {
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

test('the summary covers the days from the earliest to the latest of any strategy, and has one mean correlation twice', () => {
  forAll(25, anySnapshot, snapshot => {
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
  })
})
