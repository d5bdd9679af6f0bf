import { gzipSync } from 'node:zlib'
import { TimeUnit, tableFromArrays, tableToIPC, timestamp } from '@uwdata/flechette'
import { strToU8, zipSync } from 'fflate'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import type { importBars } from '#pipeline/import/bars.ts'
import type { ReadTable } from '#pipeline/import/read-table.ts'
import '#pipeline/table/columnar.ts' // registers the codecs that the Feather files below are written with
import { casesOf } from '#test/support/cases-of.ts'
import { lines } from '../book/book-folder.ts'
import { importingFiles } from './bars-from-elsewhere.ts'

type Rules = Partial<Parameters<typeof importBars>[1]>

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)

/** Five daily bars, `[t, o, h, l, c, v]`. */
const BARS = [0, 1, 2, 3, 4].map(i => [START_MS + i * DAY_MS, ...[100, 110, 90, 105, 7].map(n => n + i)])
const iso = (ms: number): string => new Date(ms).toISOString()
const day = (ms: number): string => iso(ms).slice(0, 10)

const rows = (toRow: (bar: number[]) => readonly unknown[]) => BARS.map(bar => toRow(bar).join())

const columns = Object.fromEntries(
  ['open', 'high', 'low', 'close', 'volume'].map((name, i) => [name, BARS.map(bar => bar[i + 1]!)]),
)
/** An LZ4 block without matches, for 15 to 269 bytes. */
const literalsOf = (bytes: Uint8Array) => Uint8Array.of(0xf0, bytes.length - 15, ...bytes)

const parquetIn = (codec: 'SNAPPY' | 'LZ4_RAW') =>
  parquetWriteBuffer({
    columnData: [
      { name: 'timestamp', data: BARS.map(([t]) => BigInt(t!)), type: 'INT64' },
      ...Object.entries(columns).map(([name, data]) => ({ name, data, type: 'DOUBLE' as const })),
    ],
    ...{ codec, compressors: { LZ4_RAW: literalsOf } },
  })
const KRAKEN = BARS.map(([t, ...each]) => [t! / 1000, ...each.map(String).toSpliced(4, 0, '101'), 3])
const CDD = 'unix,date,symbol,open,high,low,close,Volume BTC,Volume USD'

const arrowOf = (timezone: string | null, codec: 0 | 1 | null = null) =>
  tableToIPC(
    tableFromArrays(
      { date: BARS.map(([t]) => t!), ...columns },
      { types: { date: timestamp(TimeUnit.NANOSECOND, timezone) } },
    ),
    { format: 'file', codec },
  )!
const parquetOf = (isAdjustedToUTC: boolean) =>
  new Uint8Array(
    parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 6 },
        {
          ...{ name: 'date', type: 'INT64', repetition_type: 'OPTIONAL' },
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' },
        },
        ...Object.keys(columns).map(name => ({ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' }) as const),
      ],
      columnData: [
        { name: 'date', data: BARS.map(([t]) => new Date(t!)) },
        ...Object.entries(columns).map(([name, data]) => ({ name, data: [...data] })),
      ],
    }),
  )

test.each(casesOf<[string, ReadTable['name'], string, string | Uint8Array]>`
an answer of Kraken -> kraken-api -> a.json -> ${JSON.stringify({ error: [], result: { XXBTZUSD: KRAKEN, last: 1 } })}
three lines of header -> yfinance -> a.csv -> ${lines(...['Price,Close,High,Low,Open,Volume', 'Ticker,X,X,X,X,X', 'Date,,,,,'], ...rows(([t, o, h, l, c, v]) => [`${day(t!)} 00:00+00:00`, c, h, l, o, v]))}
Parquet -> bitstamp/ccxt -> a.parquet -> ${new Uint8Array(parquetIn('SNAPPY'))}
Parquet with LZ4 -> bitstamp/ccxt -> a.parquet -> ${new Uint8Array(parquetIn('LZ4_RAW'))}
Parquet with a zone -> yahoo/freqtrade -> utc.parquet -> ${parquetOf(true)}
Arrow with a zone -> yahoo/freqtrade -> a.feather -> ${arrowOf('UTC')}
Feather with LZ4 -> yahoo/freqtrade -> lz4.feather -> ${arrowOf('UTC', 0)}
Feather with Zstandard -> yahoo/freqtrade -> zstd.feather -> ${arrowOf('UTC', 1)}
gzip -> ccxt/freqtrade/bitvavo -> a.json.gz -> ${gzipSync(JSON.stringify(BARS))}
zip -> highwater -> a.zip -> ${zipSync({ 'a.csv': strToU8(lines('t,o,h,l,c,v', ...rows(bar => bar))) })}`)(
  'a file of bars as %s is read, and its format, %s, is named',
  async (_, format, name, content) => {
    expect(await importingFiles({ [name]: content })).toMatchObject({
      ...{ format, timeframe: '1d', rows: BARS, problems: [] },
    })
  },
)

