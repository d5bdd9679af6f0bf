import type { Change, StrategyChanges } from '#core/contract/payloads/changes.ts'

/** Whether published history of the strategy is altered: a value of it, or the base risk that all rescaling divides by. */
export const isRestated = (changes: StrategyChanges): boolean =>
  changes.daily.restated_count + changes.weekly.restated_count + changes.trades.restated_count > 0 ||
  baseRiskChange(changes) !== undefined

/** A change of the base risk, which no return shows if the returns were reported. */
export const baseRiskChange = ({ catalogue }: StrategyChanges): Change | undefined =>
  catalogue.find(({ field }) => field === 'base_risk_pct')
