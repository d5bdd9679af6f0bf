import { expect, test } from 'vitest'
import {
  createAtr,
  createEma,
  createRsi,
  updateAtr,
  updateAverage,
  updateRsi,
} from '#pipeline/starter/template/strategies/highwater/indicators.ts'

const bar = (h: number, l: number, c: number) => ({ t: 0, o: c, h, l, c, v: 0 })

test('a smoothed average is seeded with the simple average of its first values, then weighs the newest by 2 / (n + 1)', () => {
  // Seed (1 + 2 + 6) / 3 = 3; then 3 + (7 - 3) / 2 = 5; then 5 + (5 - 5) / 2 = 5.
  const ema = createEma(3)
  expect([1, 2, 6, 7, 5].map(value => updateAverage(ema, value))).toEqual([null, null, 3, 5, 5])
})

test('the true range reaches to the close before, and the ATR is its Wilder average', () => {
  const atr = createAtr(2)
  // 10 - 8 = 2; gap up from 9: 15 - 9 = 6; seed (2 + 6) / 2 = 4; gap down from 14: 14 - 6 = 8, 4 + (8 - 4) /
  // 2 = 6.
  expect(updateAtr(atr, bar(10, 8, 9))).toBeNull()
  expect(updateAtr(atr, bar(15, 12, 14))).toBe(4)
  expect(updateAtr(atr, bar(8, 6, 7))).toBe(6)
})

const rsi = (...closes: number[]): (number | null)[] => {
  const state = createRsi(2)
  return closes.map(close => updateRsi(state, close))
}

test('the RSI is the share of the gains in what moved', () => {
  // Changes +3, -1: averages 1.5 and 0.5: 75. Then +1: 1.25 and 0.25: 100 * 1.25 / 1.5.
  const [first, second, third, fourth] = rsi(10, 13, 12, 13)
  expect([first, second, third]).toEqual([null, null, 75])
  expect(fourth).toBeCloseTo(83.3333333333, 8)
})

test('the RSI is 100 where all rose, 0 where all fell, and 50 where nothing moved', () => {
  expect(rsi(1, 2, 3)[2]).toBe(100)
  expect(rsi(3, 2, 1)[2]).toBe(0)
  expect(rsi(2, 2, 2)[2]).toBe(50)
})
