import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { readBook } from '#pipeline/book/read-book.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2024, 0, 1)

/** Hourly bars of ten days that rise and fall, in a pattern that no other zone repeats. */
const open = (i: number): number => 100 + (((31 * i * i + 17 * i) % 23) % 8)
const BARS = [
  't,o,h,l,c,v',
  ...Array.from(
    { length: 240 },
    (_, i) => `${START_MS + i * HOUR_MS},${open(i)},${open(i) + 8},${open(i) - 8},${open(i + 1)},1`,
  ),
  '',
].join('\n')

/** A time of the chart, which is eight hours ahead of UTC. */
const chartTime = (i: number): string =>
  new Date(START_MS + (i + 8) * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')

type Trade = { readonly side: 'long' | 'short'; readonly entry: number; readonly exit: number | null }
const TRADES: readonly Trade[] = [
  { side: 'long', entry: 40, exit: 43 },
  { side: 'short', entry: 43, exit: 54 },
  { side: 'long', entry: 63, exit: 64 },
  { side: 'long', entry: 109, exit: null },
]
const LAST_PRICE = 103

/** What each trade earns with ten units at no cost. */
const profitOf = ({ side, entry, exit }: Trade): number =>
  10 * (side === 'long' ? 1 : -1) * ((exit === null ? LAST_PRICE : open(exit)) - open(entry))

/** Headers of the list of trades as they were over the years: time, price, size, profit, cumulative profit and its percent. */
const GENERATIONS = {
  A: 'Trade #,Type,Date and time,Signal,Price USDT,Size (qty),Size (value),Net P&L USD,Net P&L %,Cumulative P&L USD,Cumulative P&L %',
  B: 'Trade #,Type,Date and time,Signal,Price USDT,Position size (qty),Position size (value),Net P&L USD,Net P&L %,Cumulative P&L USD,Cumulative P&L %',
  C: 'Trade number,Type,Date and time,Signal,Price USDT,Size (qty),Size (value),Net PnL USD,Net PnL %,Cumulative PnL USD,Cumulative PnL %',
  D: 'Trade number,Type,Date and time,Signal,Price USD,Size (qty),Size (value),Net PnL USD,Return %,Cumulative PnL USD,Cumulative PnL %',
  older: 'Trade #,Type,Date/Time,Signal,Price,Contracts,Value,Profit,Profit %,Cum. Profit,Cum. Profit %',
} as const

const CAPITAL = 10_000

function listOfTrades(header: string = GENERATIONS.A, trades: readonly Trade[] = TRADES): string {
  let sum = 0
  const rows = trades.flatMap((trade, i) => {
    const profit = profitOf(trade)
    sum += profit
    const end = `10,${open(trade.entry) * 10},${profit},0.1,${sum},${((100 * sum) / CAPITAL).toFixed(2)}`
    const exit = trade.exit === null ? ['Open', 235, LAST_PRICE] : ['rule', trade.exit, open(trade.exit)]
    return [
      `${i + 1},Exit ${trade.side},${chartTime(Number(exit[1]))},${exit[0]},${exit[2]},${end}`,
      `${i + 1},Entry ${trade.side},${chartTime(trade.entry)},"in, at once",${open(trade.entry)},${end}`,
    ]
  })
  return `\ufeff${[header, ...rows].join('\n')}`
}

const ENTRY = ['--id', 'elm', '--base-risk', '0.02']
const TV = ['--instrument', 'X', '--capital', String(CAPITAL), '--no-funding', ...ENTRY]

async function importing(name: string, content: string | Uint8Array, ...args: readonly string[]) {
  const cwd = await temporaryFolder()
  await writeFiles(cwd, { 'book/bars/X/1h.csv': BARS, [name]: content })
  const again = (...more: readonly string[]) => run(['import', ...more], { cwd })
  const answer = await again(args[0]!, name, '--book', 'book', ...args.slice(1))
  const read = async (path: string) => (await readFile(join(cwd, 'book', path), 'utf8')).trimEnd().split('\n')
  const files = async () =>
    (await readdir(join(cwd, 'book'), { recursive: true }))
      .filter(path => /\.(?:csv|yaml)$/.test(path))
      .sort()
  return { ...answer, cwd, again, read, files, book: () => readBook(join(cwd, 'book')) }
}

const utc = (i: number): string => new Date(START_MS + i * HOUR_MS).toISOString().replace('.000', '')

describe('a list of trades of TradingView', () => {
  test.each(Object.entries(GENERATIONS))(
    'of generation %s becomes a ledger in a book that builds',
    async (_, header) => {
      const { code, out, err, read, cwd, again } = await importing(
        'in.csv',
        listOfTrades(header),
        'ledger',
        ...TV,
        '--tz',
        '+08:00',
      )
      expect([code, err.replace(/note: columns that are not read: .*\n/, '')]).toEqual([0, ''])
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
      const build = await run(
        ['build', '--book', 'book', '--store', `file://${cwd}/store`, '--allow-stale'],
        { cwd },
      )
      expect([build.code, build.err]).toEqual([0, expect.any(String)])
      expect((await again('ledger', 'in.csv', '--book', 'book', ...TV, '--tz', '+08:00')).code).toBe(1)
    },
  )

  test('states what its prices show: no commission, the tick, what the trades are marked on', async () => {
    const { read } = await importing('in.csv', listOfTrades(), 'ledger', ...TV, '--tz', '+08:00')
    expect((await read('catalogue.yaml')).slice(-10).map(line => line.trim())).toEqual([
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

  test.each([
    ['without the exit of a trade', listOfTrades().replace(/\n2,Exit.*/, ''), /expected an exit of trade 2/],
    ['cut in mid-row', listOfTrades().slice(0, -12), /in\.csv:9: expected \d+ fields as in the first row/],
  ])('%s is refused, and nothing is written', async (_, content, message) => {
    const { code, err, files } = await importing('in.csv', content, 'ledger', ...TV, '--tz', '+08:00')
    expect([code, await files()]).toEqual([1, ['bars/X/1h.csv']])
    expect(err).toMatch(message)
  })

  test('of a header alone is a strategy without trades', async () => {
    const { code, out, book } = await importing(
      'in.csv',
      GENERATIONS.A,
      'ledger',
      ...TV,
      '--tz',
      'UTC',
      '--commission-bps',
      '0',
    )
    expect([code, out]).toEqual([0, 'ledgers/elm.csv and catalogue.yaml: 0 trades, from tradingview\n'])
    expect((await book()).strategies[0]?.source).toMatchObject({ kind: 'ledger', trades: [] })
  })

  test('whose parts overlap says so in the catalogue, and keeps the account exactly', async () => {
    const parts: readonly Trade[] = [
      { side: 'long', entry: 40, exit: 50 },
      { side: 'long', entry: 40, exit: 54 },
      { side: 'long', entry: 41, exit: 45 },
    ]
    const { code, read, book } = await importing(
      'in.csv',
      listOfTrades(GENERATIONS.A, parts),
      'ledger',
      ...TV,
      '--tz',
      '+08:00',
    )
    expect(code).toBe(0)
    expect(await read('catalogue.yaml')).toContain('    allow_overlap: true')
    expect((await book()).strategies[0]?.source).toMatchObject({ kind: 'ledger' })
    const rows = (await read('ledgers/elm.csv')).slice(1).map(row => row.split(','))
    expect(rows.map(row => row[6])).toEqual(['0.102', '0.102', '0.10040160642570281']) // 100 * 10 / (10 000 - 2 * 20)
  })

  test.each<[string, string, readonly string[], string]>([
    [
      'no zone',
      listOfTrades(),
      [],
      ':3: entry_time: expected a zone for "2024-01-03 00:00", which has none: the bars fit +08:00 with 100 % of the entries; confirm it with --tz (tz: in the catalogue)',
    ],
    [
      'a wrong zone',
      listOfTrades(),
      ['--tz', '+07:00'],
      ':3: entry_time: expected entries that fit the bars in +07:00, got 25 % that do, and the bars fit +08:00 with 100 % of the entries: correct --tz (tz:)',
    ],
    [
      'a capital that contradicts the list',
      listOfTrades(),
      ['--tz', '+08:00', '--capital', '1000'],
      ': expected a capital by which the cumulative profit of row 3, 30.00, is 0.3 %, got 1000: correct --capital (capital:)',
    ],
    [
      'a row that is missing',
      listOfTrades().replace(/\n2,Entry.*/, ''),
      ['--tz', '+08:00'],
      ':4: expected an entry of trade 2, got its exit alone: export the whole list',
    ],
    [
      'a trade that is open before one that is closed',
      listOfTrades().replace(/(\n2,Exit short,)[^,]*,[^,]*,[^,]*/, '$1,,'),
      ['--tz', '+08:00'],
      ':5: expected an exit of trade 2, because trade 3 after it is closed, got an open trade',
    ],
    [
      'a trade that is missing',
      listOfTrades().replace(/\n2,.*\n2,.*/, ''),
      ['--tz', '+08:00'],
      ':5: expected trade 2, got trade "3": export the whole list',
    ],
    [
      'a profit that is changed',
      listOfTrades().replace(/(\n1,.*,)30(,0.1,.*\n1,.*,)30(,0.1)/, '$190$290$3'),
      ['--tz', '+08:00'],
      ':3: expected a cumulative profit of 90.00 after trade 1, got "30": rows are missing or changed',
    ],
    [
      'a last line that is cut off',
      listOfTrades().slice(0, -9),
      ['--tz', '+08:00'],
      ':8: expected an entry of trade 4, got its exit alone',
    ],
    [
      'another type',
      listOfTrades().replace('Exit short', 'Ausstieg short'),
      ['--tz', '+08:00'],
      ':4: type: expected Entry or Exit long or short, got "Ausstieg short"',
    ],
  ])('with %s is refused, and nothing is written', async (_, text, args, message) => {
    const { code, out, err, files } = await importing('in.csv', text, 'ledger', ...TV, ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err.split('\n')[1]).toContain(`in.csv${message}`)
    expect(await files()).toEqual(['bars/X/1h.csv'])
  })

  test('with trades before the first bar is refused, and nothing is written', async () => {
    const { cwd, again } = await importing('in.csv', listOfTrades(), 'ledger', ...TV, '--tz', '+08:00')
    const [header = '', ...bars] = BARS.split('\n')
    await writeFiles(cwd, { 'late/bars/X/1h.csv': [header, ...bars.slice(60)].join('\n') })
    const { code, out, err } = await again('ledger', 'in.csv', '--book', 'late', ...TV, '--tz', '+08:00')
    expect([code, out, err]).toEqual([
      1,
      '',
      `highwater: in.csv: 2 of 4 trades are before the first bar, ${utc(60)}: import older bars, or take the account as reported returns with --realised\n`,
    ])
    expect(await readdir(join(cwd, 'late'))).toEqual(['bars'])
  })

  test('without bars of its instrument is refused, unless the account without open trades is wanted', async () => {
    const args = ['--instrument', 'Y', '--capital', String(CAPITAL), ...ENTRY, '--tz', '+08:00']
    const { code, err, again, read, book } = await importing('in.csv', listOfTrades(), 'ledger', ...args)
    expect([code, err]).toEqual([1, expect.stringContaining('expected bars of Y in ')])
    const realised = await again('ledger', 'in.csv', '--book', 'book', ...args, '--realised')
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
})

/** A result of freqtrade: fractions of a stake, both fees in the profit. */
const freqtrade = (more: object = {}, pairs: readonly string[] = ['X/USDT']) => ({
  metadata: {},
  strategy: {
    Sample: {
      trades: pairs.map((pair, i) => ({
        ...{
          pair,
          stake_amount: 1000,
          amount: 10,
          fee_open: 0.001,
          fee_close: 0.001,
          is_short: false,
          is_open: false,
          leverage: 1,
        },
        ...{
          open_date: '2024-01-02 16:00:00+00:00',
          open_rate: 102,
          open_timestamp: START_MS + 40 * HOUR_MS,
        },
        ...{
          close_date: '2024-01-02 19:00:00+00:00',
          close_rate: 105,
          exit_reason: i === 0 ? 'roi' : 'force_exit',
        },
        ...{ profit_abs: 30 - 2.07, initial_stop_loss_abs: 91.8, orders: [{ amount: 10 }] },
      })),
      ...{
        starting_balance: CAPITAL,
        total_trades: pairs.length,
        profit_total_abs: pairs.length * (30 - 2.07),
        daily_profit: [['2024-01-02', 1]],
      },
      ...more,
    },
  },
  strategy_comparison: [{ key: 'Sample' }],
})

describe('a result of freqtrade', () => {
  const args = ['ledger', '--instrument', 'X', '--no-funding', ...ENTRY]

  test.each([
    ['as JSON', 'backtest-result.json', JSON.stringify(freqtrade())],
    [
      'as the archive that it writes',
      'backtest-result-1.zip',
      zipSync({
        'backtest-result-1_config.json': strToU8('{}'),
        'backtest-result-1.json': strToU8(JSON.stringify(freqtrade())),
      }),
    ],
  ])('%s has capital, zone and fees in itself', async (_, name, content) => {
    const { code, out, err, read, book } = await importing(name, content, ...args)
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('1 trades, net profit 27.93, win rate 100.00 %'),
      expect.any(String),
    ])
    expect((await read('ledgers/elm.csv'))[1]).toBe(
      'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,target,0.102,91.8,0.002793',
    )
    expect(await read('catalogue.yaml')).toContain('    commission_bps_per_side: 10')
    expect((await book()).strategies).toHaveLength(1)
  })

  test('of several pairs is an account, and none of one instrument', async () => {
    const content = JSON.stringify(freqtrade({}, ['X/USDT', 'Y/USDT']))
    const { code, err, again, read } = await importing('r.json', content, ...args)
    expect([code, err]).toEqual([
      1,
      'highwater: r.json: expected trades of one instrument, got X/USDT and Y/USDT: export one, or take the account as reported returns with --realised\n',
    ])
    const realised = await again('ledger', 'r.json', '--book', 'book', ...args.slice(1), '--realised')
    expect([realised.code, realised.err]).toEqual([
      0,
      expect.stringContaining('note: r.json: 1 trade closed by the tool at the end of its test\n'),
    ])
    expect(await read('returns/elm.csv')).toEqual(['t,ret', `2024-01-02,${(2 * 27.93) / CAPITAL}`])
  })

  test.each([
    [
      'fewer trades than it states',
      { total_trades: 2 },
      'expected the 2 trades that the file states, got 1: export the whole result',
    ],
    [
      'another profit than it states',
      { profit_total_abs: 100 },
      'expected the profit of 100 that the file states, got trades with 27.93 in all',
    ],
  ])('with %s is refused', async (_, more, message) => {
    const { code, err } = await importing('r.json', JSON.stringify(freqtrade(more)), ...args)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })

  test('of several strategies is refused', async () => {
    const { strategy } = freqtrade()
    const both = { strategy: { ...strategy, Other: strategy.Sample } }
    const { code, err } = await importing('r.json', JSON.stringify(both), ...args)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('expected the result of one strategy, got 2 (Sample and Other): export one'),
    ])
  })
})

describe('other tables of trades', () => {
  const BACKTESTING = [
    'Size,EntryBar,ExitBar,EntryPrice,ExitPrice,SL,TP,PnL,Commission,ReturnPct,EntryTime,ExitTime,Duration,Tag',
    '10,30,47,102,105,91.8,,28.965,1.035,0.028,2024-01-02 16:00:00,2024-01-02 19:00:00,17:00:00,up',
    '-10,47,60,105,104,104,,8.955,1.045,0.01,2024-01-02 19:00:00,2024-01-03 06:00:00,11:00:00,down',
    '',
  ].join('\n')
  const args = ['ledger', '--instrument', 'X', '--capital', '10000', '--no-funding', ...ENTRY, '--tz', 'UTC']

  test('backtesting.py: the sign of the size is the side, and an exit at the stop is a stop', async () => {
    const { code, out, read } = await importing('trades.csv', BACKTESTING, ...args)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/2 trades, net profit 37.92, .* from backtesting.py\n$/),
    ])
    expect(await read('catalogue.yaml')).toContain('    commission_bps_per_side: 5')
    const rows = (await read('ledgers/elm.csv')).slice(1)
    expect(rows[0]).toBe(
      'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,signal,0.102,,0.0028964999999999998',
    )
    expect(rows[1]).toMatch(/^short,2024-01-02T19:00:00Z,105,2024-01-03T06:00:00Z,104,stop,0.1046967/)
  })

  test('without a capital are refused', async () => {
    const { code, err } = await importing(
      'trades.csv',
      BACKTESTING,
      'ledger',
      '--instrument',
      'X',
      ...ENTRY,
      '--tz',
      'UTC',
    )
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'expected the capital at the start, which is not in the file: state it with --capital',
      ),
    ])
  })

  test('a table whose columns are stated', async () => {
    const own = 'Richtung,Auf,Kurs,Zu,Endkurs,Hebel\nlong,2024-01-02 16:00,102,2024-01-02 19:00,105,0.5\n'
    const columns = [
      'side=Richtung',
      'entry_time=Auf',
      'entry_price=Kurs',
      'exit_time=Zu',
      'exit_price=Endkurs',
      'leverage=Hebel',
    ]
    const options = columns.flatMap(column => ['--column', column])
    const { code, read, err } = await importing('in.csv', own, ...args, ...options, '--commission-bps', '3')
    expect([code, err]).toEqual([0, ''])
    expect((await read('ledgers/elm.csv'))[1]).toBe(
      'long,2024-01-02T16:00:00Z,102,2024-01-02T19:00:00Z,105,signal,0.5,,',
    )
  })

  test('a strategy that the catalogue has keeps its entry, and its comments', async () => {
    const { again, read, cwd } = await importing('trades.csv', BACKTESTING, ...args)
    const before = (await read('catalogue.yaml')).join('\n')
    await writeFiles(cwd, { 'book/catalogue.yaml': `# mine\n${before}\n` })
    const replaced = await again('ledger', 'trades.csv', '--book', 'book', ...args.slice(1), '--replace')
    expect([replaced.code, replaced.out]).toEqual([0, expect.stringMatching(/^ledgers\/elm.csv: 2 trades/)])
    expect((await read('catalogue.yaml')).join('\n')).toBe(`# mine\n${before}`)
    const second = await again(
      'ledger',
      'trades.csv',
      '--book',
      'book',
      ...args.slice(1).map(arg => (arg === 'elm' ? 'oak' : arg)),
    )
    expect(second.code).toBe(0)
    expect((await read('catalogue.yaml')).filter(line => /# mine|- id/.test(line))).toEqual([
      '# mine',
      '  - id: elm',
      '  - id: oak',
    ])
  })

  test('a ledger that the catalogue names is read in place', async () => {
    const { cwd } = await importing('trades.csv', BACKTESTING, ...args)
    await writeFiles(cwd, {
      'book/raw/trades.csv': BACKTESTING,
      'book/catalogue.yaml': `
service: { name: n, methodology_url: 'https://example.com', data_source: d, engine: e }
funding: { X: none }
strategies:
  - { id: fir, name: Fir, base_risk_pct: 0.02, source: ledger, instrument: X, mark: 1h, engine: other,
      commission_bps_per_side: 5, slippage_ticks: 0, tick_size: 1,
      file: { path: raw/trades.csv, as: backtesting.py, tz: UTC, capital: 10000 } }
`,
    })
    const book = await readBook(join(cwd, 'book'))
    const { source } = book.strategies[0]!
    expect(source.kind === 'ledger' && source.trades.map(({ account_return }) => account_return)).toEqual([
      28.965 / 10_000,
      8.955 / 10_028.965,
    ])
  })
})

