// A thread of the night. It gets nothing of our environment, and strategy modules run in it behind a fence.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CorrelationRows, correlateRows } from '#core/figures/correlation.ts'
import type { Series } from '#core/figures/series.ts'
import { computeStrategy, type StrategyOutcome } from './compute-strategy.ts'
import { problemOfThrown } from './describe-thrown.ts'
import { fenceThread } from './fence-thread.ts'
import type { StrategyTask } from './histories.ts'

fenceThread()

/**
 * One strategy. The first beat says that it has begun: from here on the watchdog waits for progress. What is thrown
 * is described here, because not everything that can be thrown can be sent.
 */
export async function strategy(task: StrategyTask): Promise<StrategyOutcome> {
  Atomics.add(task.pulse, 0, 1)
  try {
    const outcome = await computeStrategy(task)
    await nextTurn() // a rejection that nobody handles ends the thread now, while it is known whose it is
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

/** Some rows of a correlation matrix. The series lie on shared memory. */
export const correlation = ({ series, fromRow, toRow }: CorrelationTask): CorrelationRows =>
  correlateRows(series, fromRow, toRow)
