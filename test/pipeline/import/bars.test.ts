import { gzipSync } from 'node:zlib'
import { TimeUnit, tableFromArrays, tableToIPC, timestamp } from '@uwdata/flechette'
import { strToU8, zipSync } from 'fflate'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import '#pipeline/table/columnar.ts' // registers the codecs that the Feather files below are written with
import { casesOf } from '#test/support/cases-of.ts'
import { catalogueWith, lines, problemsOf, readChanged } from '../book/book-folder.ts'
import { importingFiles } from './bars-from-elsewhere.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2024, 0, 1)
const START_2020 = Date.UTC(2020, 0, 1)

/** Five daily bars, `[t, o, h, l, c, v]`. */
const BARS = [0, 1, 2, 3, 4].map(i => [START_MS + i * DAY_MS, ...[100, 110, 90, 105, 7].map(n => n + i)])
const iso = (ms: number): string => new Date(ms).toISOString()
const day = (ms: number): string => iso(ms).slice(0, 10)

const rows = (toRow: (bar: number[]) => readonly unknown[]) => BARS.map(bar => toRow(bar).join())

const objects = BARS.map(([t, o, h, l, c, v]) => {
  const candle = { t, T: t! + DAY_MS - 1, s: 'BTC', i: '1d' }
  return { ...candle, o, c, h, l, v, n: 3 }
})
const columns = Object.fromEntries(
  ['open', 'high', 'low', 'close', 'volume'].map((name, i) => [name, BARS.map(bar => bar[i + 1]!)]),
)
const parquet = parquetWriteBuffer({
  columnData: [
    { name: 'timestamp', data: BARS.map(([t]) => BigInt(t!)), type: 'INT64' },
    ...Object.entries(columns).map(([name, data]) => ({ name, data, type: 'DOUBLE' as const })),
  ],
})
const arrow = tableFromArrays({ timestamp: BARS.map(([t]) => t!), ...columns })
const seconds = (t = 0): number => t / 1000

const BINANCE =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'
const KRAKEN = BARS.map(([t, ...each]) => [seconds(t), ...each.map(String).toSpliced(4, 0, '101'), 3])
const BITSTAMP = BARS.map(([t, ...each]) => ({
  timestamp: String(seconds(t)),
  ...Object.fromEntries(Object.keys(columns).map((name, i) => [name, each[i]])),
}))
const CDD = 'unix,date,symbol,open,high,low,close,Volume BTC,Volume USD'
const downloaded = rows(([t, ...each]) => [seconds(t), day(t!), 'BTC/USD', ...each, each[3]! * each[4]!])
const arrowOf = (codec: 0 | 1 | null = null) => tableToIPC(arrow, { format: 'file', codec })!

/** A plain table does not say what its times are. */
const timesOf = (format: string) => (format === 'columns by name' ? ({ times: 'open' } as const) : {})

