import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import type { Book } from '#pipeline/book/book.ts'
import { BookError, formatProblem } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { GOOD, lines, problemsOf, readChanged, writeFolder } from './book-folder.ts'

const day = (date: string) => parseIsoDate(date) ?? Number.NaN
const at = (iso: string) => Date.parse(iso)

let dir: string
let book: Book

beforeAll(async () => {
  await withFiles(GOOD, async folder => {
    dir = folder
    book = await readBook(folder)
  })
})

test('a sound book has the service of the catalogue, the defaults filled in', () => {
  expect(book.service).toEqual({
    name: 'Test histories',
    max_modelled_risk_pct: 0.1,
    disclaimer: expect.stringContaining('no guide to future results'),
    methodology_url: 'https://example.com/method',
    embargo_days: 0,
    data_source: 'bars made for a test',
    engine: 'a test',
    benchmark: true,
    stress_periods: [],
    public_url: null,
    program_url: null,
    synthetic: false,
    licence: null,
  })
})

test('a sound book has the strategies in catalogue order, the defaults merged under each', () => {
  expect(book.strategies).toEqual([
    {
      ...{ id: 'alder', name: 'Alder', blurb: null, base_risk_pct: 0.02, timeframe: '4h', mark: '4h' },
      ...{ inception: day('2020-01-01'), inceptionPlace: { line: 14, column: 16 }, ended: null },
      ...{ engine: null, mode: 'DRY_RUN', charting: [], allow_overlap: false, trials: null, replayed_at: [] },
      ...{ instrument: 'BTCUSDT-PERP', ccy: 'USDT', denomination: 'USDT, linear perpetual' },
      ...{ commission_bps_per_side: 5, slippage_ticks: 2, tick_size: 0.1, max_leverage: 15 },
      ...{ result_tolerance_bps: 1, chart_zone: null, bars: 'BTCUSDT-PERP/4h' },
      source: { kind: 'module', path: join(dir, 'strategies/alder.ts') },
    },
    expect.objectContaining({ id: 'birch', commission_bps_per_side: 4, slippage_ticks: 2, inception: null }),
    expect.objectContaining({ id: 'cedar', mode: 'LIVE', blurb: 'Reported by another desk.', bars: null }),
  ])
})

test('a sound book has the bars in columns on shared memory, a blank volume as NaN, a gap listed and not filled', () => {
  const file = book.bars.get('BTCUSDT-PERP/4h')
  expect([...book.bars.keys()]).toEqual(['BTCUSDT-PERP/4h'])
  expect(file).toEqual({
    path: 'bars/BTCUSDT-PERP/4h.csv',
    timeframe: '4h',
    bars: {
      timeframeMs: 14_400_000,
      t: Float64Array.of(at('2020-01-01T00:00Z'), at('2020-01-01T04:00Z'), at('2020-01-01T16:00Z')),
      o: Float64Array.of(7200, 7240, 7110.1),
      h: Float64Array.of(7250.5, 7260, 7300),
      l: Float64Array.of(7190, 7100, 7110.1),
      c: Float64Array.of(7240, 7110.1, 7290),
      v: Float64Array.of(1000.25, Number.NaN, 0),
    },
    gaps: [{ from: at('2020-01-01T08:00Z'), to: at('2020-01-01T12:00Z'), bars_missing: 2 }],
  })
  expect(file?.bars.c.buffer).toBeInstanceOf(SharedArrayBuffer)
})

test('a sound book has the trades of a ledger by entry time, each with its row', () => {
  const unknown = { leverage: null, stop: null, account_return: null, fees: null, funding: null }
  const first = { side: 'long', entry_time: at('2020-01-01T00:00Z'), entry_price: 7200, stop: 7100 }
  const second = { side: 'short', entry_time: at('2020-01-01T04:00Z'), entry_price: 7240, leverage: 0.5 }
  const open = { ...first, entry_time: at('2020-01-01T16:00Z'), entry_price: 7110.1, stop: 7000 }
  const [later, end] = [at('2020-01-01T04:00Z'), at('2020-01-01T16:00Z')]
  expect(book.strategies[1]?.source).toEqual({
    ...{ kind: 'ledger', path: 'ledgers/birch.csv', rows: [3, 2, 4] },
    trades: [
      { ...unknown, ...first, exit_time: later, exit_price: 7240, exit_reason: 'time' },
      {
        ...{ ...unknown, ...second, account_return: 0.0085 },
        ...{ exit_time: end, exit_price: 7110.1, exit_reason: 'signal' },
      },
      { ...unknown, ...open, exit_time: null, exit_price: null, exit_reason: null },
    ],
  })
})

