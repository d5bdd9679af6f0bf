import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equityCurve, equityFromBaseline, ruinIndex } from '#core/figures/equity-curve.ts'
import { returnsOf } from './arbitraries.ts'

describe('equity curve', () => {
  test('the first point is 1 plus the first return, exactly', () => {
    expect([...equityCurve(Float64Array.of(0.1, -0.5, 0))]).toEqual([1.1, 0.55, 0.55])
  })

  test('a factor multiplies every return before it is compounded', () => {
    expect([...equityCurve(Float64Array.of(0.1, -0.25), 2)]).toEqual([1.2, 0.6])
  })

  test('the baseline is the same curve with the point 1 before it', () => {
    fc.assert(
      fc.property(returnsOf(0, 50), returns => {
        const withBaseline = equityFromBaseline(returns)
        expect(withBaseline[0]).toBe(1)
        expect(withBaseline.slice(1)).toEqual(equityCurve(returns))
      }),
    )
  })

  test('after a day of -100 % or worse the equity is 0 for ever, also when two such days would multiply to a gain', () => {
    expect([...equityCurve(Float64Array.of(0.5, -1.5, -3, 1))]).toEqual([1.5, 0, 0, 0])
    expect([...equityCurve(Float64Array.of(-1, 5))]).toEqual([0, 0])
    expect(equityCurve(Float64Array.of(-3, -1)).every(level => Object.is(level, 0))).toBe(true)
  })

  test('ruin is found at its first point, and an account that survives has none', () => {
    expect(ruinIndex(equityFromBaseline(Float64Array.of(0.5, -1.5, -3, 1)))).toBe(2)
    expect(ruinIndex(equityFromBaseline(Float64Array.of(0.5, -0.99)))).toBeNull()
    expect(ruinIndex(equityFromBaseline(new Float64Array(0)))).toBeNull()
  })

  test('a return that is not finite is refused by its position and never taken for ruin', () => {
    expect(() => equityCurve(Float64Array.of(0.1, Number.NaN))).toThrow(/return 1 .* got NaN/)
    expect(() => equityCurve(Float64Array.of(-Infinity))).toThrow(/return 0 /)
  })

  test('an equity beyond the range of a double is refused', () => {
    expect(() => equityCurve(new Float64Array(400).fill(10))).toThrow(/leave the equity finite/)
  })
})
