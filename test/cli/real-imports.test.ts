// Real results of charting tools and backtesters, imported, built, and compared with what those tools state. And files that were
// imported wrongly once, with neighbours of each kind: read with the right values, or refused with the remedy.
import { existsSync, readFileSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { drawdowns, maxDrawdown } from '#core/figures/drawdown.ts'
import { markLedger } from '#core/replay/marks.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { costsOf } from '#pipeline/modules/module-input.ts'
import { sharedData } from '../support/shared-data.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { run } from './made-up.ts'

const skip = sharedData === null ? ' (skipped: no real ledgers on this machine)' : ''
const ledgers = join(sharedData ?? '', 'ledgers')

/** The cells of the rows below the header. */
const cellsIn = (csv: string): string[][] =>
  csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(row => row.split(','))

const NO_TRADES = 'tradingview/A_header-only_no-trades.csv'

/** After everything in the files. */
const NOW_MS = Date.parse('2026-11-01T00:00:00Z')

const summarySchema = z.object({ trades: z.number(), open: z.number().default(0) }).and(
  z.record(z.string(), z.unknown()).transform(all => ({
    ...{ wins: Number(all.wins), losses: Number(all.losses), win_rate_pct: Number(all.win_rate_pct) },
    ...{ net_profit: Number(all.net_profit), open_profit: Number(all.open_profit) },
    ...{ final_equity: Number(all.final_equity), max_drawdown_pct: Number(all.max_drawdown_pct) },
  })),
)

/** A new book, and commands on it that succeed. */
async function newBook() {
  const cwd = await temporaryFolder()
  const command = async (...args: readonly string[]) => {
    const answer = await run([...args, '--book', 'book'], { cwd, now: () => NOW_MS })
    expect([answer.code, answer.code === 0 ? '' : answer.err]).toEqual([0, ''])
    return answer.out
  }
  const ledgerOf = (file: string, id: string) => [
    ...['import', 'ledger', join(ledgers, file), '--id', id],
    ...['--base-risk', '0.02', '--no-funding', '--json'],
  ]
  return {
    dir: join(cwd, 'book'),
    bars: (file: string, instrument: string, ...args: readonly string[]) =>
      command('import', 'bars', join(sharedData ?? '', file), '--instrument', instrument, ...args),
    ledger: async (file: string, id: string, ...args: readonly string[]) =>
      summarySchema.parse(JSON.parse(await command(...ledgerOf(file, id), ...args))),
    /** Why a ledger cannot be imported. */
    refusal: async (file: string, ...args: readonly string[]) =>
      (await run([...ledgerOf(file, 'x'), '--book', 'book', ...args], { cwd, now: () => NOW_MS })).err,
    build: async () => {
      const where = ['--store', `file://${cwd}/store`]
      return JSON.parse(await command('build', ...where, '--allow-stale', '--effort', 'quick', '--json'))
    },
    /** States how far results are rounded. */
    tolerate: async (id: string, bps: number) => {
      const path = join(cwd, 'book/catalogue.yaml')
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replace(`- id: ${id}\n`, `$&    result_tolerance_bps: ${bps}\n`))
    },
    text: (path: string) => readFile(join(cwd, 'book', path), 'utf8'),
  }
}

const builtSchema = z.object({
  strategies: z.array(
    z.object({ id: z.string(), verification_state: z.string(), trades: z.number(), days: z.number() }),
  ),
})