test.each(casesOf<[string, string, string, string | Uint8Array]>`
binance -> without a header -> BTCUSDT-1d.csv -> ${lines(...rows(([t, o, h, l, c, v]) => [t, o, h, l, c, v, t! + DAY_MS - 1, v! * c!, 3, 1, 1, 0]))}
binance -> with a header -> a.csv -> ${lines(BINANCE, ...rows(([t, o, h, l, c, v]) => [t! * 1000, o, h, l, c, v, t! + DAY_MS - 1, v! * c!, 3, 1, 1, 0]))}
kraken -> the archive -> XBTUSD_1440.csv -> ${lines(...rows(([t, o, h, l, c, v]) => [seconds(t), o, h, l, c, v, 9]))}
kraken-api -> an answer of its interface -> a.json -> ${JSON.stringify({ error: [], result: { XXBTZUSD: KRAKEN, last: 1 } })}
coinbase -> newest first -> a.json -> ${JSON.stringify(BARS.map(([t, o, h, l, c, v]) => [seconds(t), l, h, o, c, v]).reverse())}
ccxt/freqtrade/bitvavo -> arrays -> BTC_USDT-1d.json -> ${JSON.stringify(BARS)}
cryptodatadownload -> with its banner -> a.csv -> ${lines('https://www.CryptoDataDownload.com', CDD, ...downloaded.toReversed())}
bitstamp/ccxt -> an answer of its interface -> a.json -> ${JSON.stringify({ data: { pair: 'BTC/USD', ohlc: BITSTAMP } })}
bitvavo -> with an offset -> a.csv -> ${lines('Datetime,Open,High,Low,Close,Volume', ...rows(([t, ...rest]) => [iso(t!).replace('Z', '+0000'), ...rest]))}
hyperliquid -> candles -> a.json -> ${JSON.stringify(objects)}
yahoo/freqtrade -> dates alone -> a.csv -> ${lines('Date,Open,High,Low,Close,Adj Close,Volume', ...rows(([t, o, h, l, c, v]) => [day(t!), o, h, l, c, c, v]))}
yfinance -> three lines of header -> a.csv -> ${lines(...['Price,Close,High,Low,Open,Volume', 'Ticker,X,X,X,X,X', 'Date,,,,,'], ...rows(([t, o, h, l, c, v]) => [day(t!), c, h, l, o, v]))}
tradingview-chart -> seconds -> a.csv -> ${lines('time,open,high,low,close,Volume', ...rows(([t, ...rest]) => [seconds(t), ...rest]))}
highwater -> a table of a book -> a.csv -> ${lines('t,o,h,l,c,v', ...rows(bar => bar))}
bitstamp/ccxt -> in another order -> a.csv -> ${lines('volume,close,low,high,open,timestamp', ...rows(bar => bar.toReversed()))}
columns by name -> of no known format -> a.csv -> ${lines('when,Open Price,Max,Min,Close Price,Vol'.replace('when', 'datetime'), ...rows(bar => bar))}
bitstamp/ccxt -> semicolons -> a.csv -> ${lines('timestamp;open;high;low;close;volume', ...BARS.map(bar => bar.join(';')))}
bitstamp/ccxt -> tabs -> a.tsv -> ${lines('timestamp\topen\thigh\tlow\tclose\tvolume', ...BARS.map(bar => bar.join('\t')))}
bitstamp/ccxt -> Parquet -> a.parquet -> ${new Uint8Array(parquet)}
bitstamp/ccxt -> Arrow -> a.feather -> ${arrowOf()}
bitstamp/ccxt -> Feather with LZ4 -> lz4.feather -> ${arrowOf(0)}
bitstamp/ccxt -> Feather with Zstandard -> zstd.feather -> ${arrowOf(1)}
ccxt/freqtrade/bitvavo -> gzip -> a.json.gz -> ${gzipSync(JSON.stringify(BARS))}
highwater -> zip -> a.zip -> ${zipSync({ 'a.csv': strToU8(lines('t,o,h,l,c,v', ...rows(bar => bar))) })}`)(
  'a file of bars in the format %s (%s) is read, and the format is named',
  async (format, _, name, content) => {
    const {
      findings: _findings,
      gaps: _gaps,
      ...read
    } = await importingFiles({ [name]: content }, { tz: 'UTC', ...timesOf(format) })
    expect(read).toEqual({ format, timeframe: '1d', rows: BARS, problems: [] })
  },
)

const prices = (name: string) => columns[name]!
const withTimes = (timezone: string | null) =>
  tableToIPC(
    tableFromArrays(
      { date: BARS.map(([t]) => t!), ...columns },
      { types: { date: timestamp(TimeUnit.NANOSECOND, timezone) } },
    ),
    { format: 'file' },
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
        ...Object.keys(columns).map(name => ({
          name,
          type: 'DOUBLE' as const,
          repetition_type: 'OPTIONAL' as const,
        })),
      ],
      columnData: [
        { name: 'date', data: BARS.map(([t]) => new Date(t!)) },
        ...Object.keys(columns).map(name => ({ name, data: [...prices(name)] })),
      ],
    }),
  )

