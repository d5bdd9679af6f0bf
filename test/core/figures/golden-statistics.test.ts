import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mean } from 'simple-statistics'
import { expect, test } from 'vitest'
import { parseIsoDate } from '#core/calendar.ts'
import { equityFromBaseline } from '#core/figures/account-path.ts'
import { equalWeightBook } from '#core/figures/book.ts'
import { type CorrelationMatrix, correlationMatrix } from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { drawdownEpisodes, drawdowns } from '#core/figures/drawdown.ts'
import { isUndefined, splitFigures } from '#core/figures/figure.ts'
import { MIN_OVERLAP } from '#core/figures/pearson.ts'
import {
  completeWeeks,
  DAYS_PER_YEAR,
  FEWEST_DAYS,
  lastDay,
  MONTHS_PER_YEAR,
  type Series,
  sliceSeries,
  WEEKS_PER_YEAR,
} from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { TradeOutcome } from '#core/figures/trade-statistics.ts'
import { near } from '#test/support/near.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/golden-statistics')

const GOLDENS: readonly string[] = readdirSync(join(FOLDER, 'golden'))

test.each(GOLDENS)('every number, date, flag and reason of %s is what two implementations agree on', file => {
  const golden = readGolden(file)
  const { returns, trades, k } = golden.meta
  const actual = computeGolden(readFixture(returns, trades), trades, k)
  expect(actual).toMatchObject(near(golden) as object) // both implementations agree to this
  expect(surplusReasons(golden, actual)).toEqual([])
})

