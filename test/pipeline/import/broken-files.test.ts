// Files as they come when something went wrong: each is refused with its row and its reason, and none is half read.
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readLedger } from '#pipeline/book/read-sources.ts'
import { createReading } from '#pipeline/book/reading.ts'
import { importLedger } from '#pipeline/import/ledger.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAllInTurn } from '#test/support/for-all.ts'
import { lines } from '../book/book-folder.ts'
import { importingFiles } from './bars-from-elsewhere.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)
const HEADER = 'timestamp,open,high,low,close,volume'

/** A walk without a pattern, so that no mistake leaves it possible by chance. */
const BARS = Array.from({ length: 40 }, (_, i) => {
  const [o, c] = [100 + ((i * 7919) % 37), 100 + (((i + 1) * 7919) % 37)]
  return [START_MS + i * DAY_MS, o, Math.max(o, c) + 1.25, Math.min(o, c) - 1.5, c, 10 + i]
})
const ROWS = BARS.map(bar => bar.join())
const TEXT = lines(HEADER, ...ROWS)
const iso = (ms = 0): string => new Date(ms).toISOString()

const mapped = (toRow: (bar: number[], i: number) => readonly unknown[]) =>
  lines(HEADER, ...BARS.map((bar, i) => toRow(bar, i).join()))

test.each(casesOf<[string, string | Uint8Array, string]>`
cut in mid-row, with more lines behind -> ${TEXT.replace(ROWS[4]!, ROWS[4]!.slice(0, -9))} -> :6: expected 6 fields as in the header or the first row, got 4
cut in mid-row at its end -> ${TEXT.slice(0, -9)} -> :41: expected 6 fields as in the header or the first row, got 4
of two instruments without a column that names them -> ${TEXT + lines(...BARS.map(([t, ...prices]) => [t, ...prices.map(price => price! * 20)].join()))} -> :42: o: expected one bar of 2024-01-01T00:00:00Z, got ${BARS[0]![1]} (row 2 of a.csv) and ${BARS[0]![1]! * 20}: if they are of one source
whose first row is cut off -> ${TEXT.replace(ROWS[0]!, ROWS[0]!.slice(0, 9))} -> :2: expected 6 fields as in the header or the first row, got 1
whose first row has prices that are none -> ${TEXT.replace(ROWS[0]!, `${START_MS},1x0,1x1,9x,100,10`)} -> :2: o: expected a number, got "1x0"
with bars of the future -> ${TEXT + lines(`${Date.UTC(2031, 0, 1)},100,101,99,100,1`)} -> :42: t: expected a bar of the past, got 2031-01-01T00:00:00Z: correct the zone or the file
separated by blanks -> ${TEXT.replaceAll(',', ' ')} -> :1: expected columns for t, o, h, l, c of bars, got no column for t
with decimal commas -> ${TEXT.replaceAll(',', ';').replaceAll('.', ',')} -> :2: h: expected a number, got "102,25", which has a decimal comma: export decimals with a point
with a header in another language -> ${TEXT.replace(HEADER, 'Datum,Eröffnung,Hoch,Tief,Schluss,Volumen')} -> :1: expected columns for t, o, h, l, c of bars, got no column for t in "Datum,Eröffnung,Hoch,Tief,Schluss,Volumen": state the names of the file with --column t=NAME
with a column twice -> ${TEXT.replace('volume', 'close')} -> :1: c: expected one column, got close and close: state the right one
with serial dates of a spreadsheet -> ${mapped(([t, ...rest]) => [t! / DAY_MS + 25_569, ...rest])} -> :2: t: expected a time, got "45292", which looks like the serial date of a spreadsheet (2024-01-01): export the column as text, YYYY-MM-DD
with ambiguous days and months -> ${mapped(([t, ...rest]) => [iso(t).slice(0, 10).split('-').reverse().join('.'), ...rest])} -> :2: t: expected a date with the year first
with local times -> ${mapped(([t, ...rest]) => [iso(t).slice(0, 16), ...rest])} -> :2: t: expected a zone for "2024-01-01T00:00", which has none: state it with --tz
with the days of another zone -> ${mapped(([t, ...rest]) => [t! - 3_600_000, ...rest])} -> :2: t: expected the open of a 1d bar, counted from midnight UTC, got 2023-12-31T23:00:00Z: days of another zone
of two instruments -> ${lines(`${HEADER},symbol`, ...ROWS.map((row, i) => `${row},${i % 2 === 0 ? 'BTC' : 'ETH'}`))} -> : expected one instrument, got BTC and ETH: split the file
of two timeframes -> ${TEXT + lines(`${START_MS + 3_600_000},100,101,99,100,1`)} -> : expected bars of one timeframe, got most of them 1d and some 1h apart
of a timeframe that is none -> ${mapped(([, ...rest], i) => [START_MS + i * 7 * 60_000, ...rest])} -> : expected bars of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, got bars that are 420 seconds apart
without a header, in an unknown order -> ${lines(...BARS.map(([t, ...rest]) => [...rest, t].join()))} -> :1: expected a header, or a known order of columns of bars, got "
without a header, in two possible orders -> ${lines(...BARS.map(([t]) => `${t},5,5,5,5,1`))} -> :1: expected one order of columns that fits, got ccxt/freqtrade/bitvavo, coinbase and bitfinex: name the format with --format
with swapped prices -> ${TEXT.replace('high,low', 'low,high')} -> :2: h: expected a high of at least the low, 102.25, got 98.5, as if their columns were exchanged; --column states the right ones, --drop-impossible leaves such bars out (40 rows: 2, 3, 4, 5, 6, 7, 8 and 33 more)
with a price that is none -> ${TEXT.replace(',100,', ',n/a,')} -> :2: o: expected a price above 0, got nothing
with a stray quote -> ${TEXT.replace(',100,', ',1"00,')} -> :2: expected fields whose quotes match, got a stray quote
empty ->  -> :1: expected a table of bars, got an empty file
of a header alone -> ${HEADER}\n -> : expected bars, got none
that is UTF-16 -> ${Buffer.from(TEXT, 'utf16le')} -> :1: expected text in UTF-8, got UTF-16
that is a workbook -> ${strToU8('PK\u0003\u0004 and more\n')} -> : expected a table, got a workbook (XLSX) or an archive: save the sheet as CSV
of bytes without lines -> ${new Uint8Array(1_000_000)} -> :1: expected lines of at most 4096 characters, got a longer one
of a page of the web -> ${strToU8(lines('<!DOCTYPE html>', '<html><body>404</body></html>'))} -> : expected a table, got a web page (HTML): save the sheet as CSV`)(
  'a CSV file of bars is refused with row and reason if it is %s',
  async (_, content, message) => {
    const { problems, rows } = await importingFiles({ 'a.csv': content })
    expect([rows, problems[0]]).toEqual([null, expect.stringContaining(`a.csv${message}`)])
  },
)

