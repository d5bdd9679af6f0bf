import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toEpochDay } from '#core/calendar.ts'
import { auditLedger } from '#core/replay/audit.ts'
import { markLedger } from '#core/replay/marks.ts'
import type { Trade } from '#core/replay/trade.ts'
import { sharedData } from '../../support/shared-data.ts'
import { readRows, realBars } from './real-bars.ts'

// A run of backtesting.py over the same bars: another program, another author. It takes the entry commission
// from the equity at the entry, as we do; one bar's equity is cash + PnL of the closed trades + value of the open one.
const COSTS = { commission_bps_per_side: 5, slippage_ticks: 0, tick_size: 0.01, max_leverage: 15 }
const GROUND = { bars: realBars!, funding: null, costs: COSTS, resultTolerance: 0 }
const CASH = 100_000
const FINAL_EQUITY = 215_494.34662996314

const folder = sharedData === null ? '' : join(sharedData, 'ledgers/backtesting.py')

const toMs = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)

/**
 * The ledger as an operator would bring it, with leverage and account return from size, PnL and running
 * equity.
 */
function readLedger(): Trade[] {
  const [header, ...rows] = readFileSync(join(folder, 'trades_final.csv'), 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(','))
  const at = (row: readonly string[], name: string): string => row[header!.indexOf(name)]!
  let equity = CASH
  return rows.map(row => {
    const size = Number(at(row, 'Size'))
    const entry_price = Number(at(row, 'EntryPrice'))
    const pnl = Number(at(row, 'PnL'))
    const atEntry = equity
    equity += pnl
    return {
      side: size > 0 ? 'long' : 'short',
      entry_time: toMs(at(row, 'EntryTime')),
      entry_price,
      exit_time: toMs(at(row, 'ExitTime')),
      exit_price: Number(at(row, 'ExitPrice')),
      exit_reason: at(row, 'ExitPrice') === at(row, 'SL') ? 'stop' : 'signal',
      leverage: (Math.abs(size) * entry_price) / atEntry,
      stop: Number(at(row, 'SL')),
      account_return: pnl / atEntry,
      ...{ fees: null, funding: null },
    }
  })
}

/** The other program's equity at the last bar of each day. */
function readDailyEquity(): Map<number, number> {
  const rows = readRows(join(folder, 'equity_curve.csv.gz')).slice(1)
  return new Map(rows.map(row => [toEpochDay(toMs(row[0]!)), Number(row[1])]))
}

const marksOf = (trades: readonly Trade[]) =>
  markLedger({ id: 'oracle', trades, bars: realBars!, funding: null, costs: COSTS, baseRisk: 0.02 })

const worstDifference = (trades: readonly Trade[]): number => {
  const marks = marksOf(trades)
  const expected = readDailyEquity()
  return marks.equity.reduce((worst, equity, i) => {
    const other = expected.get(marks.daily.first + i)! / CASH
    return Math.max(worst, Math.abs(equity / other - 1))
  }, 0)
}

const onSharedData = test.skipIf(sharedData === null)

onSharedData(
  'the marks of a ledger are the equity that another program had at each close, and end in its final one',
  () => {
    expect(worstDifference(readLedger())).toBeLessThan(1e-9)
    const { trades, equity } = marksOf(readLedger())
    expect(trades).toHaveLength(145)
    expect((equity.at(-1)! * CASH) / FINAL_EQUITY).toBeCloseTo(1, 11)
  },
)

onSharedData(
  'the marks of a ledger without account returns, from prices and commission, are the equity of another program',
  () => {
    const trades = readLedger().map(trade => ({ ...trade, account_return: null }))
    expect(worstDifference(trades)).toBeLessThan(1e-9)
  },
)

onSharedData(
  'the marks of a ledger without leverage, which follows from the returns, end in the equity of another program',
  () => {
    // Most trades move far enough for it; the others are booked at their exit, so days inside them differ.
    const marks = marksOf(readLedger().map(trade => ({ ...trade, leverage: null, stop: null })))
    const inferred = marks.trades.filter(trade => trade.marking === 'daily')
    expect(inferred.length).toBeGreaterThan(100)
    const known = readLedger()
    for (const trade of inferred) {
      const same = known.find(({ entry_time }) => entry_time === trade.entry_time)!
      expect(trade.leverage! / same.leverage!).toBeCloseTo(1, 9)
    }
    expect((marks.equity.at(-1)! * CASH) / FINAL_EQUITY).toBeCloseTo(1, 11)
  },
)

onSharedData('the ledger of another program passes the audit against the bars', () => {
  expect(auditLedger({ ...GROUND, trades: readLedger() })).toEqual([])
})
