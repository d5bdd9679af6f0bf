import { type FundDueDiligence, fundDueDiligence, type StrategyInput } from './fund-dd.ts'
import { type PerformanceFigures, performanceFigures } from './performance.ts'
import { type TradeFigures, tradeFigures } from './trade-figures.ts'

/** Everything that is computed of one strategy. */
export type StrategyFigures = PerformanceFigures & TradeFigures & { readonly fund_dd: FundDueDiligence }

/** All statistics of a strategy, or of a book (without trades), at `k` times its base risk. */
export const strategyFigures = (input: StrategyInput): StrategyFigures => ({
  ...performanceFigures(input.daily, input.weekly, input.k ?? 1),
  ...tradeFigures(input.trades),
  fund_dd: fundDueDiligence(input),
})