test.each(casesOf<[string, string, string | Uint8Array, string]>`
megabytes of zeros, packed -> a.csv.gz -> ${gzipSync(Buffer.alloc(10_000_000), { level: 1 })} -> a.csv.gz:1: expected lines of at most 4096 characters, got a longer one
a packed file that is cut off -> a.csv.gz -> ${gzipSync(TEXT).subarray(0, 200)} -> expected a whole gzip stream, got its beginning: the file is cut off
that is not packed -> a.csv.gz -> ${TEXT} -> a.csv.gz: expected a gzip stream, because its name ends in .gz
a web page that is called a workbook -> a.xls -> ${strToU8('<html><table></table></html>')} -> a.xls: expected a table, got a web page (HTML): save the sheet as CSV
an archive that is cut off -> a.zip -> ${zipSync({ 'a.csv': strToU8(TEXT) }).subarray(0, 300)} -> a.zip: expected a zip archive, got another thing
an archive of two tables -> a.zip -> ${zipSync({ 'b.csv': strToU8(TEXT), 'c.csv': strToU8(TEXT) })} -> a.zip: expected one table in the archive, or one that is named like it, got b.csv, c.csv
JSON of lists nested without end -> a.json -> ${'['.repeat(200_000) + ']'.repeat(200_000)} -> a.json: expected JSON, got another thing (RangeError
JSON nested without end -> a.json -> ${'{"a":'.repeat(200_000) + '[[1]]' + '}'.repeat(200_000)} -> a.json: expected JSON with one list of rows, got none
JSON that is cut off -> a.json -> ${JSON.stringify(BARS).slice(0, -20)} -> a.json: expected JSON, got another thing (SyntaxError
JSON of which two records ran into each other -> a.json -> ${JSON.stringify(BARS.map(([t, o, h, l, c]) => ({ t, o, h, l, c }))).replace('},{', ',')} -> a.json: expected each name once in an object, got one twice: the file is damaged
JSON with an error of the exchange -> a.json -> {"error":["EGeneral:Invalid arguments"]} -> a.json: expected JSON with one list of rows, got none
JSON with the bars of two instruments -> a.json -> ${JSON.stringify({ BTC: BARS, ETH: BARS })} -> a.json: expected JSON with one list of rows, got 2
a Parquet file that is none -> a.parquet -> ${TEXT} -> a.parquet: expected a Parquet file, got another thing
an Arrow file that is none -> a.feather -> ${TEXT} -> a.feather: expected an Arrow file, got another thing`)(
  'an imported file of bars is refused with the reason if it is %s',
  async (_, name, content, message) => {
    const { problems, rows } = await importingFiles({ [name]: content })
    expect([rows, problems[0]]).toEqual([null, expect.stringContaining(message)])
  },
)

