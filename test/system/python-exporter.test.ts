// The exporter for strategies that are written in Python: what it writes is a book, and what an import writes too.
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../cli/made-up.ts'
import { sharedData } from '../support/shared-data.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'

const EXPORTER = join(import.meta.dirname, '../../examples/python/highwater_export.py')

const isThere = spawnSync('python3', ['--version']).status === 0
const SKIPPED = isThere ? '' : ' (skipped: this machine has no python3)'
const python = async (cwd: string, ...args: readonly string[]) =>
  promisify(execFile)('python3', [...args], { cwd })
const rowsOf = async (path: string) =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(row => row.split(','))

const TRADES = [
  'Size,EntryBar,ExitBar,EntryPrice,ExitPrice,SL,TP,PnL,Commission,ReturnPct,EntryTime,ExitTime,Duration,Tag',
  '10,0,1,100,103,,,29,1,0.029,2024-01-01 00:00:00,2024-01-02 12:00:00,1 days 12:00:00,up',
  '-10,1,2,103,104,104,,-11,1,-0.01,2024-01-02 12:00:00,2024-01-04 00:00:00,1 days 12:00:00,down',
  '',
].join('\n')
const EQUITY = [
  'time,Equity',
  ...[1000, 1020, 1029, 1029, 1025, 1018].map(
    (equity, i) =>
      `${new Date(Date.UTC(2024, 0, 1, 12 * i)).toISOString().slice(0, 19).replace('T', ' ')},${equity}`,
  ),
  '',
].join('\n')

test.skipIf(!isThere)(
  `the exporter for Python writes a ledger and daily returns that a book is built from${SKIPPED}`,
  async () => {
    const cwd = await temporaryFolder()
    await writeFiles(cwd, {
      'trades.csv': TRADES,
      'equity.csv': EQUITY,
      'book/catalogue.yaml': `
service: { name: n, methodology_url: 'https://example.com', data_source: d, engine: e }
strategies:
  - { id: elm, name: Elm, base_risk_pct: 0.02, source: returns, engine: backtesting.py,
      commission_bps_per_side: 5, slippage_ticks: 0, tick_size: 1 }
`,
    })
    await python(cwd, EXPORTER, ...'trades.csv equity.csv --capital 1000 --id elm --book book'.split(' '))
    const ledger = await rowsOf(join(cwd, 'book/ledgers/elm.csv'))
    expect(ledger.map(row => row.join())).toEqual([
      'long,2024-01-01T00:00:00Z,100.0,2024-01-02T12:00:00Z,103.0,signal,1.0,,0.029',
      `short,2024-01-02T12:00:00Z,103.0,2024-01-04T00:00:00Z,104.0,stop,${1030 / 1029},,${-11 / 1029}`,
    ])
    expect(await rowsOf(join(cwd, 'book/returns/elm.csv'))).toEqual([
      ['2024-01-02', expect.stringMatching(/^0\.008823/)],
      ['2024-01-03', expect.stringMatching(/^-0\.010689/)],
    ])
    const { code, err } = await run(
      ['build', '--book', 'book', '--store', `file://${cwd}/store`, '--allow-stale'],
      { cwd },
    )
    expect([code, code === 0 ? '' : err]).toEqual([0, ''])
  },
)

test.skipIf(!isThere)(
  `the exporter for Python writes fees and funding as fractions of notional, if a trade has them${SKIPPED}`,
  async () => {
    const cwd = await temporaryFolder()
    const write = `import sys; sys.path.insert(0, ${JSON.stringify(join(EXPORTER, '..'))}); from highwater_export import write_ledger; from datetime import *; t = datetime(2024, 1, 1, tzinfo=timezone.utc); write_ledger('elm.csv', [dict(side='long', entry_time=t, entry_price=100, quantity=5, pnl=10, exit_time=t, exit_price=102, fees=0.5, funding=-0.25)], 1000)`
    await python(cwd, '-c', write)
    expect((await rowsOf(join(cwd, 'elm.csv')))[0]!.slice(6)).toEqual(['0.5', '', '0.01', '0.001', '-0.0005'])
  },
)

test.skipIf(!isThere)(
  `the exporter for Python refuses times without a zone, and trades that overlap${SKIPPED}`,
  async () => {
    const call = (trades: string) =>
      python(
        join(EXPORTER, '..'),
        '-c',
        `import highwater_export as h; from datetime import *; d = datetime(2024, 1, 1); u = d.replace(tzinfo=timezone.utc); h.write_ledger('/nowhere/x.csv', [${trades}], 1000)`,
      )
    const trade = (entry: string, exit: string) =>
      `dict(side='long', entry_time=${entry}, entry_price=1, quantity=1, pnl=0, exit_time=${exit}, exit_price=1)`
    await expect(call(trade('d', 'd'))).rejects.toThrow(
      'expected a time with a zone, got 2024-01-01 00:00:00',
    )
    const [first, second] = [
      trade('u', 'u + timedelta(days=2)'),
      trade('u + timedelta(days=1)', 'u + timedelta(days=3)'),
    ]
    await expect(call(`${first}, ${second}`)).rejects.toThrow(
      'the trade of 2024-01-02 00:00 enters before the one before it has ended',
    )
  },
)

test.skipIf(sharedData === null || !isThere)(
  `the exporter for Python writes of a real run what an import writes, and the equity of the run${SKIPPED}`,
  async () => {
    const cwd = await temporaryFolder()
    const folder = join(sharedData ?? '', 'ledgers/backtesting.py')
    const [trades, equity] = [join(folder, 'trades_final.csv'), join(folder, 'equity_curve.csv.gz')]
    await python(cwd, EXPORTER, trades, equity, '--capital', '100000', '--id', 'elm', '--book', 'book')
    const options =
      '--id elm --instrument BTCUSDT --tz UTC --capital 100000 --base-risk 0.02 --realised'.split(' ')
    const { code } = await run(['import', 'ledger', trades, ...options, '--book', 'other'], { cwd })
    expect(code).toBe(0)
    const [exported, imported] = [
      await rowsOf(join(cwd, 'book/ledgers/elm.csv')),
      await rowsOf(join(cwd, 'other/ledgers/elm.csv')),
    ]
    expect(exported.map(row => row.map(toNumber))).toEqual(imported.map(row => row.map(toNumber)))

    const stats = z
      .object({ 'Equity Final [$]': z.number() })
      .parse(JSON.parse(readFileSync(join(folder, 'stats.json'), 'utf8')))
    const returns = await rowsOf(join(cwd, 'book/returns/elm.csv'))
    const growth = returns.reduce((product, [, ret]) => product * (1 + Number(ret)), 1)
    expect(100_000 * growth).toBeCloseTo(stats['Equity Final [$]'], 4)
  },
)

const toNumber = (cell: string): string | number =>
  /^-?\d/.test(cell) && !cell.includes('T') ? Number(Number(cell).toPrecision(12)) : cell
