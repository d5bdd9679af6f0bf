import type { Changes } from '#core/contract/payloads/changes.ts'
import { baseRiskChange, isRestated, versionChange } from './restated.ts'

/** What a version changed of what was published of a strategy before it. */
export type Restatement = {
  readonly id: string
  /** Published values that differ, came in between, or are gone. */
  readonly daily: number
  readonly weekly: number
  readonly trades: number
  /** Whether its base risk, or the version of its module, is another. */
  readonly base_risk: boolean
  readonly module_version: boolean
}

/** A version, and what it did to the one before it. */
export type Ancestor = {
  readonly version: string
  /** When it was entered, if its name is more than 36 hours older; null if the name is the truth, or not known better. */
  readonly entered: string | null
  /** Null for the first. */
  readonly previous: string | null
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly restated: readonly Restatement[]
  /** Figures that it defines otherwise. */
  readonly definitions: readonly string[]
  /** Versions that could no longer be read, so that what changed is not known. */
  readonly not_compared: readonly string[]
}

/** What a version did, in short: `changes.json` of the version lists every value. */
export const toAncestor = (changes: Changes, entered: string | null): Ancestor => ({
  version: changes.version,
  entered,
  previous: changes.previous,
  added: changes.added,
  removed: changes.removed,
  restated: changes.strategies.filter(isRestated).map(strategy => ({
    id: strategy.id,
    daily: strategy.daily.restated_count,
    weekly: strategy.weekly.restated_count,
    trades: strategy.trades.restated_count,
    base_risk: baseRiskChange(strategy) !== undefined,
    module_version: versionChange(strategy) !== undefined,
  })),
  definitions: (changes.definitions ?? []).map(({ figure }) => figure),
  not_compared: changes.not_compared ?? [],
})
