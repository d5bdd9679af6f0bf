import type { MetaExtra } from '#core/contract/register.ts'
import { dayOf, lastDay, type Period, type Series, STEP_DAYS } from '#core/figures/series.ts'
import { type Column, dateColumn, significantColumn, type Table } from '../render/table.ts'
import type { Snapshot, StrategyData } from '../snapshot.ts'
import type { Resource } from './answer.ts'
import { correlationPayload } from './correlation.ts'
import { bookLinks } from './links.ts'
import { exportNote } from './notes.ts'
import { type RiskLevel, rescaleFactor, rescaleMeta, riskLevel } from './risk-level.ts'

/** `/v1/export`: the returns of all strategies side by side, at base risk or each rescaled to one level. */
export const exportAll: Resource = (snapshot, params) => {
  const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
  const table = wideTable(snapshot.strategies, params.period, level)
  const { payload: correlation, undefinedCount } = correlationPayload(snapshot, params.period, null)
  const note = exportNote(undefinedCount)
  return {
    data: { ids: snapshot.strategies.map(({ id }) => id), rows: table, correlation },
    table,
    meta: { period: params.period, ...exportRiskMeta(snapshot, level), note },
    links: bookLinks('export', params),
  }
}

/** A row for every period from the earliest start to the latest end; a strategy has cells inside its own window. */
function wideTable(strategies: readonly StrategyData[], period: Period, level: RiskLevel | null): Table {
  const all = strategies.map(strategy => strategy[period])
  const live = all.filter(series => series.values.length > 0)
  const first = Math.min(...live.map(series => series.first))
  const rows = live.length === 0 ? 0 : (Math.max(...live.map(lastDay)) - first) / STEP_DAYS[period] + 1
  return {
    kind: 'table',
    rows,
    columns: [
      dateColumn('t', { period, first }),
      ...strategies.map(strategy => returnColumn(strategy, strategy[period], first, level)),
    ],
    nest: 'rets',
    ...(rows === 0 ? {} : { extent: { first, last: dayOf({ period, first }, rows - 1) } }),
  }
}

function returnColumn(
  strategy: StrategyData,
  series: Series,
  first: number,
  level: RiskLevel | null,
): Column {
  const { id } = strategy
  const factor = rescaleFactor(series.values, strategy, level)
  const { write, cells } = significantColumn(id, series.values, factor) // no rescaled book beside the book
  const offset = (series.first - first) / STEP_DAYS[series.period]
  const { length } = series.values
  return {
    name: id,
    quoted: false,
    write: (out, row) => write(out, row - offset),
    cells: { ...cells, at: row => cells.at(row - offset) },
    has: row => row >= offset && row < offset + length,
  }
}

/** Strategies may have different base risks; one number stands for all only where they agree. */
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
