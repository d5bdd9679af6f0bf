import type { Change, StrategyChanges } from '#core/contract/payloads/changes.ts'

/**
 * Whether published history of the strategy is altered: a value of it, the base risk that all rescaling divides by, or
 * the version of its module, whose rules are others then.
 */
export const isRestated = (changes: StrategyChanges): boolean =>
  hasOtherValues(changes) || baseRiskChange(changes) !== undefined || versionChange(changes) !== undefined

export const hasOtherValues = ({ daily, weekly, trades }: StrategyChanges): boolean =>
  daily.restated_count + weekly.restated_count + trades.restated_count > 0

/** A change of the base risk, which no return shows if the returns were reported. */
export const baseRiskChange = ({ catalogue }: StrategyChanges): Change | undefined =>
  catalogue.find(({ field }) => field === 'base_risk_pct')

/** Another version of the module. A strategy that had none, or has none now, is compared by its values alone. */
export const versionChange = ({ catalogue }: StrategyChanges): Change | undefined =>
  catalogue.find(({ field, old, new: now }) => field === 'module_version' && old !== null && now !== null)

/** Whether the files of a module differ under the same version: its operator must declare that its rules do not. */
export const hasOtherFiles = ({ catalogue }: StrategyChanges): boolean =>
  catalogue.some(({ field }) => field === 'rules_sha256') &&
  !catalogue.some(({ field }) => field === 'module_version')