describe.skipIf(sharedData === null)(`lists${skip}`, () => {
  const ETH_15M = 'ledgers/tradingview/bars_ohlcv_ETH-USDT-USDT_15m.csv.gz'
  const chart = ['--instrument', 'ETHUSDT', '--tz', '+08:00', '--capital', '1000000']

  /**
   * Trades, open ones, the last cumulative profit, and how many trades are before the first bar. Only the first list is
   * marked: the bars begin on 2025-04-20, and the others between 31 March and 6 April.
   */
  const LISTS = [
    ['A_size-qty_open-trade', 'ash', 23, 1, -1761.78, 0],
    ['A_size-qty_5trades', 'fir', 5, 0, 79.81, 5],
    ['A_size-qty_partial-exits', 'oak', 725, 0, -197.13, 42],
    ['B_position-size-qty_open-trade', 'yew', 361, 1, 1941.03, 16],
  ] as const

  test('real lists of trades of TradingView become histories with the trades and profits of the lists', async () => {
    const book = await newBook()
    await book.bars(ETH_15M, 'ETHUSDT')
    for (const [file, id, trades, open, profit, early] of LISTS) {
      const path = `tradingview/${file}.csv`
      if (early > 0)
        expect(await book.refusal(path, ...chart)).toContain(
          `${early} of ${trades + open} trades are before the first bar, 2025-04-20T21:00:00Z`,
        )
      const summary = await book.ledger(path, id, ...chart, ...(early > 0 ? ['--realised'] : []))
      expect([file, summary.trades, summary.open]).toEqual([file, trades, open])
      // Each profit of the list is rounded to cents.
      expect(Math.abs(summary.net_profit + summary.open_profit - profit)).toBeLessThanOrEqual(
        0.005 * (trades + open),
      )
    }
    // Its prices are printed in cents, and its results are not theirs to the last one.
    await book.tolerate('ash', 3)
    await book.ledger(NO_TRADES, 'elm', ...chart, '--commission-bps', '0')
    // A stock, of which there are no bars.
    const stock = ['--instrument', 'STOCK', '--tz', 'UTC', '--capital', '102180', '--realised']
    const { net_profit } = await book.ledger('tradingview/D_17col_close-reversal.csv', 'bay', ...stock)
    expect(net_profit).toBeCloseTo(-1135.36, 2)
    const { strategies } = builtSchema.parse(await book.build())
    expect(strategies.map(({ id, verification_state, trades }) => [id, verification_state, trades])).toEqual([
      ['ash', 'single_verified', 23],
      ['fir', 'unverified', 5],
      ['oak', 'unverified', 725],
      ['yew', 'unverified', 361],
      ['elm', 'unverified', 0],
      ['bay', 'unverified', 4],
    ])
  })
})

describe.skipIf(sharedData === null)(`freqtrade${skip}`, () => {
  const resultSchema = z.object({
    strategy: z.object({
      StrategyTestV3: z.object({
        ...{
          total_trades: z.number(),
          profit_total_abs: z.number(),
          final_balance: z.number(),
          starting_balance: z.number(),
          max_drawdown_account: z.number(),
          winning_days: z.number(),
          draw_days: z.number(),
          losing_days: z.number(),
        },
        daily_profit: z.array(z.tuple([z.string(), z.number()])),
      }),
    }),
    strategy_comparison: z.array(z.object({ wins: z.number(), losses: z.number() })),
  })

  // Its 48 wins and 122 draws are counted by `profit_ratio`, which is 0 where `profit_abs`, the account's profit, is not.
  test('a real result of freqtrade becomes a history with its trades, its wins, its drawdown and the profit of each day', async () => {
    const file = 'freqtrade/backtest-result.json'
    // The risk is that of its stops; its results are what the prices give, and its fees are in `profit_ratio` alone.
    const AS_STATED = ['--base-risk', '0.0094', '--results', 'after-costs']
    const result = resultSchema.parse(JSON.parse(readFileSync(join(ledgers, file), 'utf8')))
    const stated = result.strategy.StrategyTestV3
    const book = await newBook()
    const summary = await book.ledger(file, 'ash', '--instrument', 'PORTFOLIO', '--realised', ...AS_STATED)
    const { trades, wins, losses } = summary
    expect({ trades, wins, losses }).toEqual({
      trades: stated.total_trades,
      ...result.strategy_comparison[0],
    })
    expect(stated.max_drawdown_account).toBeCloseTo(0.01874, 5)
    expect(summary.max_drawdown_pct).toBeCloseTo(-100 * stated.max_drawdown_account, 12)
    expect(summary.net_profit).toBeCloseTo(stated.profit_total_abs, 15)
    expect(summary.final_equity).toBeCloseTo(stated.final_balance, 15)

    let equity = stated.starting_balance
    const profits = cellsIn(await book.text('returns/ash.csv')).map(([day = '', ret]) => {
      const profit = equity * Number(ret)
      equity += profit
      return [day, profit] as const
    })
    expect(profits.map(([day]) => day)).toEqual(stated.daily_profit.map(([day]) => day))
    // The tool prints ten decimals.
    profits.forEach(([day, profit], i) => {
      expect(Math.abs(profit - stated.daily_profit[i]![1]), day).toBeLessThan(6e-11)
    })
    const days = (sign: number): number => profits.filter(([, profit]) => Math.sign(profit) === sign).length
    expect([days(1), days(0), days(-1)]).toEqual([stated.winning_days, stated.draw_days, stated.losing_days])
    const { strategies } = builtSchema.parse(await book.build())
    expect(strategies).toMatchObject([{ id: 'ash', trades: 179, days: 21 }])
  })
})

