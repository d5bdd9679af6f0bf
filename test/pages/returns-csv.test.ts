import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Period, Series } from '#core/figures/series.ts'
import { chartCsv } from '#pages/chart-data.ts'
import { parseReturns } from '#pages/returns-csv.ts'
import { riskSteps } from '#pages/risk-steps.ts'
import { forAll } from '../support/for-all.ts'

const series = (first: number, values: readonly number[], period: Period = 'daily'): Series => ({
  period,
  first,
  values: Float64Array.from(values),
})

test('a published CSV of returns is read back as the doubles that were printed', () => {
  const value = fc.double({ min: -1, max: 10, noNaN: true }).map(number => Number(number.toPrecision(10)) + 0)
  forAll(fc.array(value, { minLength: 1, maxLength: 50 }), values => {
    const days = { from: 19_000, to: 19_000 + values.length - 1 }
    const text = chartCsv({ lines: [{ name: 'ret', kind: 'main', ...series(19_000, values) }], days })
    expect(parseReturns(text, 'daily').get('ret')).toEqual(series(19_000, values))
  })
})

test('a published CSV of returns has weeks, and columns that begin and end on days of their own', () => {
  expect(parseReturns('t,ret\r\n2024-01-07,0.1\r\n2024-01-14,-0.2\r\n', 'weekly').get('ret')).toEqual(
    series(19_729, [0.1, -0.2], 'weekly'),
  )
  const wide = parseReturns('t,A,B\r\n2024-01-01,0.1,\r\n2024-01-02,0.2,0.3\r\n2024-01-03,,0.4\r\n', 'daily')
  expect(wide).toEqual(
    new Map([
      ['A', series(19_723, [0.1, 0.2])],
      ['B', series(19_724, [0.3, 0.4])],
    ]),
  )
})

test('a published CSV of returns without rows has empty columns', () => {
  expect(parseReturns('t,ret\r\n', 'daily').get('ret')?.values).toHaveLength(0)
  expect(parseReturns('t\r\n', 'daily').size).toBe(0)
})

test.each([
  ['<!doctype html>', 'its first column is'],
  ['t,ret\r\n2024-01-01,0.1\r\n2024-01-03,0.1\r\n', 'row 2 is of 2024-01-03'],
  ['t,ret\r\nyesterday,0.1\r\n', "'yesterday' is no day"],
  ['t,ret\r\n2024-01-01,much\r\n', 'column 2 has a cell that is no number'],
  ['t,ret\r\n2024-01-01,1\r\n2024-01-02,\r\n2024-01-03,1\r\n', 'column 2 has a cell that is no number'],
])('a text that is no published CSV of returns is refused: %j', (text, reason) => {
  expect(() => parseReturns(text, 'daily')).toThrow(reason)
})

test('the steps of risk are round levels, the cap, and the level of the strategy, in order', () => {
  const steps = riskSteps(0.1, 0.0123, 0.7)
  expect(steps.at(-1)).toBe(0.1)
  expect(steps).toContain(0.0123)
  expect(steps).not.toContain(0.7)
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
  expect(
    steps.filter(level => level !== 0.0123).every(level => String(level).replaceAll(/[0.]/g, '').length <= 3),
  ).toBe(true)
  expect(riskSteps(0.0004)).toEqual([0.0004])
})
