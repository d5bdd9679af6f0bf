import { lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { dateColumn, significantColumn, type Table } from '../render/table.ts'
import { findStrategy, type Resource, strategyLinks } from './resource.ts'
import { RISK_UNIT, rescaled, riskLevel, seriesRiskMeta } from './risk-level.ts'

const RETURNS_NOTE = `Simple returns of UTC days, or of complete ISO weeks dated by their Sunday; at another risk level every base return is multiplied by risk_pct / base_risk_pct. ${RISK_UNIT}`

/** `/v1/strategies/{sid}/returns`: the daily or weekly returns, cut to a range, at any risk level. */
export const returns: Resource = (snapshot, params) => {
  const strategy = findStrategy(snapshot, params.sid)
  const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
  const cut = sliceSeries(strategy[params.period], params.from, params.to)
  const table = seriesTable({ ...cut, values: rescaled(cut.values, strategy, level) }, 'ret')
  return {
    data: table,
    table,
    meta: { period: params.period, ...seriesRiskMeta(level, strategy.base_risk_pct), note: RETURNS_NOTE },
    links: strategyLinks('returns', params),
  }
}

/** A series as a table of dates and values. */
export const seriesTable = (series: Series, name: string): Table => ({
  kind: 'table',
  rows: series.values.length,
  columns: [dateColumn('t', series), significantColumn(name, series.values)],
  series,
  ...(series.values.length === 0 ? {} : { extent: { first: series.first, last: lastDay(series) } }),
})