describe.skipIf(sharedData === null)(`backtesting.py${skip}`, () => {
  const statsSchema = z.object({
    '# Trades': z.number(),
    'Win Rate [%]': z.number(),
    'Equity Final [$]': z.number(),
    'Max. Drawdown [%]': z.number(),
  })
  const CAPITAL = 100_000
  const options = `--instrument BTCUSDT --tz UTC --capital ${CAPITAL} --base-risk 0.096`.split(' ')

  test('a real run of backtesting.py keeps its trades, win rate, drawdown, final equity, and equity at every close', async () => {
    const stats = statsSchema.parse(
      JSON.parse(readFileSync(join(ledgers, 'backtesting.py/stats.json'), 'utf8')),
    )
    const book = await newBook()
    await book.bars('bars/binance-perp_BTCUSDT_4h.csv.gz', 'BTCUSDT')
    const summary = await book.ledger('backtesting.py/trades_final.csv', 'ash', ...options)
    await book.ledger('backtesting.py/trades_open-dropped.csv', 'elm', ...options)
    expect(summary.trades).toBe(stats['# Trades'])
    expect(summary.win_rate_pct).toBeCloseTo(stats['Win Rate [%]'], 9)
    expect(summary.final_equity).toBeCloseTo(stats['Equity Final [$]'], 6)

    const closes = equityAtCloses()
    const marks = await marksOf(book.dir)
    expect(marks.length).toBeGreaterThan(14_860)
    for (const [close, equity] of marks)
      expect(CAPITAL * equity, close).toBeCloseTo(closes.get(close) ?? Number.NaN, 5)
    const drawdown = maxDrawdown(drawdowns(Float64Array.from(marks, ([, equity]) => equity)))
    expect(stats['Max. Drawdown [%]']).toBeCloseTo(-79.994136, 6)
    expect(100 * drawdown).toBeCloseTo(stats['Max. Drawdown [%]'], 9)
    const { strategies } = builtSchema.parse(await book.build())
    expect(strategies.map(({ id, verification_state, trades }) => [id, verification_state, trades])).toEqual([
      ['ash', 'single_verified', 145],
      ['elm', 'single_verified', 144],
    ])
  })

  /** The equity of the tool at the close of each bar, by the time of its open. */
  function equityAtCloses(): ReadonlyMap<string, number> {
    const file = readFileSync(join(ledgers, 'backtesting.py/equity_curve.csv.gz'))
    const rows = cellsIn(gunzipSync(file).toString('utf8'))
    return new Map(rows.map(([time = '', equity]) => [time, Number(equity)]))
  }

  /** The ledger is marked once a day, so that with six days in place of each day it is marked at the close of every bar. */
  async function marksOf(dir: string): Promise<(readonly [string, number])[]> {
    const book = await readBook(dir)
    const entry = book.strategies[0]!
    const { bars } = book.bars.get('BTCUSDT/4h')!
    if (entry.source.kind !== 'ledger') throw new Error('expected a ledger')
    const trades = entry.source.trades.map(({ entry_time, exit_time, ...trade }) => ({
      ...trade,
      entry_time: 6 * entry_time,
      exit_time: exit_time === null ? null : 6 * exit_time,
    }))
    const { daily } = markLedger({
      ...{ id: entry.id, trades, bars: { ...bars, t: bars.t.map(t => 6 * t), timeframeMs: DAY_MS } },
      ...{ funding: null, costs: costsOf(entry), baseRisk: entry.base_risk_pct },
    })
    return Array.from(equityCurve(daily.values), (value, i) => [
      toIsoInstant(bars.t[i]!).slice(0, 19).replace('T', ' '),
      value,
    ])
  }
})

