import { FORMATS } from '#core/contract/parameters.ts'
import { isoDate, list, namedRecord, number } from '#core/contract/payloads/field.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { datasetRoute, findStrategy } from './resource.ts'
import { seriesTable } from './returns.ts'
import { compounded, noteAt, RISK_UNIT, riskFactor, riskLevel, seriesRiskMeta } from './risk-level.ts'

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
  handler: (snapshot, params) => {
    const strategy = findStrategy(snapshot, params.sid)
    const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
    const { daily, base_risk_pct } = strategy
    const factor = riskFactor(level, base_risk_pct)
    const equity = compounded(strategy, level, () => equityCurve(daily.values, factor))
    const table = seriesTable({ ...daily, values: equity }, 'equity')
    return { table, meta: { ...seriesRiskMeta(level, base_risk_pct), note: noteAt(level, CURVE_NOTE) } }
  },
})