test.each([
  ['Arrow without a zone', 'a.feather', arrowOf(null)],
  ['Parquet without a zone', 'a.parquet', parquetOf(false)],
])('times in %s are refused until their zone is stated', async (_, name, content) => {
  const { problems } = await importingFiles({ [name]: content })
  expect(problems).toEqual([
    expect.stringContaining('expected a zone for "2024-01-01T00:00:00.000", which has none'),
  ])
  expect(await importingFiles({ [name]: content }, { tz: 'UTC' })).toMatchObject({
    rows: BARS,
    problems: [],
  })
})

test('local times of a zone with daylight saving time are read as the moments that they name', async () => {
  const hours = ['2024-03-31 01:00', '2024-03-31 03:00', '2024-03-31 04:00']
  const hourly = lines('time,open,high,low,close', ...hours.map(time => `${time},1,2,1,2`))
  const { rows: three } = await importingFiles({ 'a.csv': hourly }, { tz: 'Europe/Berlin' })
  expect(three?.map(([t]) => (t! - Date.UTC(2024, 2, 31)) / 3_600_000)).toEqual([0, 1, 2])
})

const HEADER = 't,o,h,l,c,v'
const TEXTS = rows(bar => bar)
const [first = '', second = '', third = '', ...others] = TEXTS
const TEXT = lines(HEADER, ...TEXTS)
const LARGE_THIRD = lines(HEADER, first, second, third.replace(',92,', ',104,'), ...others)
const AMOUNTS = lines(`${HEADER},amount`, ...TEXTS.map(row => `${row},3`))
const TIMES = lines(HEADER, ...rows(([t, o, h, l, c]) => [t, o, h, l, c, t! + DAY_MS - 1]))
const NO_VOLUME = BARS.map(bar => bar.with(5, Number.NaN))
const binance = (from: number): string => {
  const bar = (t: number): string => [t, 1, 2, 1, 2, 1, t + DAY_MS - 1, 2, 3, 1, 1, 0].join()
  return lines(...BARS.map((_, i) => bar(START_MS + (from + i) * DAY_MS)))
}

test.each(casesOf<[string, string, string, [rules: Rules, nowMs?: number], unknown, string]>`
newest first -> a.csv -> ${lines(HEADER, ...TEXTS.toReversed())} -> ${[{}]} -> ${BARS} -> newest_first 4
out of order -> a.csv -> ${lines(HEADER, second, first, third, ...others)} -> ${[{}]} -> ${BARS} -> sorted 1
repeated -> a.csv -> ${lines(HEADER, first, second, second, third, ...others)} -> ${[{}]} -> ${BARS} -> duplicates 1
of which a row is without prices -> a.csv -> ${TEXT}${lines(`${START_MS + 9 * DAY_MS},null,null,null,null,null`)} -> ${[{}]} -> ${BARS} -> blank 1
with a last line that ends in a number -> a.csv -> ${TEXT}${START_MS + 5 * DAY_MS},100,110,90,105,1 -> ${[{}]} -> ${BARS} -> cut_off 1
with a last bar that is not over by the clock -> a.csv -> ${TEXT} -> ${[{}, START_MS + 4.5 * DAY_MS]} -> ${BARS.slice(0, 4)} -> unfinished 1
with a last bar that is not over as stated -> a.csv -> ${lines(HEADER, ...TEXTS.toReversed())} -> ${[{ drop_last: true }]} -> ${BARS.slice(0, 4)} -> newest_first 4, unfinished 1, stated 1
with impossible prices, which may go -> a.csv -> ${LARGE_THIRD} -> ${[{ drop_impossible: true }]} -> ${BARS.toSpliced(2, 1)} -> impossible 1, gaps 1, stated 1
with impossible prices and volumes below 1, which may go -> a.csv -> ${TEXT}${lines(`${START_MS + 5 * DAY_MS},0.5,0.4,0.3,0.5,0.2`)} -> ${[{ drop_impossible: true }]} -> ${BARS} -> impossible 1, stated 1
by closes that are the last millisecond of the bar -> a.csv -> ${lines('close_time,o,h,l,c,v', ...rows(([t, ...rest]) => [t! + DAY_MS - 1, ...rest]))} -> ${[{}]} -> ${BARS} -> shifted 1, last_bar 1
with a volume that is a time -> a.csv -> ${TIMES} -> ${[{}]} -> ${NO_VOLUME} -> no_volume 5
with base and quote volume in each other’s column, as the price shows -> a.csv -> ${lines(CDD, ...BARS.map(([t, o, h, l, c, v], i) => [t, day(t!), 'BTC/USD', o, h, l, c, ...(i < 2 ? [v! * c!, v] : [v, v! * c!])].join()))} -> ${[{}]} -> ${BARS} -> swapped_volume 2, last_bar 1
with a column that may be a volume, and is ignored -> a.csv -> ${AMOUNTS} -> ${[{ ignore: ['amount'], times: 'open' }]} -> ${BARS} -> last_bar 1, stated 1
in a table of a book -> a.csv -> ${TEXT} -> ${[{}]} -> ${BARS} -> nothing
in a list of one -> a.json -> ${JSON.stringify([BARS[0]])} -> ${[{ timeframe: '1d' }]} -> ${[BARS[0]]} -> last_bar 1
in a list without a flag -> a.json -> ${JSON.stringify(BARS)} -> ${[{}]} -> ${BARS} -> last_bar 1
with a flag -> a.json -> ${JSON.stringify(BARS.map(([t, o, h, l, c, v]) => [t, o, h, l, c, v, 1, v! * c!, '1'].map(String)))} -> ${[{}]} -> ${BARS} -> nothing
with a flag that says that the last is not over -> a.csv -> ${lines(`${HEADER},complete`, ...TEXTS.map(row => `${row},true`), `${START_MS + 5 * DAY_MS},1,2,1,2,1,false`)} -> ${[{}]} -> ${BARS} -> unfinished 1
in the archive of a month -> X-1d-2024-01.csv -> ${binance(26)} -> ${[{}]} -> ${expect.anything()} -> nothing
in a part of such an archive -> X-1d-2024-01.csv -> ${binance(0)} -> ${[{}]} -> ${expect.anything()} -> last_bar 1`)(
  'bars %s are read, and what was found and repaired is counted',
  async (_, name, text, args, rows, findings) => {
    const { findings: found, ...read } = await importingFiles({ [name]: text }, ...args)
    expect(read).toMatchObject({ rows, problems: [] })
    expect(found.map(each => each.join(' ')).join(', ') || 'nothing').toBe(findings)
  },
)