const folder = join(sharedData ?? '', 'cases')

const caseSchema = z.object({
  ...{ case: z.string(), import: z.string(), file: z.string(), must: z.string(), file_has: z.string() },
  ...{ arguments: z.array(z.string()), beside_bars: z.boolean() },
})
const CASES =
  sharedData !== null && existsSync(folder)
    ? z.array(caseSchema).parse(JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')))
    : []

async function importing({ import: kind, file, arguments: args, beside_bars }: z.infer<typeof caseSchema>) {
  const cwd = await temporaryFolder()
  if (beside_bars) await cp(join(folder, 'book'), join(cwd, 'book'), { recursive: true })
  await cp(join(folder, 'inputs', file), join(cwd, file))
  const answer = await run(['import', kind, file, '--book', 'book', ...args], { cwd, now: () => NOW_MS })
  const table = async (path: string) => cellsIn(await readFile(join(cwd, 'book', path), 'utf8'))
  return { ...answer, cwd, table }
}

/** What the tables of a book must have where the file is read. */
const RIGHT: Readonly<Record<string, (rows: string[][]) => unknown>> = {
  '01': rows => rows[0]?.[5] === '1247.7175',
  '04': rows => rows.at(-1)?.[5] === '1433.0842',
  '06': rows => rows[0]?.[0] === '2024-01-01T00:00:00Z',
  '06c': rows => rows[0]?.[0] === '2024-01-01T00:00:00Z',
  '21': rows => rows.filter(([side]) => side === 'short').length === 20 && rows.length === 40,
  '21c': rows => rows.filter(([side]) => side === 'short').length * 2 === rows.length,
  '21r': rows => rows.filter(([side]) => side === 'short').length === 20,
  '22': rows => rows.filter(([side]) => side === 'short').length * 2 === rows.length,
  '23b': rows => rows.at(-1)?.[3] === '',
  '23r': rows => rows.at(-1)?.[3] === '',
  '24c': rows => Math.abs(rows.reduce((equity, row) => equity * (1 + Number(row[8])), 1) - 1.0306) < 1e-3,
  '26': rows => rows.length === 41 && rows.filter(row => row[3] === '').length === 1,
  '60c': rows => rows.some(row => row[5] === '209.5'),
  '70': rows => rows[0]?.[5] === '1247.7175',
  '70c': rows => rows[1]?.[5] === '1394.3617',
}

describe.skipIf(CASES.length === 0)(`files${skip}`, () => {
  test.each(CASES.map(each => [each.case, each.file_has, each] as const))(
    'the file %s (%s) is read with the right values, or refused',
    async (id, _, each) => {
      const { code, err, table, cwd } = await importing(each)
      const path =
        each.import === 'bars' ? null : each.import === 'ledger' ? 'ledgers/a.csv' : 'returns/r.csv'
      if (code !== 0) {
        expect(each.must, err).toMatch(/refuse/)
        expect(existsSync(join(cwd, 'book/ledgers')) || existsSync(join(cwd, 'book/returns'))).toBe(false)
        expect(err).toContain(basename(each.file).slice(0, 2))
        return
      }
      expect(each.must).toMatch(/read|shift/)
      const right = RIGHT[id]
      if (right === undefined) return
      const frames = ['1m', '5m', '15m', '1h', '4h', '1d'].map(name => `bars/X/${name}.csv`)
      const own = path ?? frames.find(name => existsSync(join(cwd, 'book', name)))!
      expect(right(await table(own)), JSON.stringify((await table(own)).slice(0, 3))).toBe(true)
    },
  )
})
