import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { type Files, lines, problemsOf, readChanged } from './book-folder.ts'

const PATH = 'bars/BTCUSDT-PERP/4h.csv'
const HEADER = 't,o,h,l,c,v'
const FIRST = '2020-01-01T00:00:00Z,100,110,90,105,1'
const SECOND = '2020-01-01T04:00:00Z,105,115,95,100,1'

const withBars = (content: string | Uint8Array) => problemsOf({ [PATH]: content })
const readBarsOf = async (content: string) =>
  (await readChanged({ [PATH]: content })).bars.get('BTCUSDT-PERP/4h')?.bars

test.each(
  casesOf`
an earlier time -> 2019-12-31T20:00:00Z,105,115,95,100,1 -> t: expected a time after 2020-01-01T00:00:00Z of the row before, got 2019-12-31T20:00:00Z
a time off the grid -> 2020-01-01T05:00:00Z,105,115,95,100,1 -> t: expected the open of a 4h bar, counted from midnight UTC, got 2020-01-01T05:00:00Z
a local time -> 2020-01-01T04:00:00,105,115,95,100,1 -> t: expected a time with Z or an offset, got "2020-01-01T04:00:00", a local time of an unknown zone; in UTC it ends in Z
a low above the open -> 2020-01-01T04:00:00Z,105,115,105.5,106,1 -> l: expected a low of at most 105, the lower of o and c, got 105.5
a high below the close -> 2020-01-01T04:00:00Z,105,106,95,107,1 -> h: expected a high of at least 107, the higher of o and c, got 106
a price of 0 -> 2020-01-01T04:00:00Z,105,115,0,100,1 -> l: expected a price above 0, got "0"
a negative price -> 2020-01-01T04:00:00Z,-105,115,95,100,1 -> o: expected a price above 0, got "-105"
NaN -> 2020-01-01T04:00:00Z,105,NaN,95,100,1 -> h: expected a price above 0, got "NaN"
Infinity -> 2020-01-01T04:00:00Z,105,1e999,95,100,1 -> h: expected a price above 0, got "1e999"
a blank price -> 2020-01-01T04:00:00Z,105,115,95,,1 -> c: expected a price above 0, got nothing
a negative volume -> 2020-01-01T04:00:00Z,105,115,95,100,-1 -> v: expected a volume of at least 0, or a blank, got "-1"
a blank before a number -> 2020-01-01T04:00:00Z,105,115,95, 100,1 -> c: expected a price above 0, got " 100"
too few fields -> 2020-01-01T04:00:00Z,105,115,95,100 -> expected 6 fields (t,o,h,l,c,v), got 5: "2020-01-01T04:00:00Z,105,115,95,100"
a blank line ->  -> expected 6 fields (t,o,h,l,c,v), got a blank line
an open quote -> "2020-01-01T04:00:00Z,105,115,95,100,1 -> expected 6 fields (t,o,h,l,c,v), got a field whose quotes do not match: "\"2020-01-01T04:00:00Z,105,115,95,100,1"
a quote inside a field -> 2020-01-01T04:00:00Z,10"5,115,95,100,1 -> expected 6 fields (t,o,h,l,c,v), got a field whose quotes do not match: "2020-01-01T04:00:00Z,10\"5,115,95,100,1"
a time twice -> ${FIRST} -> t: expected each time once, got 2020-01-01T00:00:00Z again
too many fields -> ${SECOND},7 -> expected 6 fields (t,o,h,l,c,v), got 7: "2020-01-01T04:00:00Z,105,115,95,100,1,7"
a quote after a carriage return -> ${SECOND}\r"2020-01-01T08:00:00Z",105,115,95,100,1 -> expected 6 fields (t,o,h,l,c,v), got a field whose quotes do not match: "2020-01-01T04:00:00Z,105,115,95,100,1\r\"2020-01-01T08:00:00Z\",105,115,95,100,1"`,
)('a row of bars with %s is refused with what was expected and what came', async (_, row, message) => {
  expect(await withBars(lines(HEADER, FIRST, row))).toEqual([`${PATH}:3: ${message}`])
})

test('every rule that a row of bars breaks is named', async () => {
  expect(await withBars(lines(HEADER, FIRST, '2019-12-31T20:00:00Z,100,105,104,106,-1'))).toEqual([
    `${PATH}:3: l: expected a low of at most 100, the lower of o and c, got 104`,
    `${PATH}:3: h: expected a high of at least 106, the higher of o and c, got 105`,
    `${PATH}:3: v: expected a volume of at least 0, or a blank, got "-1"`,
    `${PATH}:3: t: expected a time after 2020-01-01T00:00:00Z of the row before, got 2019-12-31T20:00:00Z`,
  ])
})

test('a table of bars that is newest first is one problem, whatever its length', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => `${1577836800000 - i * 14_400_000},105,115,95,100,1`)
  expect(await withBars(lines(HEADER, ...rows))).toEqual([
    `${PATH}: expected the oldest bar first, got a table that is newest first: reverse it, or bring it with \`highwater import bars\``,
  ])
})

