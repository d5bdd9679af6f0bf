import { toText } from '#core/contract/decimal.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { MetaExtra } from '#core/contract/register.ts'
import { LARGEST_PUBLISHED, passesNumbers } from '#core/figures/equity-curve.ts'
import type { StrategyData } from '../snapshot.ts'

/** The unit of risk levels, in the notes on method of answers. */
export const RISK_UNIT = 'risk_pct is a fraction: 0.02 = 2 % of equity per trade.'

/** A risk level as requested and as used, fractions of equity per trade. */
export type RiskLevel = { readonly requested: number; readonly effective: number }

/** The level that a request for `requested` is answered at: clamped to the cap; null if none was requested. */
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

type Identified = Pick<StrategyData, 'id' | 'base_risk_pct'>

/**
 * Returns of a strategy at another risk level: each multiplied by the factor. The base series itself if the factor
 * is 1. Throws `validation_error` if a product is too large to be published.
 */
export function rescaled(values: Float64Array, strategy: Identified, level: RiskLevel | null): Float64Array {
  const factor = riskFactor(level, strategy.base_risk_pct)
  if (level === null || factor === 1) return values
  const products = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) {
    products[i] = values[i]! * factor
    if (Math.abs(products[i]!) > LARGEST_PUBLISHED) throw tooLarge(strategy, level)
  }
  return products
}

/**
 * The factor on these returns, for callers that multiply them one at a time. Throws `validation_error` if `rescaled` would:
 * after this no product is too large.
 */
export function rescaleFactor(values: Float64Array, strategy: Identified, level: RiskLevel | null): number {
  const factor = riskFactor(level, strategy.base_risk_pct)
  if (level === null || factor === 1) return 1
  if (largestOf(values) * factor > LARGEST_PUBLISHED) throw tooLarge(strategy, level)
  return factor
}

/** Found once a series: a thousand of them take 15 ms. */
const largest = new WeakMap<Float64Array, number>()

/** The largest magnitude in a series. */
function largestOf(values: Float64Array): number {
  const known = largest.get(values)
  if (known !== undefined) return known
  let found = 0
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!)
    if (magnitude > found) found = magnitude
  }
  largest.set(values, found)
  return found
}

/**
 * Throws `validation_error` if the equity at this level is too large to be published. At base risk it
 * never is: a version is not published without its base figures.
 */
export function assertPublishable(
  strategy: Identified & Pick<StrategyData, 'daily'>,
  level: RiskLevel,
): void {
  const factor = riskFactor(level, strategy.base_risk_pct)
  const { values } = strategy.daily
  // The logarithm of 1 + x is x at the most: an equity that cannot grow so far need not be compounded to know.
  const canPass = largestOf(values) * factor * values.length > LOG_LARGEST_PUBLISHED
  if (factor !== 1 && canPass && passesNumbers(values, factor)) throw tooLarge(strategy, level)
}

/** Rounded down, so that a smaller value is certainly below the limit. */
const LOG_LARGEST_PUBLISHED = 704

const tooLarge = ({ id }: Identified, { requested }: RiskLevel): ApiError =>
  new ApiError('validation_error', 'invalid query parameters: risk_pct', {
    details: [
      {
        param: 'risk_pct',
        value: toText(requested),
        reason: `the figures of the strategy ${id} pass what a number can hold at this level; ask for a smaller one`,
      },
    ],
  })
