import { parseIsoDate, parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import type { FilledGap, StrategyChanges } from '#core/contract/payloads/changes.ts'
import { baseRiskChange, versionChange } from './restated.ts'
import type { Snapshot } from './snapshot.ts'

/** The gaps that the first dataset published as accepted and the second has bars for. */
export const filledGaps = (before: Snapshot, after: Snapshot): FilledGap[] =>
  before.dataset.accepted_findings
    .filter(old => old.finding === 'gap')
    .filter(
      old =>
        !after.dataset.accepted_findings.some(
          now => now.finding === 'gap' && now.of === old.of && now.from === old.from && now.to === old.to,
        ),
    )
    .map(({ of, from, to, reason, strategies }) => ({ of, from, to, reason, strategies: [...strategies] }))

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
