import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalCdf } from '#core/figures/sharpe.ts'

describe('normal distribution function', () => {
  // erfc(-x / sqrt(2)) / 2 by the C library's erfc, which is good to the last digit.
  test.each([
    [-38, 2.88542835e-316],
    [-10, 7.619853024160593e-24],
    [-5, 2.866515718791946e-7],
    [-3.5, 0.00023262907903552504],
    [-3, 0.0013498980316300957],
    [-1.5, 0.06680720126885809],
    [-0.001, 0.49960105778608893],
    [0, 0.5],
    [0.3, 0.6179114221889526],
    [1, 0.8413447460685429],
    [1.6448536269514722, 0.95],
    [2.9, 0.998134186699616],
    [3.1, 0.9990323967867817],
    [6, 0.9999999990134123],
    [40, 1],
  ])('at %f it is %f to 3e-16', (x, expected) => {
    expect(Math.abs(normalCdf(x) - expected)).toBeLessThanOrEqual(3e-16)
  })

  test('below -3 the error is small against the value too', () => {
    expect(normalCdf(-10) / 7.619853024160593e-24).toBeCloseTo(1, 13)
    expect(normalCdf(-30) / 4.906713927148764e-198).toBeCloseTo(1, 12)
  })

  test('it rises from 0 to 1 and is symmetric', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -50, max: 50, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (x, step) => {
          expect(normalCdf(x)).toBeGreaterThanOrEqual(0)
          expect(normalCdf(x + step)).toBeGreaterThanOrEqual(normalCdf(x) - 2e-16)
          expect(Math.abs(normalCdf(x) + normalCdf(-x) - 1)).toBeLessThanOrEqual(3e-16)
        },
      ),
    )
  })

  test('the two ways meet where one takes over from the other', () => {
    for (const x of [-3, 3]) expect(Math.abs(normalCdf(x) - normalCdf(x * (1 + 1e-15)))).toBeLessThan(4e-16)
  })
})
