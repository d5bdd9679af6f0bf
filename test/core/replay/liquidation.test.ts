import { describe, expect, test } from 'vitest'
import { FREE, kinds, only, run, slot, still } from './hand.ts'

const LONG = { act: 'long', stop: 90 }

describe('a liquidation', () => {
  // Leverage 10: stop 2 % away... 0.02 / (0.2 / 100) = 10, qty = 0.02 / 0.2 = 0.1.
  const TIGHT = { act: 'short', stop: 100.2 }

  test('at a fill ends the trade at exactly -1, the account at 0, and the strategy for good', () => {
    // Short 0.1 at 100; the stop 100.2 is jumped by an open at 111: 0.1 * -11 = -1.1, more than there is.
    const { result, events } = run({
      bars: [still(100), still(100), still(111), still(111), still(111)],
      decisions: { 0: TIGHT, 2: LONG, 3: LONG },
    })
    expect(kinds(events)).toEqual(['ordered', 'opened', 'closed'])
    expect(only(result.trades)).toMatchObject({
      exit_time: slot(2),
      exit_price: 111,
      exit_reason: 'liquidation',
      account_return: -1,
    })
    expect(result.state).toMatchObject({ dead: true, equity: 0, cash: 0, bars: 5 })
    expect(Array.from(result.daily.values)).toEqual([-1])
  })

  test('at a close happens at that close, less the slippage', () => {
    // Funding alone can do it: 0.002 * 100 * 6 = 1.2 is charged at bar 2, whose close does not make up for
    // it.
    const { result } = run({
      bars: [still(100), still(100), still(101)],
      decisions: { 0: LONG },
      costs: { ...FREE, slippage_ticks: 1 },
      funding: { t: Float64Array.of(slot(2)), rate: Float64Array.of(6) },
    })
    expect(only(result.trades)).toMatchObject({
      exit_time: slot(2),
      exit_price: 100,
      exit_reason: 'liquidation',
      account_return: -1,
    })
  })

  test('at the exit of a reversal leaves no entry', () => {
    const { result, events } = run({
      bars: [still(100), still(100), still(111), still(111)],
      decisions: { 0: TIGHT, 1: LONG },
    })
    expect(kinds(events)).toEqual(['ordered', 'opened', 'ordered', 'ordered', 'closed'])
    expect(result.state).toMatchObject({ dead: true, open: null, entry_order: null })
  })

  test('by the entry commission alone ends the trade where it began', () => {
    // Leverage 0.2 at a commission of 500 % of notional: all of the account, before the bar can make any of
    // it good.
    const { result } = run({
      bars: [still(100), [100, 700, 100, 700]],
      decisions: { 0: LONG },
      costs: { ...FREE, commission_bps_per_side: 50_000 },
    })
    expect(only(result.trades)).toMatchObject({
      exit_time: slot(1),
      exit_reason: 'liquidation',
      account_return: -1,
    })
    expect(result.state.dead).toBe(true)
  })

  test('makes every later return 0', () => {
    const rows = [still(100), still(100), still(111), ...Array.from({ length: 12 }, () => still(111))]
    const { result } = run({ bars: rows, decisions: { 0: TIGHT } })
    expect(Array.from(result.daily.values)).toEqual([-1, 0, 0])
    expect(Array.from(result.equity)).toEqual([0, 0, 0])
  })
})
