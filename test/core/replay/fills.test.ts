import { expect, test } from 'vitest'
import type { Costs } from '#core/replay/trade.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { near } from '#test/support/near.ts'
import {
  COSTLY,
  equityOf,
  FREE,
  flatDay,
  kinds,
  only,
  run,
  type Script,
  slot,
  still,
  stillBars,
} from './hand.ts'

const LONG = { act: 'long', stop: 90 }
const SHORT = { act: 'short', stop: 110 }
const FLAT = { act: 'flat', why: 'signal' }

/** What an open trade has of its exit. */
const NEVER = { exit_time: null, exit_price: null, exit_reason: null, account_return: null }

const ENTERED = [still(100), [101, 105, 101, 105]] as const
// Close 100, stop 90: qty = 1 * 0.02 / 10 = 0.002. Open 101, slippage 1: fill 102, leverage 0.002 * 102 = 0.204.
const FILLED = { side: 'long', entry_time: slot(1), entry_price: 102, stop: 90, leverage: 0.204 }
const OUT = { exit_time: slot(2), exit_price: 109, exit_reason: 'signal', account_return: 0.013578 }
const JUMP = [still(100), still(100), [105, 105, 50, 60]] as const
const GAP = [still(100), still(100), null, null, still(120)]

// Commission of the long 0.002 * 102 * 0.001 = 0.000204; at the close 105: 1 - 0.000204 + 0.002 * 3. Of the short, filled at
// 99 - 1: 1 - 0.002 * 98 * 0.001 + 0.002 * 3. Out at 110 - 1 = 109: 0.002 * 7 - 0.000204 - 0.002 * 109 * 0.001 = 0.013578.
test.each(casesOf<[string, Script['bars'], Script['decisions'], Costs, object, number]>`
an entry with slippage and commission against the account -> ${ENTERED} -> ${{ 0: LONG }} -> ${COSTLY} -> ${{ ...NEVER, ...FILLED }} -> ${1.005796}
an entry of a short below the open -> ${[still(100), [99, 99, 95, 95]]} -> ${{ 0: SHORT }} -> ${COSTLY} -> ${{ side: 'short', entry_price: 98 }} -> ${1.005804}
an entry exactly at the leverage cap, 0.02 / (10 / 100) -> ${[still(100), still(100)]} -> ${{ 0: LONG }} -> ${{ ...FREE, max_leverage: 0.2 }} -> ${{ leverage: 0.2 }} -> ${1}
an ordered exit less slippage and commission, its result net of both sides -> ${[...ENTERED, [110, 111, 110, 111]]} -> ${{ 0: LONG, 1: FLAT }} -> ${COSTLY} -> ${OUT} -> ${1.013578}
an ordered exit with the reason that the strategy gave, across a gap -> ${GAP} -> ${{ 0: LONG, 1: { act: 'flat', why: 'time' } }} -> ${FREE} -> ${{ exit_time: slot(4), exit_price: 120, exit_reason: 'time' }} -> ${1.04}
an ordered exit after which a protective stop does nothing -> ${JUMP} -> ${{ 0: LONG, 1: FLAT }} -> ${FREE} -> ${{ exit_price: 105, exit_reason: 'signal' }} -> ${1.01}`)(
  'a replay fills at the next open: %s',
  (_, bars, decisions, costs, filled, equity) => {
    const { result } = run({ bars, decisions: decisions!, costs })
    expect(only(result.trades)).toMatchObject(near(filled, 1e-14) as object)
    expect(equityOf(result).at(-1)).toBeCloseTo(equity, 14)
  },
)

test('an entry is ordered at the deciding close and opened at the next open, each with its price, stop and leverage', () => {
  expect(run({ bars: ENTERED, decisions: { 0: LONG }, costs: COSTLY }).events).toMatchObject([
    { kind: 'ordered', t: slot(0), act: 'long', price: 100, stop: 90, leverage: 0.2 },
    { kind: 'opened', t: slot(1), act: 'long', price: 102, stop: 90 },
  ])
})

