// A thread of the night. It gets an empty environment; what a strategy module prints goes to stderr, because stdout
// belongs to the command's result.
import { Console } from 'node:console'
import { type CorrelationRows, correlateRows } from '#core/numerics/correlation-rows.ts'
import type { Series } from '#core/numerics/series.ts'
import { computeStrategy } from './compute-strategy.ts'
import type { StrategyOutcome, StrategyTask } from './task.ts'

globalThis.console = new Console(process.stderr)

/** One strategy. The first beat says that it has begun: from here on the watchdog waits for progress. */
export function strategy(task: StrategyTask): Promise<StrategyOutcome> {
  Atomics.add(task.pulse, 0, 1)
  return computeStrategy(task)
}

export type CorrelationTask = {
  readonly series: readonly Series[]
  readonly fromRow: number
  readonly toRow: number
}

/** Some rows of a correlation matrix. The series lie on shared memory. */
export const correlation = ({ series, fromRow, toRow }: CorrelationTask): CorrelationRows =>
  correlateRows(series, fromRow, toRow)
