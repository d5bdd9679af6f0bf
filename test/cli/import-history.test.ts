import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readBook } from '#pipeline/book/read-book.ts'
import {
  CAPITAL,
  createForeignFiles,
  type ForeignTrade,
  GENERATIONS,
  openOf,
} from '#test/support/books/foreign-files.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const { bars, freqtrade, listOfTrades, utc } = createForeignFiles(Date.UTC(2024, 0, 1))
const BARS = bars(240)

const ENTRY = '--id elm --base-risk 0.02'
const LIST = `ledger --instrument X --capital ${CAPITAL} --no-funding ${ENTRY}`
const IN_CHART = `${LIST} --tz +08:00`

/** Imports a file into a book that has bars; `words` are the kind and the options. `again` does so with more of them, which count. */
async function importing(name: string, content: string | Uint8Array, words: string) {
  const cwd = await temporaryFolder()
  await writeFiles(cwd, { 'book/bars/X/1h.csv': BARS, [name]: content })
  const again = (more = '') => {
    const [kind = '', ...options] = `${words} ${more}`.trim().split(' ')
    return run(['import', kind, name, '--book', 'book', ...options], { cwd })
  }
  const answer = await again()
  const read = async (path: string) => (await readFile(join(cwd, 'book', path), 'utf8')).trimEnd().split('\n')
  const files = async () =>
    (await readdir(join(cwd, 'book'), { recursive: true }))
      .filter(path => /\.(?:csv|yaml)$/.test(path))
      .sort()
  return { ...answer, cwd, again, read, files, book: () => readBook(join(cwd, 'book')) }
}

/** The ledger and the catalogue of the first generation, of which a book builds. */
let built: readonly (string | undefined)[] | null = null

test.each(Object.entries(GENERATIONS))(
  'a list of trades of TradingView of generation %s becomes a ledger in a book that builds',
  async (_, header) => {
    const list = listOfTrades(header)
    const { code, out, err, read, cwd, again } = await importing('in.csv', list, IN_CHART)
    expect([code, err.replace(/note: (?:columns that|in.csv: (?:\d+ rows|read as)) .*\n/g, '')]).toEqual([
      0,
      '',
    ])
    expect(out).toBe(
      'ledgers/elm.csv and catalogue.yaml: 3 trades, 1 open with 10, net profit 20, win rate 66.67 %, drawdown of closed trades -0.20 %, from tradingview\n',
    )
    const [first, ...rows] = await read('ledgers/elm.csv')
    expect(first).toBe(
      'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return',
    )
    expect(rows).toEqual([
      `long,${utc(40)},102,${utc(43)},105,signal,0.102,,0.003`,
      expect.stringMatching(`^short,${utc(43)},105,${utc(54)},104,signal,0.1046859`),
      expect.stringMatching(`^long,${utc(63)},102,${utc(64)},100,signal,`),
      expect.stringMatching(`^long,${utc(109)},102,,,,0\\.1\\d+,,$`),
    ])
    const files = [first, ...rows, ...(await read('catalogue.yaml'))]
    if (built === null) {
      const where = ['--book', 'book', '--store', `file://${cwd}/store`]
      const answer = await run(['build', ...where, '--allow-stale', '--effort', 'quick'], { cwd })
      expect(answer).toMatchObject({ code: 0 })
      built = files
    }
    expect(files).toEqual(built)
    expect((await again()).code).toBe(1)
  },
)

test('an imported list of trades states what its prices show: no commission, the tick, what the trades are marked on', async () => {
  const { read } = await importing('in.csv', listOfTrades(), IN_CHART)
  expect((await read('catalogue.yaml')).slice(-12, -2).map(line => line.trim())).toEqual([
    '- id: elm',
    'name: Elm',
    'base_risk_pct: 0.02',
    'source: ledger',
    'instrument: X',
    'mark: 1h',
    'engine: tradingview',
    'commission_bps_per_side: 0',
    'slippage_ticks: 0',
    'tick_size: 1',
  ])
})

