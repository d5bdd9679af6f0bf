import { equityCurve } from '#core/figures/equity-curve.ts'
import type { Resource } from './answer.ts'
import { findStrategy } from './find-strategy.ts'
import { strategyLinks } from './links.ts'
import { CURVE_NOTE } from './notes.ts'
import { seriesTable } from './returns.ts'
import { assertPublishable, riskFactor, riskLevel, seriesRiskMeta } from './risk-level.ts'

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
