import { z } from 'zod'
import { DEFAULT_PARAMS, FORMATS, type Params } from '#core/contract/parameters.ts'
import { byName, isoDate, list, record, records, strategyId } from '#core/contract/payloads/field.ts'
import type { MetaExtra } from '#core/contract/register.ts'
import { lastDay, pointsBetween, type Series, STEP_DAYS } from '#core/figures/series.ts'
import { BOOK_COLUMN, equalWeightBookOf } from '../equal-weight-book.ts'
import { type Column, dateColumn, significantColumn, type Table } from '../render/table.ts'
import type { Snapshot } from '../snapshot.ts'
import { correlationMatrix, correlationPayload, undefinedSentence } from './correlation.ts'
import { datasetRoute } from './resource.ts'
import { noteAt, RISK_UNIT, type RiskLevel, rescaleFactor, rescaleMeta, riskLevel } from './risk-level.ts'

const exportNote = (undefinedPairs: number, isCut: boolean): string =>
  `A strategy has no value before its inception and after its end. The correlation matrix is that of base-risk returns${isCut ? ' over the whole history: from and to cut the rows alone' : ''}.${undefinedSentence(undefinedPairs)} ${RISK_UNIT}`

export const exportTable = () =>
  record('The returns of all strategies side by side.', {
    ids: list('All strategies, in catalogue order.', strategyId),
    rows: records('A row a period, ascending.', {
      t: isoDate('UTC day of the returns; for a week its Sunday.'),
      rets: byName(
        'Return of each strategy, a fraction; a strategy has no key before its inception.',
        z.number(),
      ),
    }),
    correlation: correlationMatrix(),
  }).meta({ id: 'Export' })

export const exportAll = datasetRoute({
  id: 'export',
  path: '/v1/export',
  title: 'Export',
  about:
    'The returns of all strategies side by side, whole or from one date to another, as JSON with their correlation or as CSV, Arrow or Parquet.',
  parameters: ['period', 'risk_pct', 'from', 'to'],
  formats: FORMATS,
  data: exportTable,
  refusals: ['overloaded'],
  example: { path: '/v1/export?period=weekly&risk_pct=0.01' },
  handler: (snapshot, params) => {
    const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
    const table = wideTable(
      snapshot.strategies.map(strategy => {
        const series = strategy[params.period]
        return { name: strategy.id, series, factor: rescaleFactor(series.values, strategy, level) }
      }),
      params,
    )
    const { payload: correlation, undefinedCount } = correlationPayload(snapshot, params.period, null)
    const note = noteAt(level, exportNote(undefinedCount, params.from !== null || params.to !== null))
    return {
      data: { ids: snapshot.strategies.map(({ id }) => id), rows: table, correlation },
      table,
      meta: { period: params.period, ...exportRiskMeta(snapshot, level), note },
    }
  },
})

/** How many cells the table has: what it costs to write. */
export const exportCells = ({ strategies }: Snapshot, { period, from, to }: Params): number =>
  strategies.reduce((sum, strategy) => {
    const { begin, end } = pointsBetween(strategy[period], from, to)
    return sum + end - begin
  }, 0)

type WideColumn = { readonly name: string; readonly series: Series; readonly factor?: number }

/**
 * A row for every period from the earliest start to the latest end, or of those only the rows from `from` to
 * `to`; a column has cells inside its own window. A weekly row is a whole week, dated by its Sunday,
 * wherever the range cuts.
 */
export function wideTable(
  all: readonly WideColumn[],
  { period, from, to }: Pick<Params, 'period' | 'from' | 'to'>,
): Table {
  const live = all.map(({ series }) => series).filter(series => series.values.length > 0)
  const earliest = Math.min(...live.map(series => series.first))
  const latest = Math.max(...live.map(lastDay))
  const step = STEP_DAYS[period]
  const first = from === null ? earliest : earliest + Math.max(0, Math.ceil((from - earliest) / step)) * step
  const last = to === null ? latest : Math.min(latest, to)
  const rows = live.length === 0 ? 0 : Math.max(0, Math.floor((last - first) / step) + 1)
  return {
    kind: 'table',
    rows,
    columns: [dateColumn('t', { period, first }), ...all.map(column => returnColumn(column, first))],
    nest: 'rets',
  }
}

function returnColumn({ name, series, factor }: WideColumn, first: number): Column {
  const { at, kind } = significantColumn(name, series.values, factor) // no rescaled book beside the book
  const offset = (series.first - first) / STEP_DAYS[series.period]
  const { length } = series.values
  return {
    name,
    kind,
    at: row => at(row - offset),
    has: row => row >= offset && row < offset + length,
  }
}

/** Strategies may have different base risks; one number stands for all only if they agree. */
function exportRiskMeta({ strategies }: Snapshot, level: RiskLevel | null): MetaExtra {
  if (level === null) return { modelled: false }
  const bases = Object.fromEntries(strategies.map(({ id, base_risk_pct }) => [id, base_risk_pct]))
  const [base, ...others] = new Set(Object.values(bases))
  return {
    risk_pct: level.effective,
    modelled: true,
    ...(base !== undefined && others.length === 0 ? { base_risk_pct: base } : {}),
    base_risk_pcts: bases,
    ...rescaleMeta(level),
  }
}

const BENCHMARK_NOTE =
  'Daily returns of holding each instrument without costs, from the first to the last day of the strategies on it: the ' +
  'last close of a UTC day over the last close before it, of the first day of the bars over its first open; a day without bars ' +
  'returns 0. '

const BOOK_NOTE =
  `${BOOK_COLUMN} is the mean of the base returns of the strategies alive on each day, and 0 on a day without any; a new ` +
  'strategy changes its past.'

const NO_BENCHMARK_NOTE =
  'No instrument has bars in this version, the operator turned the comparison off, or an older program made the version. '

export const benchmarkTable = () =>
  record('Holding the instruments, and the equal-weight book, side by side.', {
    instruments: list('The instruments, in the order of the catalogue.', z.string()),
    rows: records('A row a day, ascending.', {
      t: isoDate('UTC day of the returns.'),
      rets: byName(
        'Return of each instrument and of the equal-weight book, a fraction; an instrument without bars on the day or before has no key.',
        z.number(),
      ),
    }),
  }).meta({ id: 'Benchmark' })

export const benchmark = datasetRoute({
  id: 'benchmark',
  path: '/v1/benchmark',
  title: 'Benchmark',
  about:
    'Daily returns of what strategies are compared with: holding each instrument, and the equal-weight book.',
  formats: FORMATS,
  published: ['json', 'csv'],
  isRiskFree: true,
  data: benchmarkTable,
  handler: snapshot => {
    const { benchmarks } = snapshot
    const held = benchmarks.map(({ instrument, daily }) => ({ name: instrument, series: daily }))
    const book = { name: BOOK_COLUMN, series: equalWeightBookOf(snapshot).published }
    const table = wideTable([...held, book], DEFAULT_PARAMS)
    return {
      data: { instruments: benchmarks.map(({ instrument }) => instrument), rows: table },
      table,
      meta: { note: (benchmarks.length === 0 ? NO_BENCHMARK_NOTE : BENCHMARK_NOTE) + BOOK_NOTE },
    }
  },
})
