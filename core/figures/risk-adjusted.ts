import type { AccountPath } from './account-path.ts'
import { type DailyShape, dailyShape } from './daily-shape.ts'
import { type RiskRatios, riskRatios } from './risk-ratios.ts'
import { unlessRuined } from './ruin.ts'

/** Return against risk, and the shape of the daily returns. `_pct` in percent, losses negative. */
export type RiskAdjustedFigures = RiskRatios & DailyShape

/**
 * The `risk_adjusted` block. All of it is undefined for a ruined account (`ruin`). With fewer than two days whatever is
 * undefined is so for `too_few_points`, but what divides the CAGR (`less_than_one_year`).
 */
export const riskAdjustedFigures = (path: AccountPath): RiskAdjustedFigures =>
  unlessRuined(path, { ...riskRatios(path), ...dailyShape(path) })
