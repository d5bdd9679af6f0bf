import { parseIsoDate } from '#core/calendar.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { CorrelationMatrix } from '#core/figures/correlation.ts'
import { lastDay, type Series } from '#core/figures/series.ts'

/**
 * The last look before publishing: what must hold of every dataset, whatever the book. A failure is ours, not the
 * operator's, and ends the run.
 */
export function verifySnapshot({ strategies, correlation }: Snapshot): void {
  for (const strategy of strategies) verifyStrategy(strategy)
  for (const matrix of Object.values(correlation)) verifyMatrix(matrix, strategies.length)
}

function verifyStrategy(strategy: StrategyData): void {
  const { id, daily, weekly, window, trades, verification_state, figures } = strategy
  const assert = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(`the computed history of ${id} is not fit to be published: ${what}`)
  }
  assert(verification_state !== 'failed', 'its verification failed')
  assert(isAllFinite(daily) && isAllFinite(weekly), 'a return is not finite')
  assert(parseIsoDate(window.from ?? '') === daily.first, 'its window does not begin with its series')
  assert(parseIsoDate(window.to ?? '') === lastDay(daily), 'its window does not end with its series')
  assert(figures.values.trade_count === trades.entry_time.length, 'its trade count is not that of its ledger')
}

const isAllFinite = ({ values }: Series): boolean => values.every(Number.isFinite)

function verifyMatrix({ size, rho }: CorrelationMatrix, strategies: number): void {
  if (size !== strategies || rho.length !== size * size) {
    throw new Error(`the correlation matrix is ${size} wide and there are ${strategies} strategies`)
  }
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      if (!Object.is(rho[i * size + j], rho[j * size + i])) {
        throw new Error(`the correlation matrix is not symmetric in cell ${i}, ${j}`)
      }
    }
  }
}