test('two rows of one time with other values, also of two files, are refused with both rows, until it is stated which counts', async () => {
  const later = second.replace(',106,8', ',106.5,9')
  const files = { 'a.csv': lines(HEADER, first, second, third, ...others), 'b.csv': lines(HEADER, later) }
  expect((await importingFiles(files)).problems).toEqual([
    'b.csv:2: c: expected one bar of 2024-01-02T00:00:00Z, got 106 (row 3 of a.csv) and 106.5: if they are of one source, --duplicates first, last or largest-volume states which counts; otherwise bring each source alone',
  ])
  const readBy = async (duplicates: 'first' | 'last' | 'largest-volume') =>
    (await importingFiles(files, { duplicates })).rows?.[1]?.[4]
  expect([await readBy('first'), await readBy('last'), await readBy('largest-volume')]).toEqual([
    106, 106.5, 106.5,
  ])
})

test.each(casesOf<[string, string, string, Rules, string]>`
with prices that contradict each other -> a.csv -> ${LARGE_THIRD} -> ${{}} -> a.csv:4: l: expected a low of at most 102, the lower of o and c, got 104; --drop-impossible leaves such bars out
with a volume that is a time where a module may read it -> a.csv -> ${TIMES} -> ${{ readers: ['oak'] }} -> a.csv:2: v: expected a volume that fits the other columns, because oak may read it
with an unknown column that may be a price or a volume -> a.csv -> ${AMOUNTS} -> ${{}} -> a.csv:1: expected to know what "amount" is
in JSON of more levels than are looked at -> a.json -> ${'{"a":'.repeat(64)}${JSON.stringify(BARS)}${'}'.repeat(64)} -> ${{}} -> a.json: expected JSON with one list of rows, got none
with several of one day and a clock that is not read -> a.csv -> ${lines(`${HEADER},hour`, `${second},0`, `${second.replace(',106,8', ',106.5,9')},1`)} -> ${{ times: 'open', timeframe: '1d' }} -> otherwise bring each source alone; if "hour" is the time of day, join both with --column t=DATE+TIME`)(
  'bars %s are refused in one sentence',
  async (_, name, text, rules, problem) => {
    expect((await importingFiles({ [name]: text }, rules)).problems).toEqual([
      expect.stringContaining(problem),
    ])
  },
)

test('missing bars of an imported file are a gap, and nothing is filled in', async () => {
  const read = await importingFiles({ 'a.csv': lines(HEADER, first, second, ...others) })
  expect(read).toMatchObject({
    findings: [['gaps', 1]],
    gaps: [{ bars_missing: 1, from: START_MS + 2 * DAY_MS }],
  })
  expect(read.rows).toEqual(BARS.toSpliced(2, 1))
})