/** Reasons why figures are null that the goldens do not give, of figures that they specify. */
function surplusReasons(expected: Json, actual: unknown): string[] {
  if (!isObject(expected) || !isObject(actual)) return []
  const { undefined: wanted } = expected
  const given = isObject(wanted) && isObject(actual.undefined) ? Object.keys(actual.undefined) : []
  const surplus = given.filter(field => !(field in (wanted as JsonObject)) && isSpecified(expected, field))
  return [...surplus, ...Object.keys(expected).flatMap(key => surplusReasons(expected[key]!, actual[key]))]
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isSpecified(block: JsonObject, field: string): boolean {
  let node: Json | undefined = block
  for (const step of field.split('/')) node = isObject(node) ? node[step] : undefined
  return node !== undefined
}

// What the golden statistics hold, computed by the code under test and laid out like the golden files.

const ANY_RISK = 0.02 // the goldens have no figure in R

const computeGolden = (fixture: Fixture, trades: string | null, k: number) => ({
  meta: {
    ...{ returns: fixture.returns, trades, k, weekly_rescale: 'scaled', min_overlap: { ...MIN_OVERLAP } },
    ...{ periods_per_year: DAYS_PER_YEAR, weeks_per_year: WEEKS_PER_YEAR, months_per_year: MONTHS_PER_YEAR },
    min_cagr_days: DAYS_PER_YEAR,
  },
  base: computeBlock(fixture, 1),
  rescaled: { k, ...computeBlock(fixture, k) },
})

function computeBlock({ series, trades }: Fixture, k: number) {
  const names = [...series.keys()]
  const daily = [...series.values()]
  const matrix = correlationMatrix(daily)
  const book = equalWeightBook(commonDays(daily)).daily
  return {
    strategies: Object.fromEntries(
      names.map((name, i) => [name, compute(daily[i]!, trades.get(name) ?? [], k)]),
    ),
    correlation: {
      daily: { ...describeMatrix(matrix, names), min_overlap: MIN_OVERLAP.daily },
      weekly: {
        ...describeMatrix(correlationMatrix(daily.map(completeWeeks)), names),
        min_overlap: MIN_OVERLAP.weekly,
      },
    },
    book: compute(book, [], k),
    summary: {
      n_strategies: names.length,
      common_days: book.values.length,
      ...summarize(diversification(matrix, names)),
    },
  }
}

/** The book of the goldens begins when all strategies live and ends with the first of them; on those days it is ours. */
function commonDays(series: readonly Series[]): Series[] {
  const first = Math.max(...series.map(each => each.first))
  const last = Math.min(...series.map(lastDay))
  return series.map(each => sliceSeries(each, first, last))
}

function compute(daily: Series, trades: Parameters<typeof strategyFigures>[0]['trades'], k: number) {
  const weekly = completeWeeks(daily)
  const split = splitFigures(strategyFigures({ daily, weekly, trades, k, base_risk_pct: ANY_RISK }))
  return withAllDips({ ...split.values, undefined: split.undefined }, daily, k)
}

/** The averages of the goldens count drawdowns of one day too; ours leave them out, and say so. */
function withAllDips(block: ReturnType<typeof splitFigures>['values'], daily: Series, k: number) {
  const episodes = drawdownEpisodes(drawdowns(equityFromBaseline(daily.values, k)))
  if (block.ruined === true || episodes.length === 0) return block
  const copy = structuredClone(block) as JsonBlock
  for (const [field, value] of [
    ['average_depth_pct', 100 * mean(episodes.map(({ depth }) => depth))],
    ['average_underwater_days', mean(episodes.map(({ underwaterDays }) => underwaterDays))],
  ] as const) {
    copy.fund_dd.drawdowns[field] = value
    delete copy.undefined[`fund_dd/drawdowns/${field}`]
  }
  return copy
}

type JsonBlock = { fund_dd: { drawdowns: Record<string, number> }; undefined: Record<string, string> }

const describeMatrix = (matrix: CorrelationMatrix, names: readonly string[]) => ({
  matrix: Object.fromEntries(
    names.map((row, i) => [
      row,
      Object.fromEntries(names.map((column, j) => [column, cellOf(matrix, i, j)])),
    ]),
  ),
  ...summarize(diversification(matrix, names)),
})

function cellOf({ rho, size }: CorrelationMatrix, i: number, j: number): number | null {
  const value = rho[i * size + j]!
  return Number.isNaN(value) ? null : value
}

/** The goldens leave the number of strategies used open where there is nothing that it is the number of. */
const summarize = (figures: ReturnType<typeof diversification>) => ({
  n_strategies_used: figures.n_strategies_used < 2 ? null : figures.n_strategies_used,
  mean_pairwise: isUndefined(figures.mean_correlation) ? null : figures.mean_correlation,
  most_correlated: toGoldenPair(figures.most_correlated),
  least_correlated: toGoldenPair(figures.least_correlated),
  effective_bets: isUndefined(figures.effective_bets) ? null : figures.effective_bets,
})

const toGoldenPair = (found: ReturnType<typeof diversification>['most_correlated']) =>
  isUndefined(found) ? null : { a: found.pair[0], b: found.pair[1], rho: found.correlation, n: found.overlap }

// The files of golden statistics: synthetic inputs, and the numbers that two independent implementations agree they must give.

type Json = null | boolean | number | string | readonly Json[] | JsonObject
type JsonObject = { readonly [key: string]: Json }

/** A file of expected values; what it is made from stands in `meta`. */
type Golden = {
  readonly meta: { readonly returns: string; readonly trades: string | null; readonly k: number }
  readonly [block: string]: Json
}

type Fixture = {
  /** The name of its returns file. */
  readonly returns: string
  readonly series: ReadonlyMap<string, Series>
  readonly trades: ReadonlyMap<string, readonly TradeOutcome[]>
}

/** Other measures of the effective bets, which the files hold as well, are not published and left out. */
const readGolden = (file: string): Golden =>
  JSON.parse(readFileSync(join(FOLDER, 'golden', file), 'utf8'), (key, value) =>
    key === 'effective_bets_alternatives' ? undefined : withoutShortYears(value),
  )

const OF_YEAR = [
  ...['sharpe_daily_annualized', 'sortino_daily_annualized', 'sharpe_weekly_annualized'],
  ...['sortino_weekly_annualized', 'sharpe_monthly_annualized', 'sharpe_std_error', 'kelly_leverage'].map(
    name => `fund_dd/risk_adjusted/${name}`,
  ),
]

/** The goldens annualise a record of any length; ours leaves out what has fewer than 90 days, and says so. */
function withoutShortYears(node: Json): Json {
  if (!isObject(node)) return node
  const { n_days, days, sharpe, undefined: reasons } = node
  if (sharpe !== undefined && Number(days) < FEWEST_DAYS) return { ...node, sharpe: null }
  if (n_days === undefined || Number(n_days) >= FEWEST_DAYS || !isObject(reasons!) || node.ruined === true)
    return node
  const copy = structuredClone(node) as Record<string, never>
  for (const path of OF_YEAR) {
    const [name = '', ...groups] = path.split('/').toReversed()
    const group = groups.toReversed().reduce<Record<string, never>>((within, each) => within[each]!, copy)
    Object.assign(group, { [name]: null })
  }
  const short = OF_YEAR.map(path => [path, 'too_few_points'])
  return { ...copy, undefined: { ...reasons, ...Object.fromEntries(short) } }
}

function readFixture(returns: string, trades: string | null): Fixture {
  return { returns, series: readReturns(returns), trades: trades === null ? new Map() : readTrades(trades) }
}

/** `t,<strategy>,...`: a row a day, a column for each strategy, blank before the first and after the last day. */
function readReturns(file: string): Map<string, Series> {
  const [header, ...rows] = readRows(file)
  const first = parseIsoDate(rows[0]![0]!)!
  return new Map(header!.slice(1).map((name, column) => [name, toSeries(rows, column + 1, first)]))
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
