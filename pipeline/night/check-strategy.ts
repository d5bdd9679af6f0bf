import type { VerificationState } from '#core/contract/payloads/strategy.ts'
import type { Problem } from '../book/problem.ts'
import type { Draft } from '../report/data-report.ts'
import { type HistoryTask, makeHistory } from './histories.ts'
import { judgeRecord } from './judge-record.ts'

/** What a check finds out about one strategy. */
export type StrategyCheck = {
  readonly kind: 'checked'
  /** Null if its history cannot be made. */
  readonly history: {
    readonly days: number
    readonly trades: number
    readonly verification: VerificationState
  } | null
  readonly record: Draft | null
  readonly problems: readonly Problem[]
  readonly notices: readonly string[]
}

/** Makes the history of a strategy, as a build does. */
export function checkStrategy(task: HistoryTask): StrategyCheck {
  const outcome = makeHistory(task)
  if ('problems' in outcome)
    return { kind: 'checked', history: null, record: null, problems: outcome.problems, notices: [] }
  const { daily, trades, verification, notices } = outcome.history
  return {
    kind: 'checked',
    history: { days: daily.values.length, trades: trades.length, verification },
    record: judgeRecord(task, outcome.history).record,
    problems: [],
    notices,
  }
}