test('a list of trades with a header alone becomes a strategy without trades', async () => {
  const words = `${LIST} --tz UTC --commission-bps 0`
  const { code, out, book } = await importing('in.csv', GENERATIONS.A, words)
  expect([code, out]).toEqual([0, 'ledgers/elm.csv and catalogue.yaml: 0 trades, from tradingview\n'])
  expect((await book()).strategies[0]?.source).toMatchObject({ kind: 'ledger', trades: [] })
})

test('a list of trades whose parts overlap says so in the catalogue, and keeps the account exactly', async () => {
  const parts: readonly ForeignTrade[] = [
    { side: 'long', entry: 40, exit: 50 },
    { side: 'long', entry: 40, exit: 54 },
    { side: 'long', entry: 41, exit: 45 },
  ]
  const list = listOfTrades(GENERATIONS.A, parts)
  const { code, read, book } = await importing('in.csv', list, IN_CHART)
  expect(code).toBe(0)
  expect(await read('catalogue.yaml')).toContain('    allow_overlap: true')
  expect((await book()).strategies[0]?.source).toMatchObject({ kind: 'ledger' })
  const rows = (await read('ledgers/elm.csv')).slice(1).map(row => row.split(','))
  expect(rows.map(row => row[6])).toEqual(['0.102', '0.102', '0.10040160642570281']) // 100 * 10 / (10 000 - 2 * 20)
})

test.each(casesOf`
a capital that contradicts the list -> ${listOfTrades()} -> :3: expected a capital by which the cumulative profit of 30.00 is 0.3 %, got 1000: correct --capital -> ${IN_CHART} --capital 1000
a capital that contradicts its percentages alone -> ${listOfTrades().replaceAll(/,[^,\n]*(,[^,\n]*)$/gm, '$1')} -> :3: expected a capital by which the cumulative profit of 30.00 is 0.3 %, got 1000 -> ${IN_CHART} --capital 1000
a trade that is open before one that is closed -> ${listOfTrades().replace(/(\n2,Exit short,)[^,]*,[^,]*,[^,]*/, '$1,,')} -> :5: expected an exit of trade 2, because trade 3 after it is closed, got an open trade
a trade that is missing -> ${listOfTrades().replace(/\n2,.*\n2,.*/, '')} -> :5: expected trade 2, got trade "3": export the whole list
a percentage with a decimal comma -> ${listOfTrades().replaceAll(/,(-?\d+)\.(\d\d)$/gm, ',"$1,$2"')} -> :3: cumulative_pct: expected a number, got "0,30", which has a decimal comma -> ${IN_CHART} --capital 5000
a profit that is changed -> ${listOfTrades().replace(/(\n1,.*,)30(,0.1,.*\n1,.*,)30(,0.1)/, '$190$290$3')} -> :3: expected a cumulative profit of 90.00 after trade 1, got "30": rows are missing or changed
a trade that lacks its exit -> ${listOfTrades().replace(/\n2,Exit.*/, '')} -> :4: expected an exit of trade 2, got its entry alone: export the whole list
a trade that lacks its entry -> ${listOfTrades().replace(/\n2,Entry.*/, '')} -> :4: expected an entry of trade 2, got its exit alone: export the whole list
a row that is cut off -> ${listOfTrades().slice(0, -12)} -> :9: expected 11 fields as in the header or the first row
a last line that is cut off -> ${listOfTrades().slice(0, -9)} -> :9: expected 11 fields as in the header or the first row, got 9
another type -> ${listOfTrades().replace('Exit short', 'Ausstieg short')} -> :4: type: expected Entry or Exit long or short, got "Ausstieg short"`)(
  'a list of trades with %s is refused in one sentence, and nothing is written',
  async (_, text, message, words = IN_CHART) => {
    const { code, out, err, files } = await importing('in.csv', text, words)
    expect([code, out]).toEqual([1, ''])
    expect(err.split('\n')).toEqual([
      'the import has a problem:',
      expect.stringContaining(`in.csv${message}`),
      '',
    ])
    expect(await files()).toEqual(['bars/X/1h.csv'])
  },
)

