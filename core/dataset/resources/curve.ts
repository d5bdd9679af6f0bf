import { equityCurve } from '#core/figures/equity-curve.ts'
import { findStrategy, type Resource, strategyLinks } from './resource.ts'
import { seriesTable } from './returns.ts'
import { assertPublishable, RISK_UNIT, riskFactor, riskLevel, seriesRiskMeta } from './risk-level.ts'

const CURVE_NOTE = `Equity at the end of each UTC day, 1.0 at the close before the first; at another risk level it is compounded from the rescaled daily returns and stays 0 after a ruin. ${RISK_UNIT}`

/** `/v1/strategies/{sid}/curve`: the daily equity, compounded from 1.0, at any risk level. */
export const curve: Resource = (snapshot, params) => {
  const strategy = findStrategy(snapshot, params.sid)
  const level = riskLevel(params.risk_pct, snapshot.dataset.max_modelled_risk_pct)
  const { daily, base_risk_pct } = strategy
  if (level !== null) assertPublishable(strategy, level)
  const equity = equityCurve(daily.values, riskFactor(level, base_risk_pct))
  const table = seriesTable({ ...daily, values: equity }, 'equity')
  return {
    data: table,
    table,
    meta: { ...seriesRiskMeta(level, base_risk_pct), note: CURVE_NOTE },
    links: strategyLinks('curve', params),
  }
}
