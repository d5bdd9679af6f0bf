import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS, type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { dayOf, type Series } from '#core/figures/series.ts'
import { type Replay, replay } from '#core/replay/replay.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import type { Costs, Trade } from '#core/replay/trade.ts'
import { spellMoment } from '../book/cell.ts'
import { FILLS } from '../book/read-sources.ts'
import { tableText } from '../book/write-table.ts'
import * as ta from '../starter/template/strategies/highwater/indicators.ts'
import { readModules, writeNewFolder } from '../starter/write-starter-book.ts'
import { BAR_MS, createMarket, type Market, marketFiles, spotFiles } from './market.ts'

/** The last day of the sample book, and the version that is built of it: the same everywhere. */
export const SAMPLE_AS_OF: EpochDay = toEpochDay(Date.UTC(2026, 5, 30))
export const SAMPLE_VERSION = '2026-07-01T00:15:00Z'

/**
 * The first of 1, 2, 3, ... with which the market and the strategies are within the bounds of the tests. Two
 * of the bounds (as many strategies lose as gain, and none looks too good) exist because the first seed made
 * 2 700 %: a sample that flatters would mislead.
 */
const SEED = 4

const TEMPLATE = join(import.meta.dirname, 'template')

/** The six strategies that are code: textbook rules, each a module with a factory for more of its kind. */
export const sampleModules = () => readModules(TEMPLATE)

const textOf = (name: string): Promise<string> => readFile(join(TEMPLATE, name), 'utf8')

/** The costs of the catalogue, for the histories that are made here. */
export const SAMPLE_COSTS: Costs = {
  commission_bps_per_side: 5,
  slippage_ticks: 2,
  tick_size: 0.1,
  max_leverage: 15,
}

const FIRST_DAY: EpochDay = toEpochDay(Date.UTC(2018, 0, 1))

/** The days on which the two histories without code begin. */
const LEDGER_FROM: EpochDay = toEpochDay(Date.UTC(2019, 6, 1))
const RETURNS_FROM: EpochDay = toEpochDay(Date.UTC(2021, 2, 1))

/**
 * Writes the sample book: a synthetic market of eight and a half years, six strategies as modules, one as a
 * ledger and one as reported returns, and an accumulation program on the same prices. The same bytes at every
 * call with the same address of the program's page, which pages link to. Refuses a folder that has something in it. Returns the
 * market.
 */
export async function writeSampleBook(dir: string, programUrl: string | null = null): Promise<Market> {
  const market = createMarket(SEED, FIRST_DAY * DAY_MS, (SAMPLE_AS_OF + 1) * DAY_MS)
  const weekly = run(weeklyRule('rowan'), market, LEDGER_FROM)
  const monthly = run(turnOfMonthRule('willow'), market, RETURNS_FROM)
  const link = programUrl === null ? '' : `  program_url: ${programUrl}\n`
  await writeNewFolder(dir, {
    'catalogue.yaml': (await textOf('catalogue.yaml')).replace('service:\n', `$&${link}`),
    'program.yaml': await textOf('program.yaml'),
    ...marketFiles('BTCUSDT-PERP', market),
    ...spotFiles('BTCUSDT-SPOT-SYNTHETIC', market),
    ...(await sampleModules()),
    'ledgers/rowan.csv': ledgerText(weekly.trades, ['leverage', 'stop', 'account_return']),
    'returns/willow.csv': returnsText(monthly.daily),
    'ledgers/willow.csv': ledgerText(monthly.trades, ['account_return']),
  })
  return market
}

const run = (strategy: Strategy, market: Market, from: EpochDay): Replay =>
  replay({ strategy, ...market, costs: SAMPLE_COSTS, from })

function ledgerText(trades: readonly Trade[], known: readonly ('leverage' | 'stop' | 'account_return')[]) {
  const columns = [...FILLS, ...known]
  const rows = trades.map(trade => columns.map(column => fieldText(column, trade[column])))
  return tableText(columns.join(), rows)
}

/** Prices and results to ten digits, as a careful maker of ledgers would write them. */
function fieldText(column: keyof Trade, value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  return column.endsWith('_time') ? spellMoment(value) : String(Number(value.toPrecision(10)))
}

const returnsText = (daily: Series): string =>
  tableText(
    't,ret',
    Array.from(daily.values, (ret, i) => [toIsoDate(dayOf(daily, i)), ret.toFixed(10)]),
  )

// The rules behind the ledger and the reported returns. They run when the book is written; the book has only
// their results.

const BARS_PER_WEEK = 42
const WEEK_MS = BARS_PER_WEEK * BAR_MS

/** Monday 00:00 UTC: epoch time began on a Thursday. */
const MONDAY_MS = 4 * DAY_MS

/** Four days: from Monday to the end of Thursday. */
const HOLD_BARS = 24

/** A smaller move is no signal. */
const LEAST_MOVE = 0.04
const WEEKLY_STOP = 0.045

/** Goes with the week before if it moved far enough: in on Monday, out after four days. */
const weeklyRule = (id: string): Strategy<ta.Window> => ({
  id,
  version: '1',
  timeframeMs: BAR_MS,
  warmupBars: BARS_PER_WEEK,
  baseRisk: 0.02,
  init: () => ta.createWindow(BARS_PER_WEEK),
  onBar(closes, bar, position) {
    const weekAgo = ta.push(closes, bar.c)
    const closeMs = bar.t + BAR_MS
    if (position !== null)
      return closeMs - position.entry_time >= HOLD_BARS * BAR_MS ? { act: 'flat', why: 'time' } : null
    if (weekAgo === null || (closeMs - MONDAY_MS) % WEEK_MS !== 0) return null
    const move = bar.c / weekAgo - 1
    if (Math.abs(move) < LEAST_MOVE) return null
    return ta.enter(move > 0 ? 'long' : 'short', bar.c, WEEKLY_STOP * bar.c)
  },
})

/** The turn of the month: its last day and its first three. */
const DAYS_BEFORE = 1
const DAYS_AFTER = 3
const TURN_STOP = 0.05

/** Is long around the turn of each month, and flat for the rest of it. */
const turnOfMonthRule = (id: string): Strategy<null> => ({
  id,
  version: '1',
  timeframeMs: BAR_MS,
  warmupBars: 0,
  baseRisk: 0.02,
  init: () => null,
  onBar(_, bar, position) {
    const closeMs = bar.t + BAR_MS
    const isTurn = dayOfMonth(closeMs) <= DAYS_AFTER || dayOfMonth(closeMs + DAYS_BEFORE * DAY_MS) === 1
    if (position !== null) return isTurn ? null : { act: 'flat', why: 'time' }
    const isEntry = dayOfMonth(closeMs + DAYS_BEFORE * DAY_MS) === 1 && closeMs % DAY_MS === 0
    return isEntry ? ta.enter('long', bar.c, TURN_STOP * bar.c) : null
  },
})

const dayOfMonth = (ms: number): number => new Date(ms).getUTCDate()
