import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimalsOf, toCorrelation, toPercent, toPrice, toSignificant } from '#core/contract/rounding.ts'

describe('rounding at the wire', () => {
  test('never leaves a minus on zero', () => {
    for (const value of [toPercent(-1e-9), toCorrelation(-1e-12), toSignificant(-0), toPrice(-1e-9, 2)]) {
      expect(Object.is(value, 0)).toBe(true)
    }
  })

  test('moves a percent by half a millionth at the most, and is idempotent', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), value => {
        expect(Math.abs(toPercent(value) - value)).toBeLessThanOrEqual(5.000001e-7)
        expect(toPercent(toPercent(value))).toBe(toPercent(value))
      }),
    )
  })

  test.each([
    [0.1, 1],
    [0.25, 2],
    [0.5, 1],
    [1, 0],
    [5, 0],
    [0.01, 2],
    [0.00000001, 8],
    [0.000000001, 8],
    [1 / 3, 8],
  ])('a tick of %d has %d decimals', (tick, decimals) => {
    expect(decimalsOf(tick)).toBe(decimals)
  })
})