test('each row of two files with times of several units is read by its own unit', async () => {
  const units = [1, 1e-3, 1e3, 1e6]
  const rows = BARS.map(([t, ...rest], i) => [(t! * units[i % 4]!).toFixed(0), ...rest].join())
  const [early, late] = [lines(HEADER, ...rows.slice(0, 17)), lines(HEADER, ...rows.slice(17))]
  expect(await importingFiles({ 'a.csv': early, 'b.csv': late })).toMatchObject({ rows: BARS, gaps: [] })
})

test('a missing file among those that are imported is named', async () => {
  const { problems } = await importingFiles({ 'a.csv': TEXT, 'c.csv': TEXT }, { paths: ['a.csv', 'b.csv'] })
  expect(problems).toEqual([
    expect.stringContaining('b.csv: expected a file that can be read, got another thing'),
  ])
})

/** One change of a text as accidents make them: it is cut, or bytes are lost, doubled or put in. */
const accident = fc.record({
  kind: fc.constantFrom('cut', 'lose', 'double', 'put'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  count: fc.integer({ min: 1, max: 60 }),
  stray: fc.constantFrom(...'",;\n\t-x\0ä\ufeff', '\r\n', 'null', 'e9', '. '),
})
type Accident = typeof accident extends fc.Arbitrary<infer T> ? T : never

function suffer(text: string, { kind, at, count, stray }: Accident): string {
  const place = Math.floor(at * text.length)
  const [before, after] = [text.slice(0, place), text.slice(place)]
  const ends = {
    cut: '',
    lose: after.slice(count),
    double: after.slice(0, count) + after,
    put: stray + after,
  }
  return before + ends[kind]
}

/** A file of each kind of reader, newest first or not. */
const FILES: Readonly<Record<string, string>> = {
  'plain.csv': TEXT,
  'reversed.csv': lines(HEADER, ...ROWS.toReversed()),
  'semicolons.csv': TEXT.replaceAll(',', ';'),
  'binance.csv': lines(
    ...BARS.map(bar => `${bar.join()},${bar[0]! + DAY_MS - 1},${bar[5]! * bar[4]!},3,1,1,0`),
  ),
  'arrays.json': JSON.stringify(BARS),
  'objects.json': JSON.stringify({
    data: { ohlc: BARS.map(([t, o, h, l, c, v]) => ({ t, o, h, l, c, v })) },
  }),
}

/** `FUZZ_RUNS` and `SEED` take others. */
const DAMAGE = Number(process.env.FUZZ_RUNS ?? 40)

/** What a text says in a row: the numbers of each line or record, by the time that they begin with. */
function saidBy(text: string): ReadonlyMap<number, readonly string[]> {
  const rows = text
    .split(/[\n[\]{}]+/)
    .map(part => (part.match(/-?\d+(?:\.\d+)?(?:e\d+)?/g) ?? []).map(Number))
  const byTime = Map.groupBy(rows, ([t = Number.NaN]) => inMilliseconds(t))
  return new Map([...byTime].map(([t, own]) => [t, own.map(row => row.slice(1).join())]))
}

/** A digit more or less may make another unit of a time, which is read as what it is. */
const inMilliseconds = (t: number): number =>
  t > 1e17 ? t / 1e6 : t > 1e14 ? t / 1e3 : t < 1e11 ? t * 1e3 : t

/** Every row of data is a bar, or one that a finding counts. */
const DROPPED = ['duplicates', 'blank', 'cut_off', 'unfinished']
const countDropped = (findings: readonly (readonly (string | number)[])[]): number =>
  findings.reduce((sum, [kind, count]) => (DROPPED.includes(String(kind)) ? sum + Number(count) : sum), 0)

function countLines(text: string): number {
  const all = text.split('\n').filter(line => line.trim() !== '')
  return all.length - all.findIndex(line => /^\W*\d/.test(line))
}

test.each(Object.keys(FILES))(
  '%s with random damage is refused with a reason, or every bar is one that the file has',
  async name => {
    await forAllInTurn(DAMAGE, fc.array(accident, { minLength: 1, maxLength: 3 }), async accidents => {
      const text = accidents.reduce(suffer, FILES[name]!)
      const { rows, problems, findings } = await importingFiles({ [name]: text })
      if (rows === null) {
        expect(problems.length).toBeGreaterThan(0)
        for (const problem of problems) expect(problem).toMatch(/expected|more problems/)
        return
      }
      expect(problems).toEqual([])
      if (name.endsWith('.csv')) expect(rows.length + countDropped(findings)).toBe(countLines(text))
      const said = saidBy(text)
      for (const [t, ...values] of rows) {
        const [o, h, l, c] = values
        expect(Math.min(o!, c!) >= l! && Math.max(o!, c!) <= h! && l! > 0).toBe(true)
        const own = said.get(t!) ?? []
        const shown = values.slice(0, 4).join()
        expect(
          own.some(row => row.startsWith(shown)),
          `${t},${shown} of ${JSON.stringify(own)}`,
        ).toBe(true)
      }
      expect(rows.every(([t], i) => i === 0 || t! > rows[i - 1]![0]!)).toBe(true)
    })
  },
)

const LISTED = lines(
  'Trade #,Type,Date and time,Signal,Price USDT,Size (qty),Net P&L USD,Cumulative P&L USD,Cumulative P&L %',
  ...Array.from({ length: 12 }, (_, i) => {
    const day = (offset: number): string => iso(START_MS + (2 * i + offset) * DAY_MS).slice(0, 10)
    const sums = `1,3,${3 * (i + 1)},${(0.03 * (i + 1)).toFixed(2)}`
    return `${i + 1},Exit long,${day(1)} 00:00,x,${103 + i},${sums}\n${i + 1},Entry long,${day(0)} 00:00,x,${100 + i},${sums}`
  }),
)

test('a list of trades with random damage is refused with a reason, or its amounts are whole', async () => {
  const path = 'list.csv'
  const stated = { bars: null, commission_bps: null, isUnfunded: false, realised: false, tz: 'UTC' }
  await forAllInTurn(DAMAGE, fc.array(accident, { minLength: 1, maxLength: 2 }), async accidents => {
    const reading = createReading('', { held: Buffer.from(accidents.reduce(suffer, LISTED)) })
    const imported = await importLedger(reading, path, { capital: 10_000, ...stated })
    if (imported === null) {
      for (const { message } of reading.problems.sorted()) expect(message).toMatch(/expected|more problems/)
      expect(reading.problems.isEmpty()).toBe(false)
      return
    }
    await readLedger(reading, path, { allowOverlap: true, besideReturns: false }, imported.rows)
    const sum = imported.account?.totals.net_profit ?? 0
    if (imported.rows.length > 0 && reading.problems.isEmpty())
      expect(sum).toBeCloseTo(3 * imported.rows.length, 1)
  })
})
