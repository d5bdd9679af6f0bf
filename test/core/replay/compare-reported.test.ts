// Reported returns beside a ledger: where no trade is open, both must have grown alike.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { compareReported } from '#core/replay/compare-reported.ts'
import type { ResolvedTrade } from '#core/replay/resolve-trade.ts'

const FIRST = 19_723
const BP = 1e-4

/** A trade between two instants, in days from the first on. */
const trade = (entry: number, exit: number | null, result: number, given: Partial<ResolvedTrade> = {}) => ({
  ...{ side: 'long' as const, entry_time: (FIRST + entry) * DAY_MS, entry_price: 100 },
  exit_time: exit === null ? null : (FIRST + exit) * DAY_MS,
  ...{ exit_price: 101, exit_reason: 'signal' as const, leverage: 1, stop: null },
  account_return: exit === null ? null : result,
  ...{ return_per_notional: result, fees: null, funding: null },
  ...given,
})

const TERMS = {
  ...{ feeRate: 0, baseRisk: 0.02, maxLeverage: 15 },
  funding: { t: new Float64Array(0), paid: new Float64Array(0) },
}

const compare = (returns: readonly number[], ...trades: ResolvedTrade[]) =>
  compareReported({ period: 'daily', first: FIRST, values: Float64Array.from(returns) }, trades, TERMS, BP)

test('reported returns agree with a ledger whose trades make them, marked on any day in between', () => {
  expect(compare([0, 0.02, 0.01 / 1.02, 0], trade(1.5, 2.5, 0.03))).toEqual([])
  expect(compare([0.01, -0.02, 0], trade(0.25, 0.5, 0.01), trade(1.25, 1.5, -0.02))).toEqual([])
})

test('a day that the ledger does not make is found with both returns, and a tolerance of each day is allowed', () => {
  const own = trade(1.5, 2.5, 0.03)
  expect(compare([0, 0.02, 0.01 / 1.02, 0.0002], own)).toEqual([
    { from: FIRST + 3, to: FIRST + 3, returned: expect.closeTo(0.0002, 12), ledger: 0 },
  ])
  expect(compare([0.00009, 0.02, 0.01 / 1.02, 0], own)).toEqual([])
  expect(compare([0, 0.02, 0.0101, 0], own)).toEqual([
    {
      from: FIRST + 1,
      to: FIRST + 2,
      returned: expect.closeTo(0.030302, 9),
      ledger: expect.closeTo(0.03, 12),
    },
  ])
})

test('days with an open trade are not compared, at the start and at the end', () => {
  expect(compare([0.5, 0, 0], trade(-1.5, 0.5, 0.03))).toEqual([])
  expect(compare([0, 0.5, 0.5], trade(1.5, null, 0))).toEqual([])
})

/** Reported days of 1 %. */
const days = (n: number) => Array<number>(n).fill(0.01)

test('a position at every midnight of 20 days since the first trade is found at its first day, which stays, with what was reported', () => {
  const hidden = (from: number, n: number) => [
    {
      ...{ from: FIRST + from, to: FIRST + from, ledger: Number.NaN },
      returned: expect.closeTo(1.01 ** n - 1, 12),
    },
  ]
  const turns = [trade(1.5, 2.5, 0), trade(2.5, 20.5, 0), trade(20.5, null, 0)]
  expect(compare([0, ...days(19)], ...turns)).toEqual([])
  expect(compare([0, ...days(20)], ...turns)).toEqual(hidden(1, 20))
  expect(compare([0, ...days(30)], ...turns)).toEqual(hidden(1, 30))
  expect(compare(days(20), trade(0.5, null, 0))).toEqual(hidden(0, 20))
  expect(compare([0, ...days(20)], trade(1.5, null, 0))).toEqual([])
  expect(compare([0, ...days(20), 0], trade(0.5, 19.5, 0.01), trade(19.5, 20.5, 1.01 ** 19 - 1))).toEqual([])
  expect(compare([...days(20), 0], trade(-1.5, 1, 0), trade(1, 19.5, 0))).toEqual([])
})

test('returns that book each trade at its exit are compared at every midnight, with a position or without', () => {
  const turns = [trade(0.5, 1.5, 0.02), trade(1.5, 2.5, -0.01), trade(2.5, null, 0)]
  const rest = Array<number>(20).fill(0)
  expect(compare([0, 0.02, -0.01, ...rest], ...turns)).toEqual([])
  expect(compare([0, 0.02, 0.03, ...rest], ...turns)).toHaveLength(1)
})

test('a ledger without a trade until the end of the returns has nothing to compare but idle days', () => {
  expect(compare([0, 0])).toEqual([])
  expect(compare([0, 0], trade(4.5, 5.5, 0.1))).toEqual([])
})

test('a trade beside others may be sized on what is realised or on what the open ones are worth', () => {
  const open = trade(0.25, 0.75, 0.5, { entry_price: 100, account_return: 0.5 })
  const second = trade(0.5, 0.75, 0.1, { entry_price: 150 })
  expect(compare([0.6], open, second)).toEqual([])
  expect(compare([0.65], open, second)).toEqual([])
  expect(compare([0.62], open, second)).toHaveLength(1)
})

test('trades of several instruments, whose prices value no other one, agree by what is realised', () => {
  const other = trade(0.5, 0.75, 0, { entry_price: 0.001 })
  expect(compare([0, 0.02], trade(0.25, 1.5, 0.02), other)).toEqual([])
  expect(compare([0.07, 0], trade(0.25, 1.5, 0.02), other)).toHaveLength(1)
})
