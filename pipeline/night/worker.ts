// A thread of a build or a check. It has none of our environment; strategy modules run behind a fence.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CorrelationRows, correlateRows } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { checkStrategy, type StrategyCheck } from './check-strategy.ts'
import { type ComputedStrategy, computeStrategy, type StrategyTask } from './compute-strategy.ts'
import { problemOfThrown } from './describe-thrown.ts'
import { fenceThread } from './fence-thread.ts'
import type { HistoryTask, Refused } from './histories.ts'

fenceThread()

/** One strategy, for a build. */
export const strategy = (task: StrategyTask): Promise<ComputedStrategy | Refused> =>
  run(task, computeStrategy)

/** One strategy, for a check. */
export const check = (task: HistoryTask): Promise<StrategyCheck | Refused> => run(task, checkStrategy)

/**
 * The first beat says that the task has begun: from here on the watchdog expects progress. What is thrown is
 * described here, because not everything that can be thrown can be sent.
 */
async function run<Task extends HistoryTask, Outcome>(
  task: Task,
  work: (task: Task) => Promise<Outcome>,
): Promise<Outcome | Refused> {
  Atomics.add(task.pulse, 0, 1)
  try {
    const outcome = await work(task)
    await nextTurn() // an unhandled rejection ends the thread now, while its module is known
    return outcome
  } catch (error) {
    return { kind: 'refused', problems: [problemOfThrown(task.entry, error)] }
  }
}

export type CorrelationTask = {
  readonly series: readonly Series[]
  readonly fromRow: number
  readonly toRow: number
}

/** Some rows of a correlation matrix. The series are in shared memory. */
export const correlation = ({ series, fromRow, toRow }: CorrelationTask): CorrelationRows =>
  correlateRows(series, fromRow, toRow)