describe('returns', () => {
  const DAYS = ['2024-01-03,1.5', '2024-01-02,-0.25', '2024-01-01,0.7']
  const args = ['returns', ...ENTRY, '--commission-bps', '0', '--unit']

  test('in percent, newest first and repeated, become fractions in order', async () => {
    const text = ['Date,Return', ...DAYS, DAYS[2], ''].join('\n')
    const { code, out, err, read } = await importing('in.csv', text, ...args, 'percent')
    expect([code, out, err]).toEqual([
      0,
      'returns/elm.csv and catalogue.yaml: 3 days, 2024-01-01 to 2024-01-03, from columns by name\n',
      'note: in.csv: 2 rows earlier than the row before: sorted by time\nnote: in.csv: 1 repeated row dropped\n',
    ])
    expect(await read('returns/elm.csv')).toEqual([
      't,ret',
      '2024-01-01,0.007',
      '2024-01-02,-0.0025',
      '2024-01-03,0.015',
    ])
  })

  test.each([
    [
      'a missing day',
      DAYS.toSpliced(1, 1),
      ':2: t: expected 2024-01-02, the day after the row before, got 2024-01-03: 1 day is missing',
    ],
    [
      'a day with two returns',
      [...DAYS, '2024-01-01,0.8'],
      ':5: t: expected 2024-01-02, the day after the row before, got 2024-01-01',
    ],
    ['a last row of fewer fields', [...DAYS, '2024-01-0'], ':5: expected 2 fields as in the first row'],
    ['a time inside a day', ['2024-01-01T05:00:00Z,1'], ':2: t: expected a day of UTC'],
    [
      'a serial date',
      ['45292,1'],
      ':2: t: expected a time, got "45292", which looks like the serial date of a spreadsheet (2024-01-01)',
    ],
  ])('with %s are refused', async (_, rows, message) => {
    const { code, err, files } = await importing(
      'in.csv',
      ['Date,Return', ...rows, ''].join('\n'),
      ...args,
      'fraction',
    )
    expect([code, err]).toEqual([1, expect.stringContaining(`in.csv${message}`)])
    expect(await files()).toEqual(['bars/X/1h.csv'])
  })
})
