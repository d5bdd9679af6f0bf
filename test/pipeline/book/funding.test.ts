import { expect, test } from 'vitest'
import { lines, problemsOf, readChanged } from './book-folder.ts'

const PATH = 'funding/BTCUSDT-PERP.csv'
const FIRST = '2020-01-01T00:00:00Z,0.0001'

test.each([
  ['a time twice', FIRST, 't: expected each time once, got 2020-01-01T00:00:00Z again'],
  [
    'an earlier time',
    '1577750400000,0.0001',
    't: expected a time after 2020-01-01T00:00:00Z of the row before, got 2019-12-31T00:00:00Z',
  ],
  [
    'a local time',
    '2020-01-01 08:00,0.0001',
    't: expected a time with Z or an offset, got "2020-01-01 08:00", a local time of an unknown zone; in UTC it ends in Z',
  ],
  [
    'no rate',
    '2020-01-01T08:00:00Z,',
    'rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got nothing',
  ],
  [
    'a rate in percent',
    '2020-01-01T08:00:00Z,0.01%',
    'rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got "0.01%"',
  ],
  [
    'a rate that no exchange charges',
    '2020-01-01T08:00:00Z,-0.11',
    'rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got "-0.11"',
  ],
  [
    'too many fields',
    '2020-01-01T08:00:00Z,0,0',
    'expected 2 fields (t,rate), got 3: "2020-01-01T08:00:00Z,0,0"',
  ],
])('a funding row with %s is named', async (_, row, message) => {
  expect(await problemsOf({ [PATH]: lines('t,rate', FIRST, row) })).toEqual([`${PATH}:3: ${message}`])
})

test('a funding file without rows is refused', async () => {
  expect(await problemsOf({ [PATH]: lines('t,rate') })).toEqual([
    `${PATH}:1: expected rows under the header, got none`,
  ])
})

test('funding may come at any time of the day', async () => {
  const { funding } = await readChanged({
    [PATH]: lines('rate,t', '0.0001,2020-01-01T00:00:00.003Z', '-1e-4,1577865600001'),
  })
  expect(funding.get('BTCUSDT-PERP')).toEqual({
    path: PATH,
    t: Float64Array.of(1577836800003, 1577865600001),
    rate: Float64Array.of(0.0001, -0.0001),
  })
})

test('funding with gaps, or of a later begin than the bars, is used with a warning', async () => {
  const days = [3, 4, 5, 6, 9, 10, 11, 14, 15, 16]
  const { warnings } = await readChanged({
    [PATH]: lines('t,rate', ...days.map(day => `2020-01-${String(day).padStart(2, '0')}T00:00:00Z,0.0001`)),
  })
  expect(warnings).toEqual([
    {
      file: PATH,
      message:
        'begins at 2020-01-03T00:00:00Z, after the first bar at 2020-01-01T00:00:00Z: positions before it are computed ' +
        'without funding',
    },
    {
      file: PATH,
      message:
        'has 2 gaps, the longest from 2020-01-06T00:00:00Z to 2020-01-09T00:00:00Z: positions in it are computed without ' +
        'funding',
    },
  ])
})

test('an instrument without a funding file pays none, and a warning says so', async () => {
  const { funding, warnings } = await readChanged({ [PATH]: null })
  expect(funding.size).toBe(0)
  expect(warnings).toEqual([
    {
      file: PATH,
      message: 'no funding file for BTCUSDT-PERP: its positions are computed without funding',
    },
  ])
})