test('a stray quote in a table hides no other problem of the book', async () => {
  const files = { [PATH]: lines(HEADER, '2020-01-01T00:00:00Z,10"0,110,90,105,1', 'x,1,1,1,1,1') }
  expect(await problemsOf({ ...files, 'returns/cedar.csv': lines('t,ret', '2020-01-01,"0.01"x') })).toEqual([
    expect.stringMatching(`^${PATH}:2: expected 6 fields .*quotes do not match`),
    expect.stringMatching(`^${PATH}:3: t: expected`),
    expect.stringMatching('^returns/cedar.csv:2: expected 2 fields .*quotes do not match'),
  ])
})

test.each(
  casesOf`
a table of other columns -> time,open\n1,2\n -> 1: expected the columns t,o,h,l,c,v, in any order, got "time,open"
a table with a column twice -> t,o,h,l,c,c\n${FIRST}\n -> 1: expected the columns t,o,h,l,c,v, in any order, got "t,o,h,l,c,c"
without a header -> ${FIRST}\n -> 1: expected the columns t,o,h,l,c,v, in any order, got "${FIRST}"
empty ->  -> 1: expected the columns t,o,h,l,c,v, in any order, got nothing
a header alone -> ${HEADER}\n -> 1: expected rows under the header, got none
without a line break at its end -> ${HEADER}\n${FIRST}\n2020-01-01T04:00:00Z,105,115,95,10 -> 3: expected a line break at the end of the last line, got the end of the file: the file may be cut off; if it is whole, end its last line
bytes without line breaks -> ${'x'.repeat(5000)} -> 1: expected lines of at most 4096 characters, got a longer one: a table is text with one row a line, and its line breaks are LF or CRLF`,
)('a table of bars is refused if it is %s', async (_, content, problem) => {
  expect(await withBars(content)).toEqual([`${PATH}:${problem}`])
})

test.each(casesOf<[string, Files, string]>`
in a file that ends in .gz and is not gzip -> ${{ [PATH]: null, [`${PATH}.gz`]: lines(HEADER, FIRST) }} -> ${PATH}.gz: expected a gzip stream, because its name ends in .gz, got another thing (incorrect header check)
in a plain and a gzip file -> ${{ [`${PATH}.gz`]: gzipSync(lines(HEADER, FIRST)) }} -> ${PATH}: expected one file, got ${PATH} and ${PATH}.gz: remove one
in no file, with the files beside it and the strategies that need it -> ${{ [PATH]: null, 'bars/BTCUSDT-PERP/1d.csv.gz': gzipSync(lines(HEADER)) }} -> ${PATH}: expected bars for alder and birch, plain or .csv.gz, got no such file; bars/BTCUSDT-PERP/ has 1d.csv.gz`)(
  'bars %s are refused',
  async (_, files, problem) => {
    expect(await problemsOf(files)).toEqual([problem])
  },
)

const expected = { timeframeMs: 14_400_000, t: [1577836800000, 1577851200000], c: [105, 100], v: [1, 1] }
const columnsOf = (bars: Awaited<ReturnType<typeof readBarsOf>>) =>
  bars && { timeframeMs: bars.timeframeMs, t: [...bars.t], c: [...bars.c], v: [...bars.v] }

test.each(casesOf`
ISO times -> ${lines(HEADER, FIRST, SECOND)}
epoch milliseconds -> ${lines(HEADER, '1577836800000,100,110,90,105,1', '1577851200000,105,115,95,100,1')}
times with an offset -> ${lines(HEADER, FIRST.replace('00:00:00Z', '02:00:00+02:00'), SECOND)}
columns in another order -> ${lines('v,c,t,o,h,l', '1,105,1577836800000,100,110,90', '1,100,1577851200000,105,115,95')}
CRLF line breaks and a byte order mark -> ${`\ufeff${lines(HEADER, FIRST, SECOND).replaceAll('\n', '\r\n')}`}
quoted fields -> ${lines('"t","o","h","l","c","v"', `"${FIRST.replaceAll(',', '","')}"`, SECOND)}
exponents -> ${lines(HEADER, FIRST.replace(',105,1', ',1.05e2,1E0'), SECOND)}`)(
  'a table of bars is read if it has %s',
  async (_, content) => {
    expect(columnsOf(await readBarsOf(content))).toEqual(expected)
  },
)

test('a table of many chunks and blocks is read without a loss or a change', async () => {
  const count = 150_000
  const rows = Array.from(
    { length: count },
    (_, i) => `${1577836800000 + i * 14_400_000},${i + 1},${i + 2},${i + 0.5},${i + 1.25},${i}`,
  )
  const bars = await readBarsOf([HEADER, ...rows, ''].join('\n'))
  expect(bars?.t).toEqual(Float64Array.from({ length: count }, (_, i) => 1577836800000 + i * 14_400_000))
  expect(bars?.c).toEqual(Float64Array.from({ length: count }, (_, i) => i + 1.25))
  expect(bars?.v).toEqual(Float64Array.from({ length: count }, (_, i) => i))
})
