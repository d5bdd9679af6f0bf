import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createAtr,
  createChannel,
  createEma,
  createRsi,
  createWilder,
  createWindow,
  mean,
  push,
  settledAfter,
  updateAtr,
  updateAverage,
  updateChannel,
  updateRsi,
} from '#pipeline/starter/template/strategies/highwater/indicators.ts'
import { forAll } from '#test/support/for-all.ts'

const bar = (h: number, l: number, c: number) => ({ t: 0, o: c, h, l, c, v: 0 })

test('a window of values has the mean of its last ones, null until it is full', () => {
  const window = createWindow(3)
  const means = [1, 2, 6, 10, 2].map(value => {
    push(window, value)
    return mean(window)
  })
  expect(means).toEqual([null, null, 3, 6, 6])
})

test('a window of values has the same mean to the last bit, whatever was in it before', () => {
  const numbers = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 5, maxLength: 5 })
  const before = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { maxLength: 12 })
  forAll(before, numbers, (past, last) => {
    const fresh = createWindow(5)
    const used = createWindow(5)
    for (const value of past) push(used, value)
    for (const value of last) {
      push(fresh, value)
      push(used, value)
    }
    expect(mean(used)).toBe(mean(fresh))
  })
})

test('a channel is the range of the bars before: the bar that breaks out is not in it', () => {
  const channel = createChannel(2)
  expect(updateChannel(channel, bar(10, 5, 7))).toBeNull()
  expect(updateChannel(channel, bar(12, 8, 9))).toBeNull()
  expect(updateChannel(channel, bar(99, 1, 50))).toEqual({ high: 12, low: 5 })
  expect(updateChannel(channel, bar(20, 20, 20))).toEqual({ high: 99, low: 1 })
})

test('a smoothed average is seeded with the simple average of its first values, then weighs the newest by 2 / (n + 1)', () => {
  // Seed (1 + 2 + 6) / 3 = 3; then 3 + (7 - 3) / 2 = 5; then 5 + (5 - 5) / 2 = 5.
  const ema = createEma(3)
  expect([1, 2, 6, 7, 5].map(value => updateAverage(ema, value))).toEqual([null, null, 3, 5, 5])
})

test('a smoothed average has forgotten its seed when it has settled', () => {
  const high = createWilder(20)
  const low = createWilder(20)
  for (let i = 0; i < 20; i++) {
    updateAverage(high, 1_000)
    updateAverage(low, 0)
  }
  for (let i = 0; i < settledAfter(20); i++) {
    updateAverage(high, 100)
    updateAverage(low, 100)
  }
  expect(high.value - low.value).toBeLessThan(1_000 * 5e-5)
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
