import { describe, expect, test } from 'vitest'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { verifySnapshot } from '#pipeline/night/compute-snapshot.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const sound = (): Snapshot =>
  handSnapshot([
    { id: 'oak', returns: [0.01, -0.02, 0.03, 0, 0.01, 0.02, -0.01, 0.01] },
    { id: 'elm', returns: [0.02, 0.01, -0.03, 0, 0.02, 0.01, 0.01, -0.02] },
  ])

/** The sound dataset with something changed about its first strategy. */
function changed(change: (oak: StrategyData) => Partial<StrategyData>): Snapshot {
  const snapshot = sound()
  const [oak, ...others] = snapshot.strategies
  return { ...snapshot, strategies: [{ ...oak!, ...change(oak!) }, ...others] }
}

describe('a dataset is not fit to be published', () => {
  test('unless everything holds', () => {
    expect(() => verifySnapshot(sound())).not.toThrow()
  })

  test.each<[string, Snapshot, string]>([
    [
      'when a verification failed',
      changed(() => ({ verification_state: 'failed' })),
      'its verification failed',
    ],
    [
      'when a return is no number',
      changed(({ daily }) => ({ daily: { ...daily, values: daily.values.with(3, Number.NaN) } })),
      'a return is not finite',
    ],
    [
      'when a weekly return is infinite',
      changed(({ weekly }) => ({ weekly: { ...weekly, values: Float64Array.of(Infinity) } })),
      'a return is not finite',
    ],
    [
      'when a window begins elsewhere',
      changed(({ window }) => ({ window: { ...window, from: '2023-12-31' } })),
      'its window does not begin with its series',
    ],
    [
      'when a window ends elsewhere',
      changed(({ window }) => ({ window: { ...window, to: null } })),
      'its window does not end with its series',
    ],
    [
      'when trades are missing',
      changed(({ trades }) => ({ trades: { ...trades, entry_time: Float64Array.of(1) } })),
      'its trade count is not that of its ledger',
    ],
  ])('%s', (_when, snapshot, why) => {
    expect(() => verifySnapshot(snapshot)).toThrow(
      `the computed history of oak is not fit to be published: ${why}`,
    )
  })

  test.each(['daily', 'weekly'] as const)('when the %s matrix is not symmetric', period => {
    const snapshot = sound()
    const matrix = snapshot.correlation[period]
    const rho = matrix.rho.with(1, 0.123)
    const crooked = { ...snapshot, correlation: { ...snapshot.correlation, [period]: { ...matrix, rho } } }
    expect(() => verifySnapshot(crooked)).toThrow('not symmetric in cell 1, 0')
  })

  test('when the matrix has another size than the book', () => {
    const snapshot = sound()
    expect(() => verifySnapshot({ ...snapshot, strategies: snapshot.strategies.slice(0, 1) })).toThrow(
      'the correlation matrix is 2 wide and there are 1 strategies',
    )
  })
})