test('a list of trades without a zone is refused until it is stated, and nothing is written', async () => {
  const { code, err, files } = await importing('in.csv', listOfTrades(), LIST)
  const problem =
    'in.csv:3: entry_time: expected a zone for "2024-01-03 00:00", which has none: state it with --tz, after the settings of the tool that made the file, or after a time in it that you know'
  expect([code, err]).toEqual([1, expect.stringContaining(problem)])
  expect(await files()).toEqual(['bars/X/1h.csv'])
})

const [HEAD = '', ...HOURS] = BARS.split('\n')

/** Bars without wicks that are two hours late. */
const LATE = Array.from({ length: 238 }, (_, i) => {
  const [o, c] = [openOf(i), openOf(i + 1)]
  return [utc(i + 2), o, Math.max(o, c), Math.min(o, c), c, 1].join()
})

test.each(casesOf<[string, string[], string]>`
trades before the first bar -> ${HOURS.slice(60)} -> : 2 of 4 trades are before the first bar, ${utc(60)}: import older bars, or take the account as reported returns with --realised
times of another zone -> ${[...LATE, '']} -> : expected fills inside their bars in +08:00, which --tz states, got 2 of 7 outside, and inside in UTC-2, UTC+7, UTC+6, Asia/Colombo, Asia/Katmandu and Indian/Cocos: look up the zone in the settings of the tool and correct --tz; if it is +08:00, 
a fill that its bar does not have -> ${HOURS.with(43, `${utc(43)},200,208,192,200,1`)} -> :3: exit_price: expected a price of the bar at ${utc(43)}, got 105, which may be the average of several fills (position adjustment): take the account as reported returns with --realised`)(
  'a list with %s is refused, and nothing is written',
  async (_, hours, message) => {
    const { cwd, again } = await importing('in.csv', listOfTrades(), IN_CHART)
    await writeFiles(cwd, { 'late/bars/X/1h.csv': [HEAD, ...hours].join('\n') })
    const { code, out, err } = await again('--book late')
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(`:\n  in.csv${message}`)])
    expect(await readdir(join(cwd, 'late'))).toEqual(['bars'])
  },
)

/** Trades at the opens of bars around the day on which the clocks of New York change, by the hours of 2024. */
const AROUND = Array.from({ length: 8 }, (_, i) => 1500 + 40 * i)
const midOf = (hour: number): number => (openOf(hour) + openOf(hour + 1)) / 2
const newYork = (hour: number): string => utc(hour - (hour < 1663 ? 4.5 : 3.5)).slice(0, 16)

test.each(['UTC', '-05:00', 'Europe/Berlin'])(
  'an account whose trades lie outside of their bars in the stated zone %s is refused beside a zone that has them inside, over a change of the clocks',
  async tz => {
    const trades = AROUND.map(hour => {
      const [entry, exit] = [midOf(hour), midOf(hour + 9)]
      return `1,${entry},${exit},${exit - entry},${newYork(hour)},${newYork(hour + 9)}`
    })
    const list = ['size,entry_price,exit_price,pnl,entry_time,exit_time', ...trades, ''].join('\n')
    const { cwd, again } = await importing('in.csv', list, `${LIST} --realised --commission-bps 0`)
    const hours = bars(2000).replaceAll(/^(.*Z,)(\d+),.*,(\d+),1$/gm, (_, t, o, c) =>
      [t + o, Math.max(o, c), Math.min(o, c), c, 1].join(),
    )
    await writeFiles(cwd, { 'exact/bars/X/1h.csv': hours })
    const { code, out, err } = await again(`--book exact --tz ${tz}`)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      RegExp(`expected fills inside .* in ${tz}, which .* and inside in .*America/New_York: look`),
    )
    expect((await again('--book exact --tz America/New_York')).code).toBe(0)
  },
)

