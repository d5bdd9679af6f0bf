import { type Figure, undefinedBecause } from './figure.ts'
import { mean } from './moments.ts'
import { quantile } from './quantile.ts'

/** How far the price went against a closed trade and for it, in R: `adverse <= 0 <= favourable`. */
export type Excursion = { readonly adverse: number; readonly favourable: number }

/** With fewer trades a distribution would almost be a list of them. */
const FEWEST_TRADES = 20

/**
 * The `excursions` block: mean and quantiles (type 7) of the maximum adverse and the maximum favourable excursion of the
 * closed trades, in R. A single trade is never published. Undefined below 20 trades (`too_few_points`), and if they
 * cannot be followed on bars (`unknown_leverage`). Source: Sweeney, Maximum Adverse Excursion, 1997.
 */
export const excursionFigures = (excursions: readonly Excursion[] | null) => ({
  mae_r: distribution(excursions?.map(({ adverse }) => adverse)),
  mfe_r: distribution(excursions?.map(({ favourable }) => favourable)),
})

function distribution(values: readonly number[] | undefined) {
  const sorted = Float64Array.from(values ?? []).sort()
  const of = (statistic: () => number): Figure => {
    if (values === undefined) return undefinedBecause('unknown_leverage')
    return values.length < FEWEST_TRADES ? undefinedBecause('too_few_points') : statistic()
  }
  return {
    mean: of(() => mean(sorted)),
    p5: of(() => quantile(sorted, 0.05)),
    p25: of(() => quantile(sorted, 0.25)),
    p50: of(() => quantile(sorted, 0.5)),
    p75: of(() => quantile(sorted, 0.75)),
    p95: of(() => quantile(sorted, 0.95)),
  }
}
