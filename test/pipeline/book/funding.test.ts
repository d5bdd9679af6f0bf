import { expect, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { catalogueWith, type Files, lines, problemsOf, readChanged } from './book-folder.ts'

const PATH = 'funding/BTCUSDT-PERP.csv'
const FIRST = '2020-01-01T00:00:00Z,0.0001'

test.each(
  casesOf`
an earlier time -> 1577750400000,0.0001 -> t: expected a time after 2020-01-01T00:00:00Z of the row before, got 2019-12-31T00:00:00Z
a local time -> 2020-01-01 08:00,0.0001 -> t: expected a time with Z or an offset, got "2020-01-01 08:00", a local time of an unknown zone; in UTC it ends in Z
no rate -> 2020-01-01T08:00:00Z, -> rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got nothing
a rate in percent -> 2020-01-01T08:00:00Z,0.01% -> rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got "0.01%"
a rate that no exchange charges -> 2020-01-01T08:00:00Z,-0.11 -> rate: expected a fraction of notional from -0.1 to 0.1 (0.0001 = 0.01 %), got "-0.11"
too many fields -> 2020-01-01T08:00:00Z,0,0 -> expected 2 fields (t,rate), got 3: "2020-01-01T08:00:00Z,0,0"
a time twice -> ${FIRST} -> t: expected each time once, got 2020-01-01T00:00:00Z again`,
)('a funding row with %s is named', async (_, row, message) => {
  expect(await problemsOf({ [PATH]: lines('t,rate', FIRST, row) })).toEqual([`${PATH}:3: ${message}`])
})

test('funding may come at any time of the day', async () => {
  const { funding } = await readChanged({
    [PATH]: lines('rate,t', '0.0001,2020-01-01T00:00:00.003Z', '-1e-4,1577865600001'),
  })
  expect(funding.get('BTCUSDT-PERP')).toEqual({
    path: PATH,
    intervals: [{ from: Number.NEGATIVE_INFINITY, everyMs: 28_800_000 }],
    t: Float64Array.of(1577836800003, 1577865600001),
    rate: Float64Array.of(0.0001, -0.0001),
  })
})

/** The good catalogue with another statement about the funding of its instrument; null for none. */
const stating = (statement: string | null) =>
  catalogueWith('funding:\n  BTCUSDT-PERP: 8h\n', statement === null ? '' : `funding: ${statement}\n`)

const STATED_HOURLY = stating('{ BTCUSDT-PERP: [{ every: 8h }, { every: 1h, from: 2020-01-02T00:00:00Z }] }')

/** Payments at these hours from 2020-01-01 on. */
const paidAt = (...hours: readonly number[]) => ({
  [PATH]: lines('t,rate', ...hours.map(hour => `${Date.UTC(2020, 0, 1, hour)},0.0001`)),
})

const warningsOf = async (files: Files): Promise<string[]> =>
  (await readChanged(files)).warnings.map(({ file, message }) => `${file}: ${message}`)

const DAYS = [3, 4, 5, 6, 9, 10, 11, 14, 15, 16].map(day => (day - 1) * 24)

test.each(casesOf<[string, Files, string[]]>`
gaps, and of a later begin than the bars -> ${{ ...paidAt(...DAYS), ...stating('{ BTCUSDT-PERP: 24h }') }} -> ${['begins at 2020-01-03T00:00:00Z, after the first bar at 2020-01-01T00:00:00Z: positions before it are computed without funding', 'has 2 gaps, the longest from 2020-01-06T00:00:00Z to 2020-01-09T00:00:00Z, without 4 payments at 24h: positions in a gap are computed without funding']}
intervals that are longer than stated -> ${{ ...paidAt(0, 8, 24, 25, 27), ...STATED_HOURLY }} -> ${['has 2 gaps, the longest from 2020-01-01T08:00:00Z to 2020-01-02T00:00:00Z, without 2 payments at 8h, and 1h from 2020-01-02T00:00:00Z: positions in a gap are computed without funding']}
an interval that the catalogue does not state -> ${{ ...paidAt(0, 8, 16, 24), ...stating(null) }} -> ${['the interval of 8h is inferred, and a longer one counts as a gap: state it in catalogue.yaml, as funding: { BTCUSDT-PERP: 8h }, with its changes if the exchange changed it']}`)(
  'funding with %s is used with a warning',
  async (_, files, warnings) => {
    expect(await warningsOf(files)).toEqual(warnings.map(warning => `${PATH}: ${warning}`))
  },
)

const hourlyFromDay2 = paidAt(0, 8, 16, 24, 25, 26, 27)

test('the interval of funding may change when the catalogue says so', async () => {
  expect(await warningsOf({ ...hourlyFromDay2, ...STATED_HOURLY })).toEqual([])
  const { funding } = await readChanged({ ...hourlyFromDay2, ...STATED_HOURLY })
  expect(funding.get('BTCUSDT-PERP')?.intervals).toEqual([
    { from: Number.NEGATIVE_INFINITY, everyMs: 28_800_000 },
    { from: Date.UTC(2020, 0, 2), everyMs: 3_600_000 },
  ])
})

test('the interval of funding is refused if payments come more often than it says', async () => {
  expect(await problemsOf(hourlyFromDay2)).toEqual(
    [25, 26, 27].map(
      (hour, i) =>
        `${PATH}:${i + 6}: t: expected a payment every 8h, as catalogue.yaml states under funding, got one at ` +
        `2020-01-02T0${hour - 24}:00:00Z after that of 2020-01-02T0${hour - 25}:00:00Z; correct the statement or the file`,
    ),
  )
})

test.each(
  casesOf`
{ BTCUSDT-PERP: 5h } -> :30:26: funding.BTCUSDT-PERP: expected none, an interval
{ BTCUSDT-PERP: [] } -> :30:26: funding.BTCUSDT-PERP: expected none, an interval
{ BTCUSDT-PERP: [{ every: 8h, from: 2020-01-01T00:00:00Z }] } -> :30:26: funding.BTCUSDT-PERP: expected none
{ BTCUSDT-PERP: [{ every: 8h }, { every: 4h }] } -> :30:26: funding.BTCUSDT-PERP: expected none
{ BTCUSDT-PREP: 8h } -> :30:12: funding: unknown key "BTCUSDT-PREP"; the nearest key is "BTCUSDT-PERP"
8h -> :30:10: funding: expected a map of instruments, such as { BTCUSDT-PERP: 8h, BTCUSDT: none }, got "8h"`,
)('a statement of funding as %s is refused at its place in the catalogue', async (statement, problem) => {
  expect(await problemsOf(stating(statement))).toEqual([expect.stringContaining(`catalogue.yaml${problem}`)])
})

const NO_FUNDING = stating('{ BTCUSDT-PERP: none }')
const MISSING =
  'expected the funding of BTCUSDT-PERP for alder and birch, plain or .csv.gz, got no such file; if BTCUSDT-PERP has no funding, state it in catalogue.yaml: funding: { BTCUSDT-PERP: none }'

test.each(casesOf<[string, Files, string]>`
has no file -> ${{ [PATH]: null }} -> ${MISSING}
has no file, and of which the catalogue states nothing -> ${{ [PATH]: null, ...stating(null) }} -> ${MISSING}
has none as stated, and a file -> ${NO_FUNDING} -> expected no such file, because catalogue.yaml states funding: { BTCUSDT-PERP: none }: correct one of them`)(
  'an instrument whose funding %s is refused',
  async (_, files, problem) => {
    expect(await problemsOf(files)).toEqual([`${PATH}: ${problem}`])
  },
)

test('an instrument without a funding file pays none if the catalogue states that it has none', async () => {
  const { funding, warnings } = await readChanged({ [PATH]: null, ...NO_FUNDING })
  expect([funding.size, warnings]).toEqual([0, []])
})