test('a list of trades without bars of its instrument is refused, unless only the realised account is wanted', async () => {
  const words = `${IN_CHART} --instrument Y`
  const { code, err, again, read, book } = await importing('in.csv', listOfTrades(), words)
  expect([code, err]).toEqual([1, expect.stringContaining('expected bars of Y in ')])
  const realised = await again('--realised')
  expect([realised.code, realised.out]).toEqual([
    0,
    'ledgers/elm.csv and returns/elm.csv and catalogue.yaml: 3 trades, 1 open with 10, net profit 20, win rate 66.67 %, drawdown of closed trades -0.20 %, from tradingview\n',
  ])
  expect(await read('returns/elm.csv')).toEqual([
    't,ret',
    '2024-01-02,0.003',
    `2024-01-03,${(10 - 20) / 10_030}`,
  ])
  expect((await book()).strategies[0]?.source).toMatchObject({ kind: 'returns' })
})

const FREQTRADE = `ledger --instrument X --no-funding ${ENTRY}`

test.each(casesOf<[string, string, string | Uint8Array]>`
as JSON -> backtest-result.json -> ${JSON.stringify(freqtrade())}
as the archive that it writes -> backtest-result-1.zip -> ${zipSync({ 'backtest-result-1_config.json': strToU8('{}'), 'backtest-result-1.json': strToU8(JSON.stringify(freqtrade())) })}`)(
  'a result of freqtrade %s brings its capital, zone and fees',
  async (_, name, content) => {
    const { code, out, read, book } = await importing(name, content, FREQTRADE)
    expect([code, out]).toEqual([0, expect.stringContaining('1 trades, net profit 27.93, win rate 100.00 %')])
    expect((await read('ledgers/elm.csv'))[1]).toBe(
      'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,target,0.102,91.8,0.002793',
    )
    expect(await read('catalogue.yaml')).toContain('    commission_bps_per_side: 10')
    expect((await book()).strategies).toHaveLength(1)
  },
)

test('the one rate of all fills of a freqtrade result is its commission, exactly, although no trade is closed', async () => {
  const result = freqtrade({ profit_total_abs: 0 })
  const open = { is_open: true, close_date: null, close_rate: null, profit_abs: 0, fee_open: 0.0004875 }
  Object.assign(result.strategy.Sample.trades[0]!, { ...open, fee_close: 0.0004875 })
  const { code, read } = await importing('r.json', JSON.stringify(result), FREQTRADE)
  expect(code).toBe(0)
  expect(await read('catalogue.yaml')).toContain('    commission_bps_per_side: 4.875')
})

test('a result of freqtrade of several pairs becomes an account, and no ledger of one instrument', async () => {
  const content = JSON.stringify(freqtrade({}, ['X/USDT', 'Y/USDT']))
  const { code, err, again, read } = await importing('r.json', content, FREQTRADE)
  expect(code).toBe(1)
  expect(err).toContain(
    'r.json: expected trades of one instrument, got X/USDT and Y/USDT: export one, or take the account as reported returns with --realised\n',
  )
  const realised = await again('--realised')
  expect(realised.code).toBe(0)
  expect(realised.err).toContain('note: r.json: 1 trade closed by the tool at the end of its test\n')
  expect(await read('returns/elm.csv')).toEqual(['t,ret', `2024-01-02,${(2 * 27.93) / CAPITAL}`])
})

