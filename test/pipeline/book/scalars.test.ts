import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  EARLIEST_MS,
  explainMoment,
  LATEST_MS,
  parseDecimal,
  parseMoment,
  spellMoment,
} from '#pipeline/book/cell.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))

test('a decimal in a table is the double nearest to its text, as the language reads it, to the last bit', () => {
  const decimal = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(18),
      fc.option(digits(18)),
      fc.option(fc.integer({ min: -30, max: 30 })),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
    )
  forAll(5000, decimal, text => Object.is(parseDecimal(text), Number(text)))
})

test('the text of any number is read back as that number', () => {
  const value = fc.double({ noNaN: true, noDefaultInfinity: true })
  forAll(value, value => Object.is(parseDecimal(Object.is(value, -0) ? '-0' : String(value)), value))
})

test.each([
  '',
  ' ',
  ...'1 | 1|+1|.5|5.|-|-.5|.|1.2.3|0x10|1_000|1,5|NaN|Infinity|1e|e5|1e999|--1|1-|١'.split('|'),
])('the text %j is no decimal in a table', text => {
  expect(parseDecimal(text)).toBeNaN()
})

test('a time is read back as it was written, as ISO and as milliseconds', () => {
  forAll(fc.integer({ min: EARLIEST_MS, max: LATEST_MS - 1 }), ms => {
    expect(parseMoment(String(ms))).toBe(ms)
    expect(parseMoment(new Date(ms).toISOString())).toBe(ms)
    expect(parseMoment(spellMoment(ms))).toBe(ms)
  })
})

test('a time with an offset is the moment in UTC', () => {
  const utc = Date.UTC(2020, 1, 29, 22, 30)
  expect(parseMoment('2020-02-29T22:30Z')).toBe(utc)
  expect(parseMoment('2020-03-01T00:30:00+02:00')).toBe(utc)
  expect(parseMoment('2020-02-29 17:00:00.000-05:30')).toBe(utc)
  expect(parseMoment('2020-02-29T22:30:00.5Z')).toBe(utc + 500)
})

test.each(casesOf`
2020-02-30T00:00:00Z -> a day that is none
2020-13-01T00:00:00Z -> a month that is none
2020-00-10T00:00:00Z -> month 0
2020-01-01T24:00:00Z -> hour 24
2020-01-01T00:60:00Z -> minute 60
2020-01-01T00:00:60Z -> a leap second
2020-01-01T00:00:00+24:00 -> an offset of a day
2020-01-01T00:00:00.1234567Z -> less than a millisecond
01/02/2020 00:00Z -> another order
1577836800000.5 -> a fraction of a millisecond
-1577836800000 -> a sign`)('the text %s is no time in a table: %s', text => {
  expect(parseMoment(text)).toBeNaN()
  expect(explainMoment(text)).toBe(
    `expected an ISO 8601 time with Z or an offset (2026-06-30T20:00:00Z), or epoch milliseconds, got "${text}"`,
  )
})

test.each(casesOf`
2020-01-01 -> expected a time with Z or an offset, got "2020-01-01", a local time of an unknown zone; in UTC it ends in Z
1577836800 -> expected epoch milliseconds, got "1577836800", which looks like epoch seconds
1577836800000000 -> expected epoch milliseconds, got "1577836800000000", which looks like epoch microseconds
1577836800000000000 -> expected epoch milliseconds, got "1577836800000000000", which looks like epoch nanoseconds
20200101 -> expected a time from 1980 to 2099, got "20200101"
1979-12-31T23:59:59Z -> expected a time from 1980 to 2099, got "1979-12-31T23:59:59Z"
2100-01-01T00:00:00Z -> expected a time from 1980 to 2099, got "2100-01-01T00:00:00Z"`)(
  'the time %s is refused with the reason',
  (text, message) => {
    expect(parseMoment(text)).toBeNaN()
    expect(explainMoment(text)).toBe(message)
  },
)