test('a sound book has reported returns as a series, and the ledger beside them', () => {
  expect(book.strategies[2]?.source).toMatchObject({
    kind: 'returns',
    daily: { period: 'daily', first: day('2020-01-01'), values: Float64Array.of(0.01, -0.005, 0) },
    ledger: {
      path: 'ledgers/cedar.csv',
      rows: [2],
      trades: [{ account_return: -0.0175, exit_reason: 'stop' }],
    },
  })
})

test('a sound book names every file that was read, with its size, digest and rows', () => {
  const input = (path: keyof typeof GOOD, rows: number | null) => ({
    path,
    bytes: Buffer.byteLength(GOOD[path]),
    sha256: createHash('sha256').update(GOOD[path]).digest('hex'),
    rows,
  })
  expect(book.inputs).toEqual([
    input('catalogue.yaml', null),
    input('strategies/alder.ts', null),
    input('ledgers/birch.csv', 3),
    input('returns/cedar.csv', 3),
    input('ledgers/cedar.csv', 1),
    input('bars/BTCUSDT-PERP/4h.csv', 3),
    input('funding/BTCUSDT-PERP.csv', 2),
  ])
  expect(book.warnings).toEqual([])
})

test('a gzip file reads to exactly what the plain one does', async () => {
  const tables = Object.entries(GOOD).filter(([path]) => path.endsWith('.csv'))
  const packed = Object.fromEntries(
    tables.flatMap(([path, text]) => [
      [path, null],
      [`${path}.gz`, gzipSync(text)],
    ]),
  )
  const [plain, gzip] = [await readChanged({}), await readChanged(packed)]
  expect(gzip.bars.get('BTCUSDT-PERP/4h')?.bars).toEqual(plain.bars.get('BTCUSDT-PERP/4h')?.bars)
  const { path: _, ...paid } = gzip.funding.get('BTCUSDT-PERP')!
  expect(plain.funding.get('BTCUSDT-PERP')).toMatchObject(paid)
  const sourcesOf = ({ strategies }: typeof plain) =>
    strategies.slice(1).map(({ source }) => JSON.stringify(source).replaceAll('.csv.gz', '.csv'))
  expect(sourcesOf(gzip)).toEqual(sourcesOf(plain))
})

test('bars that no strategy needs are not read, however bad they are', async () => {
  expect(await problemsOf({ 'bars/BTCUSDT-PERP/1d.csv': 'nonsense' })).toEqual([])
})

test('every problem of a book is reported at once, by file and line', async () => {
  const catalogue = GOOD['catalogue.yaml'].replace('base_risk_pct: 0.02', 'base_risk_pct: two')
  const dir = await writeFolder({
    ...GOOD,
    'catalogue.yaml': catalogue.replace('name: Cedar', 'nmae: Cedar'),
    'bars/BTCUSDT-PERP/4h.csv': lines('t,o,h,l,c,v', '1577836800000,1,1,1,1,x', '1577851200000,1,0.5,1,1,'),
    'funding/BTCUSDT-PERP.csv': lines('t,rate', '1577836800,0.0001'),
    'ledgers/birch.csv': lines('side,entry_time'),
    'ledgers/cedar.csv': GOOD['ledgers/cedar.csv'].replace('long', 'up'),
    'returns/cedar.csv': lines('t,ret', '2020-01-01,1%'),
  })
  const error = await readBook(dir).catch(error => error)
  expect(error).toBeInstanceOf(BookError)
  expect(error.problems.map(formatProblem)).toEqual([
    'bars/BTCUSDT-PERP/4h.csv:2: v: expected a volume of at least 0, or a blank, got "x"',
    'bars/BTCUSDT-PERP/4h.csv:3: h: expected a high of at least the low, 1, got 0.5, as if their columns were exchanged',
    'catalogue.yaml:11:20: strategies[0].base_risk_pct: expected a number above 0 and at most 0.1 (a fraction: 0.02 = 2 % of equity), got "two"',
    'catalogue.yaml:20:5: strategies[2].name: expected a line of text of 1 to 200 characters, got nothing',
    'catalogue.yaml:21:5: strategies[2]: unknown key "nmae"; the nearest key is "name"',
    'funding/BTCUSDT-PERP.csv:2: t: expected epoch milliseconds, got "1577836800", which looks like epoch seconds',
    'ledgers/birch.csv:1: expected the columns side,entry_time,entry_price,exit_time,exit_price,exit_reason and at least one of leverage,stop,account_return and any of fees,funding,part, in any order, got "side,entry_time"',
    'ledgers/cedar.csv:2: side: expected long or short, got "up"',
    'returns/cedar.csv:2: ret: expected a fraction of at least -1 (0.01 = +1 %), got "1%"',
  ])
  expect(error.message).toBe(
    [`the book in ${dir} has 9 problems:`, ...error.problems.map(formatProblem)].join('\n  '),
  )
})
