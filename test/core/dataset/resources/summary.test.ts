// The book in one page, also of books that have little to say.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { tradeList } from '#core/dataset/resources/trades.ts'
import { forAll } from '#test/support/for-all.ts'
import { anySnapshot } from '../../../support/books/arbitrary-snapshot.ts'
import { type HandTrade, handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCorrelation, readStats, readSummary, readTrades, textOf } from './evaluate.ts'

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
      ...{ from: '2023-01-01', to: '2024-02-29', fewest_strategies: 0, most_strategies: 20 },
      ...{ days_with_all: 0, days_without_any: 305 },
    },
  })
  expect(data.equal_weight_book.net_return_pct).not.toBe(0)
  expect(meta.note).toMatch(/strategies alive on that day.*pairs that have a correlation/)
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

test('the summary names the two extreme pairs with the cells that the matrix has', () => {
  const phases = Object.entries({ alder: 0, birch: 0.3, cedar: 2 })
  const book = handSnapshot(phases.map(([id, phase]) => ({ id, returns: wave(phase) })))
  const { matrix } = readCorrelation(book).data
  const { most_correlated, least_correlated } = readSummary(book).data.diversification
  expect(most_correlated).toEqual({ pair: ['alder', 'birch'], correlation: matrix[0]![1] })
  expect(least_correlated).toEqual({ pair: ['alder', 'cedar'], correlation: matrix[0]![2] })
})

test('the summary of one strategy is that strategy: the book has its days, its return, its drawdown and its Sharpe', () => {
  const book = handSnapshot([{ id: 'alder', returns: wave(1) }])
  const stats = readStats(book, { sid: 'alder' }).data
  const { n_days, net_return_pct, cagr_pct, max_drawdown_pct, sharpe_daily_annualized } = stats
  expect(readSummary(book).data.equal_weight_book).toMatchObject({
    ...{ n_days, net_return_pct, cagr_pct, max_drawdown_pct, sharpe_daily_annualized },
  })
})

test('the summary covers the days from the earliest to the latest of any strategy, and has one mean correlation twice', () => {
  forAll(25, anySnapshot, snapshot => {
    const { data } = readSummary(snapshot)
    const windows = snapshot.strategies.map(({ window }) => window)
    const [from] = windows.map(({ from }) => from).sort()
    const [to] = windows.map(window => window.to).sort((a, b) => (a! < b! ? 1 : -1))
    expect(data.coverage).toEqual({ from, to })
    expect(data.strategy_count).toBe(windows.length)
    expect(data.mean_pairwise_correlation).toBe(data.diversification.mean_correlation)
  })
})

const ENTRY = Date.parse('2024-01-02T00:00:00Z')

const trade = (changes: Partial<HandTrade>): HandTrade => ({
  entry_time: ENTRY,
  exit_time: ENTRY + DAY_MS / 3,
  account_return: 0.01,
  ...changes,
})

const bookOf = (trades: readonly HandTrade[], tick_size = 0.5) =>
  handSnapshot([{ id: 'alder', returns: [0.01], tick_size, trades }])

const ledgerOf = (trades: readonly HandTrade[], tick_size?: number) =>
  readTrades(bookOf(trades, tick_size), { sid: 'alder' }).data

test('a trade shows its return per unit of notional in percent, its length in days, and times in milliseconds', () => {
  const given = { side: 'short', notional_return: 0.0123456789, account_return: 0.02, leverage: 2 } as const
  expect(ledgerOf([trade(given)])).toEqual([
    {
      ...{ side: 'short', entry_time: ENTRY, entry_price: 100, exit_time: ENTRY + DAY_MS / 3 },
      ...{ exit_price: 100, duration_days: 0.333333, return_pct: 1.234568 },
      ...{ result: 'win', exit_reason: 'signal', live: null },
    },
  ])
})

test.each([
  [0.01, 'win'],
  [-0.01, 'loss'],
  [0, 'breakeven'],
])('a trade with an account return of %d is a %s', (account_return, result) => {
  expect(ledgerOf([trade({ account_return })])[0]?.result).toBe(result)
})

test.each([
  [0.5, 43_210.5],
  [0.25, 43_210.5],
  [1, 43_210],
  [0.00001, 43_210.45678],
])('a trade at a tick of %d has prices rounded to it', (tick, price) => {
  expect(ledgerOf([trade({ entry_price: 43_210.456_78 })], tick)[0]?.entry_price).toBe(price)
})

test('a trade shows no stop, no leverage and no account return, in neither text format', () => {
  const book = bookOf([trade({ stop: 91.25, leverage: 7.5, account_return: 0.0321, notional_return: 0.5 })])
  for (const format of ['json', 'csv'] as const) {
    const { text } = textOf('trades', book, { sid: 'alder', format })
    expect(text).not.toMatch(/91\.25|7\.5|3\.21|0\.0321|leverage|"stop"|account/)
  }
})

test('a ledger lets an outsider recompute the notional profit factor to the last digit', () => {
  const size = fc.double({ min: 0.0005, max: 0.3, noNaN: true })
  const result = fc.tuple(size, fc.boolean()).map(([by, isGain]) => (isGain ? by : -by))
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  forAll(fc.array(result, { maxLength: 50 }), results => {
    const trades = results.map(notional_return => trade({ notional_return }))
    const returns = ledgerOf(trades).map(({ return_pct }) => return_pct)
    const losses = -sum(returns.filter(value => value < 0))
    const factor = sum(returns.filter(value => value > 0)) / losses
    const { data } = readStats(bookOf(trades), { sid: 'alder' })
    expect(data.profit_factor_notional).toBe(losses === 0 ? null : Number(factor.toFixed(6)))
    expect(data.fund_dd.trades.profit_factor_notional).toBe(data.profit_factor_notional)
    expect(data.fund_dd.trades.long.profit_factor_notional).toBe(data.profit_factor_notional)
  })
})

test('the note and the reference of a ledger promise no more than it can hold without leverage', () => {
  const book = handSnapshot([{ id: 'alder', returns: [0.01] }])
  const { note } = readTrades(book, { sid: 'alder' }).meta
  expect(note).toContain('after all costs, or after commission alone if the ledger has no other costs')
  expect(note).toContain('result is the sign of what the trade did to the equity')
  const { return_pct, result } = tradeList().element.shape
  expect(return_pct.description).toContain('after commission alone if the ledger has no other costs')
  expect(result.description).toBe('Sign of what the trade did to the equity, as the win rate counts it.')
})
