import { FORMATS } from '#core/contract/parameters.ts'
import { isoDate, list, namedRecord, number } from '#core/contract/payloads/field.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { type Series, sliceSeries } from '#core/figures/series.ts'
import { dateColumn, significantColumn, type Table } from '../render/table.ts'
import { atLevel, datasetRoute } from './resource.ts'
import { RISK_UNIT, rescaled } from './risk-level.ts'

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
  handler: atLevel(RETURNS_NOTE, ({ strategy, level }, _, { period, from, to }) => {
    const cut = sliceSeries(strategy[period], from, to)
    const table = seriesTable({ ...cut, values: rescaled(cut.values, strategy, level) }, 'ret')
    return { table, meta: { period } }
  }),
})

export const seriesTable = (series: Series, name: string): Table => ({
  kind: 'table',
  rows: series.values.length,
  columns: [dateColumn('t', series), significantColumn(name, series.values)],
  series,
})

const CURVE_NOTE = `Equity at the end of each UTC day, 1.0 at the close before the first; at another risk level it is compounded from the rescaled daily returns and stays 0 after a ruin. ${RISK_UNIT}`

export const curvePoints = () =>
  list(
    'The equity curve, ascending.',
    namedRecord('CurvePoint', {
      t: isoDate('UTC day at whose end the equity stands.'),
      equity: number('Equity, 1.0 at the close before the first point; 10 significant digits.'),
    }),
  )

export const curve = datasetRoute({
  id: 'curve',
  path: '/v1/strategies/{sid}/curve',
  title: 'Equity curve',
  about: 'The daily equity, compounded from 1.0, at any risk level.',
  parameters: ['risk_pct'],
  formats: FORMATS,
  published: ['json', 'csv'],
  data: curvePoints,
  example: { path: '/v1/strategies/yew/curve' },
  handler: atLevel(CURVE_NOTE, ({ strategy: { daily }, factor }) => ({
    table: seriesTable({ ...daily, values: equityCurve(daily.values, factor) }, 'equity'),
    meta: {},
  })),
})
