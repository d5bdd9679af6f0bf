// The golden statistics: synthetic inputs, and the numbers that two independent implementations agree they must give.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseIsoDate } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import type { TradeOutcome } from '#core/figures/trade-statistics.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/golden-statistics')

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/** A file of expected values; what it is made from stands in `meta`. */
export type Golden = {
  readonly meta: { readonly returns: string; readonly trades: string | null; readonly k: number }
  readonly [block: string]: Json
}

export type Fixture = {
  /** The name of its returns file. */
  readonly returns: string
  readonly series: ReadonlyMap<string, Series>
  readonly trades: ReadonlyMap<string, readonly TradeOutcome[]>
}

export const GOLDENS: readonly string[] = readdirSync(join(FOLDER, 'golden'))

/** Other measures of the effective bets, which the files hold as well, are not published and left out. */
export const readGolden = (file: string): Golden =>
  JSON.parse(readFileSync(join(FOLDER, 'golden', file), 'utf8'), (key, value) =>
    key === 'effective_bets_alternatives' ? undefined : value,
  )

export function readFixture(returns: string, trades: string | null): Fixture {
  return { returns, series: readReturns(returns), trades: trades === null ? new Map() : readTrades(trades) }
}

/** `t,<strategy>,...`: a column each, blank before the first and after the last day. */
function readReturns(file: string): Map<string, Series> {
  const [header, ...rows] = readRows(file)
  const days = rows.map(([t]) => dayOfText(t!))
  days.forEach((day, i) => {
    if (day !== days[0]! + i) throw new Error(`${file}: line ${i + 2} must be the day after the line above`)
  })
  return new Map(header!.slice(1).map((name, column) => [name, toSeries(rows, column + 1, days[0]!)]))
}

function toSeries(rows: readonly string[][], column: number, firstDay: number): Series {
  const cells = rows.map(row => row[column]!)
  const from = cells.findIndex(cell => cell !== '')
  const to = cells.findLastIndex(cell => cell !== '') + 1
  const values = Float64Array.from(cells.slice(from, to), cell => (cell === '' ? Number.NaN : Number(cell)))
  return { period: 'daily', first: firstDay + from, values }
}

/** `strategy,entry_t,exit_t,side,ret`. */
function readTrades(file: string): Map<string, TradeOutcome[]> {
  const [, ...rows] = readRows(file)
  const byStrategy = [...Map.groupBy(rows, ([strategy]) => strategy!)]
  return new Map(byStrategy.map(([strategy, trades]) => [strategy, trades.map(toTrade)]))
}

function toTrade([, entry, exit, side, ret]: string[]): TradeOutcome {
  if (side !== 'long' && side !== 'short') throw new Error(`a trade must be long or short, got ${side}`)
  return {
    side,
    entry_time: Date.parse(entry!),
    exit_time: Date.parse(exit!),
    account_return: Number(ret),
    return_pct: 100 * Number(ret), // the files have no leverage
  }
}

const readRows = (file: string): string[][] =>
  readFileSync(join(FOLDER, 'fixtures', file), 'utf8')
    .trimEnd()
    .split(/\r?\n/)
    .map(line => line.split(','))

function dayOfText(text: string): number {
  const day = parseIsoDate(text)
  if (day === null) throw new Error(`${text} must be a date`)
  return day
}
