import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import {
  type ByteWriter,
  createWriter,
  finish,
  writeDate,
  writeNumber,
  writeSignificant,
  writeText,
} from '#core/dataset/render/text-writer.ts'
import { forAll } from '#test/support/for-all.ts'

const written = (write: (out: ByteWriter) => void): string => {
  const out = createWriter(1) // the smallest, so that every write has to grow it
  write(out)
  return new TextDecoder().decode(finish(out))
}

test('a number is written as its shortest decimal text, for every magnitude and number of decimals', () => {
  const rounded = fc
    .tuple(
      fc.double({ min: -10, max: 10, noNaN: true }),
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: 0, max: 10 }),
    )
    .map(([digits, power, decimals]) => Number((digits * 10 ** power).toFixed(decimals)))
  const special = fc.constantFrom(
    0,
    -0,
    1e-8,
    -1e-8,
    1e-9,
    0.1,
    999_999.99999999,
    1e6,
    123456.7,
    1e21,
    5e-324,
  )
  forAll(20_000, fc.oneof(rounded, special, fc.double({ noNaN: true, noDefaultInfinity: true })), value => {
    expect(written(out => writeNumber(out, value))).toBe(toText(value))
  })
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => written(out => writeNumber(out, value))).toThrow('refusing to publish')
})

const exact = (value: number): string => toText(toSignificant(value))
const fast = (value: number): string => written(out => writeSignificant(out, value))

test('the fast path of ten significant digits writes what the exact path writes, for every magnitude', () => {
  const magnitude = fc.tuple(fc.double({ min: -10, max: 10, noNaN: true }), fc.integer({ min: -18, max: 15 }))
  forAll(20_000, magnitude, ([mantissa, exponent]) => {
    const value = mantissa * 10 ** exponent
    expect(fast(value)).toBe(exact(value))
  })
})

test('numbers next to a tie and next to a power of ten are rounded as the exact path rounds them', () => {
  const digits = fc.tuple(fc.integer({ min: 1e9, max: 1e10 - 1 }), fc.integer({ min: -20, max: 0 }))
  forAll(
    20_000,
    digits,
    fc.constantFrom(0.5, 0.4999999999, 0.5000000001, 0.49, 0),
    ([integer, exponent], rest) => {
      const value = (integer + rest) * 10 ** exponent
      expect(fast(value)).toBe(exact(value))
    },
  )
})

test.each([
  [0, '0'],
  [-0, '0'],
  [1, '1'],
  [-1.5, '-1.5'],
  [0.1 + 0.2, '0.3'],
  [9.99999999999, '10'],
  [123456789.04, '123456789'],
  [1 / 3, '0.3333333333'],
  [-0.0000123456789049, '-0.0000123456789'],
  [1e-15, '0.000000000000001'],
  [1e21, '1000000000000000000000'],
])('ten significant digits of %d are written as %s', (value, text) => {
  expect(fast(value)).toBe(text)
})

test('decimal text reads back as the same number and has no exponent', () => {
  forAll(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
    const text = toText(value)
    expect(text).toMatch(/^-?\d+(\.\d+)?$/)
    expect(Number(text)).toBe(value === 0 ? 0 : value)
  })
})

test('every day from 0001 to 9999 is written as Date writes it', () => {
  const day = fc.integer({ min: -719_000, max: 2_932_000 })
  forAll(5000, day, epochDay => {
    expect(written(out => writeDate(out, epochDay))).toBe(toIsoDate(epochDay))
  })
  for (const date of ['2000-02-29', '1900-02-28', '1900-03-01', '2024-12-31', '1970-01-01', '1969-12-31'])
    expect(written(out => writeDate(out, Date.parse(date) / 86_400_000))).toBe(date)
})

test('the byte writer writes any text as UTF-8 and grows as needed', () => {
  forAll(fc.array(fc.string({ unit: 'grapheme' })), texts => {
    expect(
      written(out => {
        for (const text of texts) writeText(out, text)
      }),
    ).toBe(texts.join('').toWellFormed())
  })
})
