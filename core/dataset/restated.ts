import { parseIsoDate, parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import type { Change, FilledGap, StrategyChanges } from '#core/contract/payloads/changes.ts'

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

/**
 * Whether filled gaps explain everything that a version alters of a strategy: nothing before the first day of a gap that
 * was filled in its bars, and neither its base risk nor the version of its module.
 */
export function isExplained(strategy: StrategyChanges, gaps: readonly FilledGap[]): boolean {
  const days = gaps
    .filter(gap => gap.strategies.includes(strategy.id))
    .map(({ from }) => toEpochDay(parseIsoInstant(from)!))
  const isOther = baseRiskChange(strategy) !== undefined || versionChange(strategy) !== undefined
  return !isOther && firstAltered(strategy) >= Math.min(...days)
}

/** The first altered day; a week is altered as late as its Sunday, because its days are listed too. */
const firstAltered = ({ daily, weekly, trades }: StrategyChanges): number =>
  Math.min(
    ...[...daily.restated, ...weekly.restated].map(({ t }) => parseIsoDate(t)!),
    ...trades.restated.map(({ exit_time }) => toEpochDay(exit_time)),
  )
