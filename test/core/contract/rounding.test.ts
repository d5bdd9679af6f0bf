import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tickRounder, toCorrelation, toPercent, toPrice, toSignificant } from '#core/contract/rounding.ts'
import { forAll } from '#test/support/for-all.ts'

test('rounding at the wire never leaves a minus on zero', () => {
  for (const value of [toPercent(-1e-9), toCorrelation(-1e-12), toSignificant(-0), toPrice(-1e-9)]) {
    expect(Object.is(value, 0)).toBe(true)
  }
})

test.each([
  ['percents', toPercent, 6],
  ['correlations', toCorrelation, 8],
] as const)('rounding of %s is that of toFixed, for every magnitude and at ties', (_, round, decimals) => {
  const magnitude = fc
    .tuple(fc.double({ min: -10, max: 10, noNaN: true }), fc.integer({ min: -14, max: 12 }))
    .map(([digits, power]) => digits * 10 ** power)
  const near = fc
    .tuple(fc.integer({ min: -1e7, max: 1e7 }), fc.integer({ min: -3, max: 3 }))
    .map(([n, off]) => ((n + 0.5) / 10 ** decimals) * (1 + off * Number.EPSILON))
  forAll(20_000, fc.oneof(magnitude, near), value =>
    Object.is(round(value), Number(value.toFixed(decimals)) + 0),
  )
})

test('rounding of returns is that of toPrecision, for every magnitude, at ties and around powers of ten', () => {
  const power = fc.integer({ min: -16, max: 14 }).map(exponent => Number(`1e${exponent}`))
  const digits = fc.tuple(fc.double({ min: -10, max: 10, noNaN: true }), power).map(([n, by]) => n * by)
  const off = fc.integer({ min: -3, max: 3 }).map(ulps => 1 + ulps * Number.EPSILON)
  const tie = fc
    .tuple(fc.integer({ min: 1e9, max: 1e10 - 1 }), power, off)
    .map(([n, by, factor]) => (n + 0.5) * by * factor)
  const edge = fc.tuple(power, off).map(([by, factor]) => by * factor)
  forAll(50_000, fc.oneof(digits, tie, edge), fc.boolean(), (value, isNegative) => {
    const signed = isNegative ? -value : value
    return Object.is(toSignificant(signed), Number(signed.toPrecision(10)) + 0)
  })
})

test.each([
  [0.1, 100.17, 100.2],
  [0.25, 100.13, 100.25],
  [0.25, 100.1, 100],
  [0.5, 100.3, 100.5],
  [5, 102, 100],
  [0.05, 63001.80000000001, 63001.8],
  [0.00000001, 0.123456789, 0.12345679],
  [0.000000001, 0.1234567891, 0.12345679], // finer than the 8 decimals of a price
  [0, 100.123456789, 100.12345679], // unknown
])('at a tick of %d a price of %d is rounded to %d', (tick, price, rounded) => {
  expect(tickRounder(tick)(price)).toBe(rounded)
})

test('a price moves by half a tick at the most, and a rounded one stays', () => {
  forAll(fc.constantFrom(0.01, 0.05, 0.1, 0.25, 0.5, 2.5, 5, 25), anyPrice, (tick, price) => {
    const toTick = tickRounder(tick)
    expect(Math.abs(toTick(price) - price)).toBeLessThanOrEqual((tick / 2) * (1 + 1e-9))
    expect(toTick(toTick(price))).toBe(toTick(price))
  })
})

const anyPrice = fc.double({ min: 1e-3, max: 2e5, noNaN: true })
