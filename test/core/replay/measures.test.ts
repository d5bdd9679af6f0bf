// Whether rounding explains how far given results are from their recomputation, and what trades lost at their stops.
import { expect, test } from 'vitest'
import { type Deviation, describeBias, lossesAtStops } from '#core/replay/measures.ts'
import type { ClosedTrade } from '#core/replay/resolve-trade.ts'

const BP = 1e-4

/** Excesses in basis points of equity. */
const deviations = (excesses: readonly number[], slippage = 0): Deviation[] =>
  excesses.map(excess => ({ excess: excess * BP, slippage: slippage * BP }))

/** `count` errors that are spread evenly over a tolerance, as those of rounding are, and moved by `shift`. */
const spread = (count: number, tolerance: number, shift = 0): number[] =>
  Array.from({ length: count }, (_, i) => ((2 * ((i * 7) % count)) / (count - 1) - 1) * tolerance + shift)

test('rounding errors within the tolerance are no bias, whatever their number', () => {
  for (const count of [2, 19, 20, 500]) expect(describeBias(deviations(spread(count, 1)), BP)).toBeNull()
  expect(describeBias(deviations(spread(500, 100)), 100 * BP)).toBeNull()
  expect(describeBias([], BP)).toBeNull()
})

test('results that are two basis points better than their prices are refused within a tolerance of 100, with the question whether costs are missing', () => {
  const padded = deviations(Array<number>(40).fill(2))
  expect(describeBias(padded, 100 * BP)).toBe(
    'the results are better than the prices by 2.0 bp a trade: are costs missing? Rounding explains at most 0.1 bp in 40 trades: ' +
      'correct account_return, or give what was paid in the columns fees and funding',
  )
})

test('a gain that is padded at random is refused as soon as its mean is above four standard errors', () => {
  // The deviation of the evenly spread errors is 11.6 bp, and its standard error in 100 trades 1.16 bp.
  const padded = (shift: number) => describeBias(deviations(spread(100, 20, shift)), 100 * BP)
  expect(padded(4.6)).toBeNull()
  expect(padded(4.8)).toMatch(/^the results are better than the prices by 4\.8 bp a trade: /)
})

test('less than 20 trades are judged by the tolerance, because their own scatter shows nothing', () => {
  const of = (count: number, excess: number) =>
    describeBias(deviations(Array<number>(count).fill(excess)), 10 * BP)
  expect(of(19, 5.3)).toBeNull() // 4 x 10 / sqrt(3 x 19), and 0.05
  expect(of(19, 5.4)).toContain('better')
  expect(of(20, 0.06)).toContain('better')
  expect(of(20, 0.04)).toBeNull()
})

test('results that are worse than their prices are refused too, unless the declared slippage explains them', () => {
  const worse = Array<number>(40).fill(-3)
  expect(describeBias(deviations(worse), 100 * BP)).toMatch(
    /^the results are worse than the prices by 3\.0 bp a trade: are costs counted twice\? /,
  )
  expect(describeBias(deviations(worse, 3), 100 * BP)).toBeNull()
  expect(describeBias(deviations(worse, 2.9), 100 * BP)).toContain('worse')
})

const stopped = (change: Partial<ClosedTrade>): ClosedTrade => ({
  ...{ side: 'long', entry_time: 0, entry_price: 100, exit_time: 1, exit_price: 95, exit_reason: 'stop' },
  ...{ leverage: 1, stop: 95, account_return: -0.05 },
  ...{ return_per_notional: -0.05, fees: null, funding: null, ...change },
})

const COSTS = { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.5, max_leverage: 15 }
const losses = (...trades: ClosedTrade[]) => lossesAtStops(trades, 0.02, COSTS).map(({ loss }) => loss)

test('a loss at a stop is measured in units of the base risk, of trades that ended at the stop of their entry alone', () => {
  expect(losses(stopped({}), stopped({ account_return: -0.03 }))).toEqual([2.5, 1.5])
  expect(losses(stopped({ exit_reason: 'signal' }))).toEqual([])
  expect(losses(stopped({ exit_price: 95.5 }))).toEqual([2.5])
  expect(losses(stopped({ exit_price: 95.6 }))).toEqual([]) // the stop was moved
  expect(losses(stopped({ exit_price: 90, account_return: -0.1 }))).toEqual([5])
  const short = { side: 'short', stop: 105, exit_price: 104.4 } as const
  expect(losses(stopped(short), stopped({ ...short, exit_price: 106 }))).toEqual([2.5])
})

test('without the price of the stop a loss counts and a gain does not', () => {
  const gains = [0.01, 0].map(account_return => stopped({ stop: null, account_return }))
  expect(losses(stopped({ stop: null }), ...gains)).toEqual([2.5])
})
