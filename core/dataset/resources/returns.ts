import { FORMATS } from '#core/contract/parameters.ts'
import { isoDate, list, namedRecord, number } from '#core/contract/payloads/field.ts'
import { lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { dateColumn, significantColumn, type Table } from '../render/table.ts'
import { datasetRoute, findStrategy } from './resource.ts'
import { noteAt, RISK_UNIT, rescaled, riskLevel, seriesRiskMeta } from './risk-level.ts'

const RETURNS_NOTE = `Simple returns of UTC days, or of complete ISO weeks dated by their Sunday; at another risk level every base return is multiplied by risk_pct / base_risk_pct. ${RISK_UNIT}`

export const returnPoints = () =>
  list(
    'The returns, ascending; weeks are complete ISO weeks only.',
    namedRecord('ReturnPoint', {
      t: isoDate('UTC day of the return; for a week its Sunday.'),
      ret: number('Simple return of the period, a fraction; 10 significant digits.'),
    }),
  )

export const returns = datasetRoute({
  id: 'returns',
  path: '/v1/strategies/{sid}/returns',
  title: 'Returns',
  about: 'Daily or weekly returns, whole or from one date to another, at any risk level.',
  parameters: ['period', 'risk_pct', 'from', 'to'],
  formats: FORMATS,
  published: ['json', 'csv'],
  data: returnPoints,
  example: { path: '/v1/strategies/ash/returns?from=2024-03-04&risk_pct=0.01&to=2024-03-10' },
  handler: (snapshot, params) => {
    const strategy = findStrategy(snapshot, params.sid)
    const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
    const cut = sliceSeries(strategy[params.period], params.from, params.to)
    const table = seriesTable({ ...cut, values: rescaled(cut.values, strategy, level) }, 'ret')
    const meta = { ...seriesRiskMeta(level, strategy.base_risk_pct), note: noteAt(level, RETURNS_NOTE) }
    return { table, meta: { period: params.period, ...meta } }
  },
})

export const seriesTable = (series: Series, name: string): Table => ({
  kind: 'table',
  rows: series.values.length,
  columns: [dateColumn('t', series), significantColumn(name, series.values)],
  series,
  ...(series.values.length === 0 ? {} : { extent: { first: series.first, last: lastDay(series) } }),
})