test.each(casesOf<[string, object, string]>`
several strategies -> ${{ strategy: { ...freqtrade().strategy, Other: freqtrade().strategy.Sample } }} -> expected the result of one strategy, got 2 (Sample and Other): export one
fewer trades than it states -> ${freqtrade({ total_trades: 2 })} -> expected the 2 trades that the file states, got 1: export the whole result
another profit than it states -> ${freqtrade({ profit_total_abs: 100 })} -> expected the profit of 100 that the file states, got trades with 27.93 in all`)(
  'a result of freqtrade with %s is refused',
  async (_, result, message) => {
    const { code, err } = await importing('r.json', JSON.stringify(result), FREQTRADE)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  },
)

const BACKTESTING = [
  'Size,EntryBar,ExitBar,EntryPrice,ExitPrice,SL,TP,PnL,Commission,ReturnPct,EntryTime,ExitTime,Duration,Tag',
  '10,30,47,102,105,91.8,,28.965,1.035,0.028,2024-01-02 16:00:00,2024-01-02 19:00:00,17:00:00,up',
  '-10,47,60,105,104,104,,8.955,1.045,0.01,2024-01-02 19:00:00,2024-01-03 06:00:00,11:00:00,down',
  '',
].join('\n')
const TABLE = `${LIST} --tz UTC`

test('a table of backtesting.py gives the side by the sign of the size, and a stop for an exit at the stop', async () => {
  const { code, out, read } = await importing('trades.csv', BACKTESTING, TABLE)
  expect(code).toBe(0)
  expect(out).toMatch(/2 trades, net profit 37.92, .* from backtesting.py\n$/)
  expect(await read('catalogue.yaml')).toContain('    commission_bps_per_side: 5')
  const rows = (await read('ledgers/elm.csv')).slice(1)
  expect(rows[0]).toBe(
    'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,signal,0.102,,0.0028964999999999998',
  )
  expect(rows[1]).toMatch(/^short,2024-01-02T19:00:00Z,105,2024-01-03T06:00:00Z,104,stop,0.1046967/)
})

test('a table of trades whose columns are stated becomes a ledger', async () => {
  const own = 'Richtung,Auf,Kurs,Zu,Endkurs,Hebel\nlong,2024-01-02 16:00,102,2024-01-02 19:00,105,0.5\n'
  const columns =
    'side=Richtung entry_time=Auf entry_price=Kurs exit_time=Zu exit_price=Endkurs leverage=Hebel'
  const words = `${TABLE} ${columns.replaceAll(/\S+/g, '--column $&')} --commission-bps 3`
  const { code, read, err } = await importing('in.csv', own, words)
  expect(code).toBe(0)
  expect(err).toContain('read as its publisher states: tz: UTC; columns: {side:Richtung,')
  expect(await read('catalogue.yaml')).toContainEqual(
    expect.stringMatching(/^ {2}ledgers\/elm\.csv: .*side:Richtung/),
  )
  expect((await read('ledgers/elm.csv'))[1]).toBe(
    'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,signal,0.5,,',
  )
})

test('a strategy that the catalogue has keeps its entry and its comments when it is imported again', async () => {
  const { again, read, cwd } = await importing('trades.csv', BACKTESTING, TABLE)
  const before = (await read('catalogue.yaml')).join('\n')
  await writeFiles(cwd, { 'book/catalogue.yaml': `# mine\n${before}\n` })
  const replaced = await again('--replace')
  expect([replaced.code, replaced.out]).toEqual([0, expect.stringMatching(/^ledgers\/elm.csv: 2 trades/)])
  expect((await read('catalogue.yaml')).join('\n')).toBe(`# mine\n${before}`)
  expect((await again('--id oak')).code).toBe(0)
  expect((await read('catalogue.yaml')).filter(line => /# mine|- id/.test(line))).toEqual([
    '# mine',
    '  - id: elm',
    '  - id: oak',
  ])
})

const GROWING = [
  'Size,EntryBar,ExitBar,EntryPrice,ExitPrice,PnL,EntryTime,ExitTime',
  '10,30,47,102,105,28.965,2024-01-02 16:00,2024-01-02 19:00',
]
const SECOND = '-10,47,60,105,104,8.955,2024-01-02 19:00,2024-01-03 06:00'
const growing = (...rows: readonly string[]) => [...GROWING, ...rows, ''].join('\n')

