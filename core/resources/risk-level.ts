import type { MetaExtra } from '#core/contract/register.ts'

/** A risk level as asked for and as used, fractions of equity per trade. */
export type RiskLevel = { readonly requested: number; readonly effective: number }

/** The level that a request for `requested` is answered at: clamped to the cap; null where none was asked for. */
export const riskLevel = (requested: number | null, cap: number): RiskLevel | null =>
  requested === null ? null : { requested, effective: Math.min(requested, cap) }

/** The factor on every base return: `risk_pct / base_risk_pct`; exactly 1 at base risk. */
export const riskFactor = (level: RiskLevel | null, baseRisk: number): number =>
  level === null ? 1 : level.effective / baseRisk

/** The provenance that every rescaled answer carries. */
export const rescaleMeta = (level: RiskLevel): MetaExtra => ({
  requested_risk_pct: level.requested,
  effective_risk_pct: level.effective,
  risk_pct_clamped: level.effective !== level.requested,
})

/** What the register says about the risk of one strategy's series. */
export const seriesRiskMeta = (level: RiskLevel | null, baseRisk: number): MetaExtra => ({
  risk_pct: level?.effective ?? baseRisk,
  modelled: level !== null,
  ...(level === null ? {} : { base_risk_pct: baseRisk, ...rescaleMeta(level) }),
})

/** Returns at another risk level: each multiplied by the factor. The base series itself where the factor is 1. */
export function rescaled(values: Float64Array, factor: number): Float64Array {
  return factor === 1 ? values : values.map(value => value * factor)
}
