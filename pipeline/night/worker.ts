// A thread of a build or a check. Strategy modules do not run here: see `pipeline/modules/`.
import { type CorrelationRows, correlateRows } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { messageOf } from '#storage/error-code.ts'
import { sourceFile } from '../book/book.ts'
import { type ComputedStrategy, computeStrategy, judgeRecord, type StrategyTask } from './compute-strategy.ts'
import { type HistoryTask, makeHistory, type Refused } from './histories.ts'

export const strategy = (task: StrategyTask): ComputedStrategy | Refused => run(task, computeStrategy)

export const check = (task: HistoryTask): StrategyCheck | Refused => run(task, checkStrategy)

export type StrategyCheck = Exclude<ReturnType<typeof checkStrategy>, Refused>

function checkStrategy(task: HistoryTask) {
  const made = makeHistory(task)
  if ('problems' in made) return made
  const { daily, trades, verification, notices } = made
  return {
    kind: 'checked' as const,
    history: { days: daily.values.length, trades: trades.length, verification },
    record: judgeRecord(task, made).record,
    notices,
  }
}

function run<Task extends HistoryTask, Outcome>(
  task: Task,
  work: (task: Task) => Outcome,
): Outcome | Refused {
  try {
    return work(task)
  } catch (error) {
    return { kind: 'refused', problems: [{ file: sourceFile(task.entry), message: messageOf(error) }] }
  }
}

/** Some rows of a correlation matrix. The series are in shared memory. */
export const correlation = ({ series, fromRow, toRow }: CorrelationTask): CorrelationRows =>
  correlateRows(series, fromRow, toRow)

type CorrelationTask = Readonly<Record<'fromRow' | 'toRow', number>> & { readonly series: readonly Series[] }