test('--append adds the trades after the last one, and a trade that differs is refused with the way to correct it', async () => {
  const { again, cwd, read } = await importing('trades.csv', growing(), TABLE)
  const [header, first] = await read('ledgers/elm.csv')
  await writeFiles(cwd, { 'trades.csv': growing(SECOND) })
  expect((await again('--append')).code).toBe(0)
  const grown = await read('ledgers/elm.csv')
  expect(grown).toEqual([header, first, expect.stringMatching(/^short,2024-01-02T19:00:00Z,105,/)])
  await writeFiles(cwd, { 'trades.csv': growing(SECOND).replace('105,28.965', '106,38.96') })
  const { code, err } = await again('--append')
  expect(code).toBe(1)
  expect(err).toMatch(
    /expected row 2 as it is in ledgers\/elm\.csv, .* --replace, and build with --restate elm --reason TEXT/,
  )
  expect(await read('ledgers/elm.csv')).toEqual(grown)
})

test('--append reads the trades after the last one by what was stated about those before, or is refused', async () => {
  const { again, cwd, read } = await importing('trades.csv', growing(), TABLE)
  const catalogue = await read('catalogue.yaml')
  await writeFiles(cwd, { 'trades.csv': growing(SECOND) })
  const { code, err } = await again('--append --tz +00:00')
  expect(code).toBe(1)
  expect(err).toMatch(
    /expected what was stated about ledgers\/elm\.csv before, .*tz: UTC.*, got .*tz: \+00:00/,
  )
  expect(await read('catalogue.yaml')).toEqual(catalogue)
})

test('equal parts of one entry are no duplicates where the file numbers them', async () => {
  const list = listOfTrades(GENERATIONS.A, [
    { side: 'long', entry: 40, exit: 50 },
    { side: 'long', entry: 40, exit: 50 },
  ])
  const { code, read, book } = await importing('in.csv', list, IN_CHART)
  expect(code).toBe(0)
  expect((await read('ledgers/elm.csv')).map(row => row.split(',').at(-1))).toEqual(['part', '1', '2'])
  expect((await book()).report.flatMap(({ findings }) => findings.map(each => each.code))).not.toContain(
    'duplicate_trades',
  )
})

const DAYS = ['2024-01-03,1.5', '2024-01-02,-0.25', '2024-01-01,0.7']
const RETURNS = `returns ${ENTRY} --commission-bps 0 --unit`

test('returns in percent, newest first and repeated, become fractions in order', async () => {
  const text = ['Date,Return', ...DAYS, DAYS[2], ''].join('\n')
  const { code, out, err, read } = await importing('in.csv', text, `${RETURNS} percent`)
  expect([code, out, err]).toEqual([
    0,
    'returns/elm.csv and catalogue.yaml: 3 days, 2024-01-01 to 2024-01-03, from columns by name\n',
    'note: in.csv: 2 rows earlier than the row before: sorted by time\nnote: in.csv: 1 repeated row dropped (row 5)\nnote: in.csv: read as its publisher states: unit: percent\nnote: in.csv: 5 rows = 3 read + 1 dropped + 1 of the header\n',
  ])
  expect(await read('returns/elm.csv')).toEqual([
    't,ret',
    '2024-01-01,0.007',
    '2024-01-02,-0.0025',
    '2024-01-03,0.015',
  ])
})