test('an entry is sized on the equity at the deciding close, and its leverage is on the equity at the fill', () => {
  // The first trade: qty 0.002, 100 to 150: equity 1.1. The second is decided at the close 150 with stop
  // 100: qty = 1.1 * 0.02 / 50 = 0.00044, filled at 200: leverage 0.00044 * 200 / 1.1 = 0.08.
  const { result } = run({
    bars: [still(100), [100, 150, 100, 150], still(150), [200, 200, 200, 200]],
    decisions: { 0: LONG, 1: FLAT, 2: { act: 'long', stop: 100 } },
  })
  expect(result.trades[0]!.account_return).toBeCloseTo(0.1, 15)
  expect(result.state.unit).toBeCloseTo(1.1, 15)
  expect(result.state.open!.qty).toBeCloseTo(0.00044 / 1.1, 16)
  expect(result.trades[1]!.leverage).toBeCloseTo(0.08, 15)
})

test('an entry over the leverage cap is refused and counted, with its bar and leverage', () => {
  // 0.02 / ((100 - 99.9) / 100) = 20.
  const { result, events } = run({
    bars: [still(100), still(100)],
    decisions: { 0: { act: 'long', stop: 99.9 } },
  })
  expect(kinds(events)).toEqual(['refused'])
  expect(events).toMatchObject([
    { t: slot(0), act: 'long', stop: 99.9, price: 100, leverage: expect.closeTo(20, 8) },
  ])
  expect(result.state).toMatchObject({ entries_refused: 1, open: null, equity: 1 })
  expect(result.trades).toEqual([])
})

// What a long loses is 0.002 a unit of price.
test.each([
  ['that the bar touches fills at the stop', LONG, [still(100), [95, 96, 89, 94]], 90, -0.02],
  ['that the bar reaches exactly fills at the stop', LONG, [still(100), [95, 95, 90, 95]], 90, -0.02],
  ['that the bar misses by a tick does not fill', LONG, [still(100), [95, 95, 90.5, 95]], null, null],
  ['of a short fills from below', SHORT, [still(100), [100, 111, 100, 101]], 110, -0.02],
  ['of a long that the bar opened beyond fills at the open', LONG, [still(100), still(80)], 80, -0.04],
  ['of a short that the bar opened beyond fills at the open', SHORT, [still(100), still(120)], 120, -0.04],
  ['that the entry bar touches fills on it', LONG, [[100, 100, 85, 95]], 90, -0.02],
] as const)('in a replay a protective stop %s', (_, decision, after, exit_price, account_return) => {
  const { result } = run({ bars: [still(100), ...after], decisions: { 0: decision } })
  const filled = { entry_time: slot(1), exit_time: slot(after.length), exit_price, exit_reason: 'stop' }
  expect(only(result.trades)).toMatchObject(exit_price === null ? NEVER : filled)
  if (account_return !== null) expect(result.trades[0]!.account_return).toBeCloseTo(account_return, 15)
})

test.each([
  // Entry 101, exit 90 - 1 = 89: R = 0.002 * -12.
  ['touched in a later bar', [still(100), [95, 96, 89, 94]], 101, 89, -0.024],
  // Open 80, stop 90: bought at 81, sold at 79: R = 0.002 * -2.
  ['passed by the open of the entry itself', [still(80)], 81, 79, -0.004],
] as const)('a stop that is %s costs the slippage', (_, after, entry_price, exit_price, account_return) => {
  const costs = { ...FREE, slippage_ticks: 1 }
  const { result, events } = run({ bars: [still(100), ...after], decisions: { 0: LONG }, costs })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'closed'])
  const filled = { entry_price, exit_price, exit_time: slot(after.length), exit_reason: 'stop' }
  expect(only(result.trades)).toMatchObject(filled)
  expect(result.trades[0]!.account_return).toBeCloseTo(account_return, 15)
})

test('a protective stop fills before the strategy is called, which sees no position on that bar', () => {
  // On bar 1 the long is stopped out, so the "long" of bar 1 is a new entry and not a repetition.
  const bars = [still(100), [100, 100, 85, 100] as const, still(100)]
  const { result } = run({ bars, decisions: { 0: LONG, 1: LONG } })
  expect(result.trades).toHaveLength(2)
  expect(result.state.decisions_ignored).toBe(0)
})

test('a slippage larger than the price stops the run, naming both', () => {
  const costs = { ...FREE, tick_size: 200, slippage_ticks: 1 }
  expect(() => run({ bars: [still(100), still(100)], decisions: { 0: SHORT }, costs })).toThrow(
    /strategy alder.*2020-01-01T04:00:00Z.*slippage of 200.*100/,
  )
})

const bars = [still(100), [100, 105, 100, 105], still(110), still(110)] as const

