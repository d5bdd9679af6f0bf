import { describe, expect, test } from 'vitest'
import type { Trade } from '#core/replay/trade.ts'
import { COSTLY, expectClose, flatDay, mark, slot, trade } from './hand.ts'

describe('overlapping trades, where they are allowed', () => {
  const bars = [...flatDay(100), ...flatDay(110)]

  test('are sized on the equity with the others marked at the new entry price', () => {
    // The first, leverage 1 from 100, is worth 0.1 when the second enters at 110: 1.1 * 0.5 for the second.
    const first = trade({ leverage: 1, exit_time: slot(9), exit_price: 110, account_return: 0.1 })
    const second = trade({
      leverage: 1,
      entry_time: slot(7),
      entry_price: 110,
      exit_time: slot(8),
      exit_price: 165,
      account_return: 0.5,
    })
    const marks = mark([first, second], { bars, allowOverlap: true })
    expect(marks.equity[1]).toBeCloseTo(1 + 0.1 + 1.1 * 0.5, 14)
  })

  test('that enter at the same instant, the parts of one position, are sized on the same equity', () => {
    const part = (to: number, account_return: number): Trade =>
      trade({ leverage: 0.5, exit_time: slot(to), account_return })
    const marks = mark([part(3, 0.05), part(8, 0.03)], { bars, allowOverlap: true, costs: COSTLY })
    // Each entry commission is 0.5 * 0.001; at day 0 the first part is closed, the other stands at its entry
    // price.
    expectClose(marks.equity, [1 + 0.05 - 0.0005, 1 + 0.05 + 0.03])
  })
})