test.each(casesOf<[string, string[], string]>`
a missing day -> ${DAYS.toSpliced(1, 1)} -> :2: t: expected 2024-01-02, the day after the row before, got 2024-01-03: 1 day is missing
a day with two returns -> ${[...DAYS, '2024-01-01,0.8']} -> :5: t: expected 2024-01-02, the day after the row before, got 2024-01-01
a time inside a day -> ${['2024-01-01T05:00:00Z,1']} -> :2: t: expected a day of UTC
a serial date -> ${['45292,1']} -> :2: t: expected a time, got "45292", which looks like the serial date of a spreadsheet (2024-01-01)`)(
  'returns with %s are refused, and nothing is written',
  async (_, rows, message) => {
    const text = ['Date,Return', ...rows, ''].join('\n')
    const { code, err, files } = await importing('in.csv', text, `${RETURNS} fraction`)
    expect([code, err]).toEqual([1, expect.stringContaining(`in.csv${message}`)])
    expect(await files()).toEqual(['bars/X/1h.csv'])
  },
)

const DAILY = [1, 2, 3, 4].map(day => `2024-01-0${day},10,12,9,11,5`)
const YAHOO = ['Date,Open,High,Low,Close,Volume', ...DAILY.toReversed(), ''].join('\n')
const LAST_BAR =
  'the last bar may not have been over when the file was made, which the file does not show: compare its volume with the bars before it; --drop-last leaves it out'

const BTC = 'bars --instrument BTC-USD --tz UTC'

test('import bars writes a table of the book, and names the format and what was repaired', async () => {
  const { read, code, out, err } = await importing('in.csv', YAHOO, BTC)
  expect([code, out, err]).toEqual([
    0,
    'bars/BTC-USD/1d.csv and catalogue.yaml: 4 bars of 1d, 2024-01-01T00:00:00Z to 2024-01-04T00:00:00Z, from yahoo/freqtrade\n',
    `note: in.csv: the rows are newest first: reversed\nnote: in.csv: ${LAST_BAR}\nnote: in.csv: read as its publisher states: tz: UTC\nnote: in.csv: 5 rows = 4 read + 0 dropped + 1 of the header\n`,
  ])
  expect(await read('bars/BTC-USD/1d.csv')).toEqual([
    't,o,h,l,c,v',
    ...DAILY.map(row => row.replace(',', 'T00:00:00Z,')),
  ])
})

test('import bars with --json prints one document', async () => {
  const { out } = await importing('in.csv', YAHOO, `${BTC} --json`)
  const days = { bars: 4, from: '2024-01-01T00:00:00Z', to: '2024-01-04T00:00:00Z' }
  const all = { written: ['bars/BTC-USD/1d.csv', 'catalogue.yaml'], formats: ['yahoo/freqtrade'], unread: [] }
  const whole = { file: 'in.csv', rows: '' }
  expect(JSON.parse(out)).toEqual({
    ...{ instrument: 'BTC-USD', timeframe: '1d', ...days, ...all },
    files: [{ file: 'in.csv', total: 5, header: 1, dropped: 0 }],
    findings: [
      { ...whole, kind: 'newest_first', count: 3, message: 'the rows are newest first: reversed' },
      { ...whole, kind: 'last_bar', count: 1, message: LAST_BAR },
      { ...whole, kind: 'stated', count: 1, message: 'read as its publisher states: tz: UTC' },
    ],
  })
})

test('import bars replaces a table with --replace alone', async () => {
  const { again, cwd } = await importing('in.csv', YAHOO, BTC)
  const second = await again()
  expect([second.code, second.err.replaceAll(cwd, '')]).toEqual([
    1,
    'highwater: expected no bars/BTC-USD/1d.csv in /book, got one: --replace writes a new one\n',
  ])
})

test.each([
  ['--tz Berlin', '--tz: expected UTC, an offset such as +08:00, or a name such as Europe/Amsterdam'],
  ['--timeframe 7h', '--timeframe: expected one of 1m'],
  ['--column t', '--column: expected ROLE=NAME or ROLE=PLACE'],
  ['--instrument ../x', '--instrument: expected a name of 1 to 64 letters'],
])('import bars exits 2 for %s', async (args, message) => {
  const { code, err } = await importing('in.csv', YAHOO, `${BTC} ${args}`)
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})