test('a reversal is an exit and then an entry, both at the next open, sized on the deciding close', () => {
  // Long 0.002 at 100. The short is decided at the close 105, where the equity is 1.01, with its stop 10.1
  // away: qty = 1.01 * 0.02 / 10.1 = 0.002. Both fill at 110: the exit makes the equity 1.02.
  const { result, events } = run({ bars, decisions: { 0: LONG, 1: { act: 'short', stop: 115.1 } } })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'ordered', 'closed', 'opened'])
  expect(events[2]).toMatchObject({ act: 'flat', why: 'signal', stop: 90 })
  const exit = { exit_time: slot(2), exit_price: 110, exit_reason: 'signal' }
  expect(result.trades[0]).toMatchObject({ side: 'long', ...exit })
  expect(result.trades[1]).toMatchObject({ side: 'short', entry_time: slot(2), entry_price: 110 })
  expect(result.trades[1]!.leverage).toBeCloseTo((0.002 * 110) / 1.02, 14)
})

test('a reversal whose entry is over the cap still exits', () => {
  const { result, events } = run({ bars, decisions: { 0: LONG, 1: { act: 'short', stop: 105.1 } } })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'refused', 'closed'])
  expect(only(result.trades)).toMatchObject({ exit_time: slot(2), exit_reason: 'signal' })
  expect(result.state.open).toBeNull()
})

test('a decision for the position already held, or to be flat without one, is ignored and counted, and changes no stop', () => {
  const { result, events } = run({
    bars: [still(100), still(100), still(100)],
    decisions: { 0: LONG, 1: { act: 'long', stop: 50 } },
  })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'ignored'])
  expect(result.state).toMatchObject({ decisions_ignored: 1 })
  expect(result.state.open!.position.stop).toBe(90)
  const { state } = run({ bars: [still(100), still(100)], decisions: { 0: FLAT } }).result
  expect(state).toMatchObject({ decisions_ignored: 1, exit_order: null })
})

// Leverage 10: stop 2 % away... 0.02 / (0.2 / 100) = 10, qty = 0.02 / 0.2 = 0.1.
const TIGHT = { act: 'short', stop: 100.2 }
const LIQUIDATED = { exit_reason: 'liquidation', account_return: -1 }

test('a liquidation at a fill ends the trade at exactly -1, the account at 0, the strategy for good, and makes every later return 0', () => {
  // Short 0.1 at 100; the stop 100.2 is jumped by an open at 111: 0.1 * -11 = -1.1, more than there is.
  const { result, events } = run({
    bars: [still(100), still(100), ...stillBars(111, 111, 111, 111), ...flatDay(111)],
    decisions: { 0: TIGHT, 2: LONG, 3: LONG },
  })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'closed'])
  expect(only(result.trades)).toMatchObject({ ...LIQUIDATED, exit_time: slot(2), exit_price: 111 })
  expect(result.state).toMatchObject({ dead: true, equity: 0, cash: 0, bars: 12 })
  expect(Array.from(result.daily.values)).toEqual([-1, 0])
})

test('a liquidation at a close happens at that close, less the slippage', () => {
  // Funding alone can do it: 0.002 * 100 * 6 = 1.2 is charged at bar 2, whose close does not make up for it.
  const { result } = run({
    bars: [still(100), still(100), still(101)],
    decisions: { 0: LONG },
    costs: { ...FREE, slippage_ticks: 1 },
    funding: { t: Float64Array.of(slot(2)), rate: Float64Array.of(6) },
  })
  expect(only(result.trades)).toMatchObject({ ...LIQUIDATED, exit_time: slot(2), exit_price: 100 })
})

test('a liquidation at the exit of a reversal leaves no entry', () => {
  const { result, events } = run({
    bars: [still(100), still(100), still(111), still(111)],
    decisions: { 0: TIGHT, 1: LONG },
  })
  expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'ordered', 'closed'])
  expect(result.state).toMatchObject({ dead: true, open: null, entry_order: null })
})

test('a liquidation by the entry commission alone ends the trade at its entry', () => {
  // Leverage 0.2 at a commission of 500 % of notional: all of the account, before the bar can make any of it good.
  const { result } = run({
    bars: [still(100), [100, 700, 100, 700]],
    decisions: { 0: LONG },
    costs: { ...FREE, commission_bps_per_side: 50_000 },
  })
  expect(only(result.trades)).toMatchObject({ ...LIQUIDATED, exit_time: slot(1) })
  expect(result.state.dead).toBe(true)
})
