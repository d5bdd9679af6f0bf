import { toText } from '#core/contract/decimal.ts'
import type { ApiError } from '#core/contract/errors.ts'
import { unfitQuery } from '#core/contract/parameters.ts'
import type { MetaExtra } from '#core/contract/register.ts'
import { LARGEST_PUBLISHED } from '#core/figures/account-path.ts'
import type { StrategyData } from '../snapshot.ts'

export const RISK_UNIT = 'risk_pct is a fraction: 0.02 = 2 % of equity per trade.'

const RESCALE_NOTE =
  'The rescale is arithmetic: every base return is multiplied by risk_pct / base_risk_pct. It is not a replay at that level, which would hold the size of a position until its exit and refuse entries above the leverage cap.'

/** The note on method of an answer, and at a risk level what a rescale is. */
export const noteAt = (level: RiskLevel | null, note: string): string =>
  level === null ? note : `${note} ${RESCALE_NOTE}`

/** A risk level as requested and as used, fractions of equity per trade. */
export type RiskLevel = { readonly requested: number; readonly effective: number }

/** The level at which a request is answered: clamped to the cap; null if none was requested. */
export const riskLevel = (requested: number | null, cap: number): RiskLevel | null =>
  requested === null ? null : { requested, effective: Math.min(requested, cap) }

/** The factor on every base return: `risk_pct / base_risk_pct`; exactly 1 at base risk. */
export const riskFactor = (level: RiskLevel | null, baseRisk: number): number =>
  level === null ? 1 : level.effective / baseRisk

export const rescaleMeta = (level: RiskLevel): MetaExtra => ({
  requested_risk_pct: level.requested,
  effective_risk_pct: level.effective,
  risk_pct_clamped: level.effective !== level.requested,
})

export const seriesRiskMeta = (level: RiskLevel | null, baseRisk: number): MetaExtra => ({
  risk_pct: level?.effective ?? baseRisk,
  modelled: level !== null,
  ...(level === null ? {} : { base_risk_pct: baseRisk, ...rescaleMeta(level) }),
})

type Identified = Pick<StrategyData, 'id' | 'base_risk_pct'>

/**
 * Returns of a strategy at another risk level: each multiplied by the factor. The base series itself if the
 * factor is 1. Throws `validation_error` if a product is too large to be published.
 */
export function rescaled(values: Float64Array, strategy: Identified, level: RiskLevel | null): Float64Array {
  const factor = rescaleFactor(values, strategy, level)
  return factor === 1 ? values : values.map(value => value * factor)
}

/** The factor on these returns, for callers that multiply them one at a time. Throws as `rescaled` does. */
export function rescaleFactor(values: Float64Array, strategy: Identified, level: RiskLevel | null): number {
  const factor = riskFactor(level, strategy.base_risk_pct)
  if (level === null || factor === 1) return 1
  for (let i = 0; i < values.length; i++) {
    if (Math.abs(values[i]! * factor) > LARGEST_PUBLISHED) throw tooLarge(strategy, level)
  }
  return factor
}

/**
 * What `compute` returns, which compounds at this level. Throws `validation_error` if the equity is too large to be
 * published.
 */
export function compounded<T>(strategy: Identified, level: RiskLevel | null, compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    if (level !== null && error instanceof RangeError) throw tooLarge(strategy, level)
    throw error
  }
}

const tooLarge = ({ id }: Identified, { requested }: RiskLevel): ApiError => {
  const reason = `the figures of the strategy ${id} pass what a number can hold at this level; ask for a smaller one`
  return unfitQuery([{ param: 'risk_pct', value: toText(requested), reason }])
}