test.each([
  ['Arrow in UTC', 'a.feather', withTimes('UTC')],
  ['Parquet in UTC', 'a.parquet', parquetOf(true)],
])('the zone of times in %s is known', async (_, name, content) => {
  expect(await importingFiles({ [name]: content })).toMatchObject({ rows: BARS, problems: [] })
})

test.each([
  ['Arrow without a zone', 'a.feather', withTimes(null)],
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

test('columns that are not known by name are read as the operator states them', async () => {
  const text = lines(
    'Datum;Anfang;Hoch;Tief;Schluss',
    ...BARS.map(bar => [day(bar[0]!), ...bar.slice(1, 5)].join(';')),
  )
  const columns = { t: 'Datum', o: 'Anfang', h: 'Hoch', l: 'Tief', c: 5 }
  const read = await importingFiles({ 'kurse.csv': text }, { tz: 'UTC', columns, times: 'open' })
  expect(read).toMatchObject({ format: 'columns as stated', problems: [], timeframe: '1d' })
  expect(read.rows?.map(row => row.slice(0, 5))).toEqual(BARS.map(bar => bar.slice(0, 5)))
})

test.each(['1m', '30m', '2h', '12h', '1d'] as const)(
  'bars of %s are recognised by their distance',
  async name => {
    const ms = { '1m': 60_000, '30m': 1_800_000, '2h': 7_200_000, '12h': 43_200_000, '1d': DAY_MS }[name]
    const text = lines(
      't,o,h,l,c,v',
      ...Array.from({ length: 9 }, (_, i) => `${START_MS + i * ms},1,2,1,2,0`),
    )
    expect(await importingFiles({ 'a.csv': text })).toMatchObject({ timeframe: name, problems: [] })
  },
)

test('the unit of a time is found row by row, so an archive may change from milliseconds to microseconds', async () => {
  const month = (factor: number, from: number, to: number) =>
    lines(
      ...BARS.slice(from, to).map(([t, ...rest]) =>
        [t! * factor, ...rest, (t! + DAY_MS - 1) * factor, rest[4]! * rest[3]!, 3, 1, 1, 0].join(),
      ),
    )
  const read = await importingFiles({ '2024-12.csv': month(1, 0, 3), '2025-01.csv': month(1000, 3, 5) })
  expect(read).toMatchObject({ rows: BARS, problems: [], findings: [] })
})

test('local times of a zone with daylight saving time are read as the moments that they name', async () => {
  const local = ['2024-03-30 12:00', '2024-03-31 00:00', '2024-03-31 13:00', '2024-04-01 01:00']
  const text = lines('time,open,high,low,close', ...local.map(time => `${time},1,2,1,2`))
  const { rows: read } = await importingFiles({ 'a.csv': text }, { tz: 'Europe/Berlin', timeframe: null })
  expect(read).toBeNull() // eleven hours between the second and the third
  const hours = ['2024-03-31 01:00', '2024-03-31 03:00', '2024-03-31 04:00']
  const hourly = lines('time,open,high,low,close', ...hours.map(time => `${time},1,2,1,2`))
  const { rows: three } = await importingFiles({ 'a.csv': hourly }, { tz: 'Europe/Berlin' })
  expect(three?.map(([t]) => iso(t!))).toEqual([
    '2024-03-31T00:00:00.000Z',
    '2024-03-31T01:00:00.000Z',
    '2024-03-31T02:00:00.000Z',
  ])
})

const HEADER = 't,o,h,l,c,v'
const TEXTS = rows(bar => bar)
const [first = '', second = '', third = '', ...others] = TEXTS
const binance = (t: number): string => [t, 1, 2, 1, 2, 1, t + DAY_MS - 1, 2, 3, 1, 1, 0].join()

test.each(casesOf<[string, string, [string, number][]]>`
newest first -> ${lines(HEADER, ...TEXTS.toReversed())} -> ${[['newest_first', 4]]}
out of order -> ${lines(HEADER, second, first, third, ...others)} -> ${[['sorted', 1]]}
repeated -> ${lines(HEADER, first, second, second, third, ...others)} -> ${[['duplicates', 1]]}
rows without prices -> ${lines(HEADER, ...TEXTS, `${START_MS + 9 * DAY_MS},null,null,null,null,null`)} -> ${[['blank', 1]]}
a last line that ends in a number -> ${lines(HEADER, ...TEXTS)}${START_MS + 5 * DAY_MS},100,110,90,105,1 -> ${[['cut_off', 1]]}`)(
  'importing counts a repair of bars that are %s',
  async (_, text, findings) => {
    expect(await importingFiles({ 'a.csv': text })).toMatchObject({ rows: BARS, problems: [], findings })
  },
)

test('an imported file whose last line has fewer fields is refused', async () => {
  const text = `${lines(HEADER, ...TEXTS)}${START_MS + 5 * DAY_MS},1,2,1,1.`
  expect((await importingFiles({ 'a.csv': text })).problems).toEqual([
    'a.csv:7: expected 6 fields as in the header or the first row, got 5',
  ])
})

test('two rows of one time with other values are refused with both rows, until it is stated which counts', async () => {
  const later = second.replace(',106,8', ',106.5,9')
  const files = { 'a.csv': lines(HEADER, first, second, third, ...others, later) }
  expect((await importingFiles(files)).problems).toEqual([
    'a.csv:7: c: expected one bar of 2024-01-02T00:00:00Z, got 106 (row 3 of a.csv) and 106.5, as for 1 rows: if they are of one source, --duplicates first, last or largest-volume (duplicates:) states which counts; otherwise bring each source alone',
  ])
  const readBy = async (duplicates: 'first' | 'last' | 'largest-volume') =>
    (await importingFiles(files, { duplicates })).rows?.[1]?.[4]
  expect([await readBy('first'), await readBy('last'), await readBy('largest-volume')]).toEqual([
    106, 106.5, 106.5,
  ])
})

test('rows of one time that differ between two files are refused as two sources', async () => {
  const table = (price: number) =>
    lines(HEADER, ...BARS.map(([t]) => `${t},${price},${price},${price},${price},1`))
  expect((await importingFiles({ 'a.csv': table(100), 'b.csv': table(101) })).problems).toEqual([
    expect.stringMatching(
      /^b\.csv:2: o: expected one bar of .*, as for 5 rows: .*otherwise bring each source alone$/,
    ),
  ])
})

test('times that are closes are read as the opens before them, by the format or as stated', async () => {
  const [header, step] = [
    'timestamp,symbol,open,high,low,close,trades,volume,homeNotional,foreignNotional',
    DAY_MS,
  ]
  const closes = rows(([t, o, h, l, c, v]) => [t! + step, 'X', o, h, l, c, 3, 9, v, v! * c!])
  expect(await importingFiles({ 'a.csv': lines(header, ...closes) })).toMatchObject({
    rows: BARS,
    format: 'bitmex',
  })
  const named = lines(
    'close_time,open,high,low,close,volume',
    ...rows(([t, ...rest]) => [t! + step, ...rest]),
  )
  expect(await importingFiles({ 'a.csv': named })).toMatchObject({ rows: BARS })
  const plain = lines(HEADER, ...rows(([t, ...rest]) => [t! + step, ...rest]))
  expect(await importingFiles({ 'a.csv': plain }, { times: 'close' })).toMatchObject({ rows: BARS })
})

test('a plain table whose times may be opens or closes is refused until it is stated', async () => {
  const text = lines('datetime,open price,max,min,close price', ...rows(([t, o, h, l, c]) => [t, o, h, l, c]))
  expect((await importingFiles({ 'a.csv': text })).problems).toEqual([
    'a.csv: t: expected to know whether "datetime" is the open or the close of a bar, which a plain table does not say: state --times open or --times close (times:)',
  ])
})

test('a volume that is a time, or contradicts the quote volume, is left blank, and refused where a module may read it', async () => {
  const times = { 'a.csv': lines(HEADER, ...rows(([t, o, h, l, c]) => [t, o, h, l, c, t! + DAY_MS - 1])) }
  const blank = await importingFiles(times)
  expect(blank.rows?.map(row => row[5])).toEqual(BARS.map(() => Number.NaN))
  expect(blank.findings).toEqual([['no_volume', 5]])
  const quoted = lines(
    `${HEADER},quote volume`,
    ...rows(([t, o, h, l, c, v]) => [t, o, h, l, c, v, v! * c! * 3]),
  )
  const read = await importingFiles({ 'a.csv': quoted }, { times: 'open' })
  expect(read.rows?.[0]?.[5]).toBeNaN()
  expect((await importingFiles(times, { readers: ['oak'] })).problems).toEqual([
    expect.stringMatching(
      /^a\.csv:2: v: expected a volume that fits the other columns, because oak may read it/,
    ),
  ])
})

test('an unknown column that may be a price or a volume ends the import until it is ignored, which is a finding', async () => {
  const text = lines(`${HEADER},amount`, ...TEXTS.map(row => `${row},3`))
  const files = { 'a.csv': text }
  expect((await importingFiles(files)).problems[0]).toMatch(/^a\.csv:1: expected to know what "amount" is/)
  const read = await importingFiles(files, { ignore: ['amount'], times: 'open' })
  expect(read).toMatchObject({
    rows: BARS,
    findings: [
      ['last_bar', 1],
      ['stated', 1],
    ],
  })
})

test.each(casesOf<[string, Record<string, string>, [string, number][]]>`
a table of a book -> ${{ 'a.csv': lines(HEADER, ...TEXTS) }} -> ${[]}
a list without a flag -> ${{ 'a.json': JSON.stringify(BARS) }} -> ${[['last_bar', 1]]}
a flag -> ${{ 'a.json': JSON.stringify(BARS.map(([t, o, h, l, c, v]) => [t, o, h, l, c, v, 1, v! * c!, '1'].map(String))) }} -> ${[]}
a flag that says that it is not over -> ${{ 'a.csv': lines(`${HEADER},complete`, ...TEXTS.map(row => `${row},true`), `${START_MS + 5 * DAY_MS},1,2,1,2,1,false`) }} -> ${[['unfinished', 1]]}
the archive of a month -> ${{ 'X-1d-2024-01.csv': lines(...TEXTS.map((_, i) => binance(START_MS + (26 + i) * DAY_MS))) }} -> ${[]}
the same, of a part -> ${{ 'X-1d-2024-01.csv': lines(...TEXTS.map((_, i) => binance(START_MS + i * DAY_MS))) }} -> ${[['last_bar', 1]]}`)(
  'a last bar that may be unfinished is noted only if nothing shows that it is not: %s',
  async (_, files, findings) => {
    expect(await importingFiles(files)).toMatchObject({ problems: [], findings })
  },
)

test.each([
  ['lists', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, /^a\.json:\d*:? ?expected /],
  [
    'objects',
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    /^a\.json: expected JSON of at most 64 levels, got more$/,
  ],
])('JSON of deeply nested %s is refused', async (_, text, message) => {
  expect((await importingFiles({ 'a.json': text })).problems).toEqual([expect.stringMatching(message)])
})

test('missing bars of an imported file are a gap, and nothing is filled in', async () => {
  const read = await importingFiles({ 'a.csv': lines(HEADER, first, second, ...others) })
  expect(read).toMatchObject({
    findings: [['gaps', 1]],
    gaps: [{ bars_missing: 1, from: START_MS + 2 * DAY_MS }],
  })
  expect(read.rows).toEqual(BARS.toSpliced(2, 1))
})

test('the last bar of an imported file is dropped if it is not over, by the clock or by the operator', async () => {
  const running = await importingFiles({ 'a.csv': lines(HEADER, ...TEXTS) }, {}, START_MS + 4.5 * DAY_MS)
  expect(running).toMatchObject({ rows: BARS.slice(0, 4), findings: [['unfinished', 1]] })
  const stated = await importingFiles({ 'a.csv': lines(HEADER, ...TEXTS.toReversed()) }, { drop_last: true })
  expect(stated).toMatchObject({
    rows: BARS.slice(0, 4),
    findings: [
      ['newest_first', 4],
      ['unfinished', 1],
      ['stated', 1],
    ],
  })
})

test('bars whose prices contradict each other are refused, or dropped if the operator says so', async () => {
  const text = lines(HEADER, first, second, third.replace(',92,', ',104,'), ...others)
  const { problems } = await importingFiles({ 'a.csv': text })
  expect(problems).toEqual([
    'a.csv:4: l: expected a low of at most 102, the lower of o and c, got 104; --drop-impossible (drop_impossible: true) leaves such bars out',
  ])
  const dropped = await importingFiles({ 'a.csv': text }, { drop_impossible: true })
  expect(dropped).toMatchObject({
    findings: [
      ['impossible', 1],
      ['gaps', 1],
      ['stated', 1],
    ],
    rows: BARS.toSpliced(2, 1),
  })
})

test('volumes of base and quote asset in each other’s column are exchanged where the price shows it', async () => {
  const text = lines(
    CDD,
    ...BARS.map(([t, o, h, l, c, v], i) =>
      [t, day(t!), 'BTC/USD', o, h, l, c, ...(i < 2 ? [v! * c!, v] : [v, v! * c!])].join(),
    ),
  )
  expect(await importingFiles({ 'a.csv': text })).toMatchObject({
    rows: BARS,
    findings: [
      ['swapped_volume', 2],
      ['last_bar', 1],
    ],
  })
})

const catalogue = (spec: string) =>
  catalogueWith('strategies:', `bars:\n  BTCUSDT-PERP/4h: ${spec}\nstrategies:`)
const BARS_4H = [0, 4, 16].map(hours => `${START_2020 + hours * 3_600_000},7200,7300,7100,7250,1`)
const raw = lines('timestamp,open,high,low,close,volume', ...BARS_4H.toReversed())
const onlyRaw = { 'bars/BTCUSDT-PERP/4h.csv': null, 'raw/perp.csv': raw }

test('bars of a file that the catalogue names are read in place, and what was repaired is known', async () => {
  const { bars, repairs, warnings, inputs } = await readChanged({
    ...catalogue('{ path: raw/perp.csv }'),
    ...onlyRaw,
  })
  expect(bars.get('BTCUSDT-PERP/4h')?.bars.t).toHaveLength(3)
  expect(repairs.map(({ file, kind, count }) => [file, kind, count])).toEqual([
    ['raw/perp.csv', 'newest_first', 2],
    ['raw/perp.csv', 'last_bar', 1],
    ['raw/perp.csv', 'gaps', 2],
  ])
  expect(warnings.filter(({ message }) => message.includes('ignored'))).toEqual([])
  expect(inputs).toContainEqual(expect.objectContaining({ path: 'raw/perp.csv', rows: 3 }))
})

test.each(casesOf`
{ path: ../perp.csv } -> catalogue.yaml:9:28: bars.BTCUSDT-PERP/4h.path: expected a path inside the book, or a list of them, got "../perp.csv"
{ path: raw/perp.csv, zone: UTC } -> catalogue.yaml:9:42: bars.BTCUSDT-PERP/4h: unknown key "zone"
{ path: raw/perp.csv, format: kraken } -> raw/perp.csv:1: expected the columns of kraken, got "timestamp,open,high,low,close,volume": leave out --format (format:), or state --format table and the columns
{ path: raw/prep.csv } -> raw/prep.csv: expected a file that can be read, got another thing`)(
  'bars that the catalogue names as %s are refused',
  async (spec, problem) => {
    expect(await problemsOf({ ...catalogue(spec), ...onlyRaw })).toContainEqual(
      expect.stringContaining(problem),
    )
  },
)

test('bars of a file that the catalogue names beside a table of the same bars are refused, because one of them would be ignored', async () => {
  expect(await problemsOf({ ...catalogue('{ path: raw/perp.csv }'), 'raw/perp.csv': raw })).toEqual([
    'bars/BTCUSDT-PERP/4h.csv: expected one source of BTCUSDT-PERP/4h, got bars/BTCUSDT-PERP/4h.csv and raw/perp.csv of the catalogue: remove one',
  ])
})
