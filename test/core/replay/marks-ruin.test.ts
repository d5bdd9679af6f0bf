import { describe, expect, test } from 'vitest'
import { DAY_0, expectClose, flatDay, mark, slot, stillBars, trade } from './hand.ts'

describe('ruin', () => {
  const bars = [...flatDay(100), ...stillBars(100, 49, 120, 120, 120, 120), ...flatDay(120)]
  const doubled = trade({ leverage: 2, exit_time: slot(13), exit_price: 120, account_return: 0.4 })

  test('at any close, not only the last of a day, liquidates what is open and ends the ledger', () => {
    // Leverage 2 from 100: at 49 the account would stand at -0.02.
    const later = trade({ leverage: 1, entry_time: slot(14), exit_time: slot(15), account_return: 0.1 })
    const marks = mark([doubled, later], { bars })
    expectClose(marks.daily.values, [0, -1, 0])
    expect(marks).toMatchObject({ ruined_on: DAY_0 + 1, trades_after_ruin: 1 })
    expect(marks.trades).toMatchObject([
      {
        exit_time: slot(7),
        exit_price: 49,
        exit_reason: 'liquidation',
        account_return: -1,
        return_per_notional: -0.5,
      },
    ])
  })

  test('by a result of -1 or worse is a liquidation of exactly -1', () => {
    const marks = mark([{ ...doubled, exit_time: slot(3), exit_reason: 'stop', account_return: -1.3 }], {
      bars,
    })
    expectClose(marks.equity, [0, 0, 0])
    expect(marks.trades[0]).toMatchObject({
      exit_time: slot(3),
      exit_reason: 'liquidation',
      account_return: -1,
    })
    expect(marks.ruined_on).toBe(DAY_0)
  })

  test('leaves nothing to size an entry on, even before the next close', () => {
    const ruined = { ...doubled, exit_time: slot(3), account_return: -1 }
    const next = trade({ leverage: 1, entry_time: slot(3), exit_time: slot(4), account_return: 5 })
    const marks = mark([ruined, next], { bars })
    expectClose(marks.equity, [0, 0, 0])
    expect(marks).toMatchObject({ ruined_on: DAY_0, trades_after_ruin: 1 })
  })

  test('of overlapping trades leaves each what it was worth', () => {
    // At 49: long -1.02 of the account; a short from 100, leverage 0.01, +0.0051. Together below -1.
    const hedge = trade({
      side: 'short',
      leverage: 0.01,
      exit_time: slot(14),
      exit_price: 120,
      account_return: 0,
    })
    const marks = mark([doubled, hedge], { bars, allowOverlap: true })
    expect(marks.trades.map(({ exit_reason }) => exit_reason)).toEqual(['liquidation', 'liquidation'])
    expect(marks.trades[0]!.account_return).toBe(-1)
    expect(marks.trades[1]!.account_return).toBeCloseTo(0.0051, 14)
  })

  test('never comes to an account that no close and no exit brings to 0', () => {
    expect(mark([{ ...doubled, leverage: 1.9 }], { bars }).ruined_on).toBeNull()
  })
})
