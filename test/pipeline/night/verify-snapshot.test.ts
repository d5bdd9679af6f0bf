import { expect, test } from 'vitest'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { verifySnapshot } from '#pipeline/night/compute-snapshot.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { casesOf } from '#test/support/cases-of.ts'

const sound = (): Snapshot =>
  handSnapshot([
    { id: 'oak', returns: [0.01, -0.02, 0.03, 0, 0.01, 0.02, -0.01, 0.01] },
    { id: 'elm', returns: [0.02, 0.01, -0.03, 0, 0.02, 0.01, 0.01, -0.02] },
  ])

test('a dataset without a fault is fit to be published', () => {
  expect(() => verifySnapshot(sound())).not.toThrow()
})

const NOT_FINITE = 'a return is not finite'

test.each(casesOf<[string, string, (each: StrategyData) => object]>`
a verification failed -> its verification failed -> ${() => ({ verification_state: 'failed' })}
a return is no number -> ${NOT_FINITE} -> ${({ daily }: StrategyData) => ({ daily: { ...daily, values: daily.values.with(3, Number.NaN) } })}
a weekly return is infinite -> ${NOT_FINITE} -> ${({ weekly }: StrategyData) => ({ weekly: { ...weekly, values: Float64Array.of(Infinity) } })}
a window begins elsewhere -> its window does not begin with its series -> ${({ window }: StrategyData) => ({ window: { ...window, from: '2023-12-31' } })}
a window ends elsewhere -> its window does not end with its series -> ${({ window }: StrategyData) => ({ window: { ...window, to: null } })}
trades are missing -> its trade count is not that of its ledger -> ${({ trades }: StrategyData) => ({ trades: { ...trades, entry_time: Float64Array.of(1) } })}`)(
  'a dataset is not fit to be published if %s',
  (_, why, change) => {
    const snapshot = sound()
    const [oak, ...others] = snapshot.strategies
    const changed = { ...snapshot, strategies: [{ ...oak!, ...change(oak!) }, ...others] }
    expect(() => verifySnapshot(changed)).toThrow(
      `the computed history of oak is not fit to be published: ${why}`,
    )
  },
)

test.each(['daily', 'weekly'] as const)(
  'a dataset is not fit to be published if the %s matrix is not symmetric',
  period => {
    const snapshot = sound()
    const matrix = snapshot.correlation[period]
    const rho = matrix.rho.with(1, 0.123)
    const crooked = { ...snapshot, correlation: { ...snapshot.correlation, [period]: { ...matrix, rho } } }
    expect(() => verifySnapshot(crooked)).toThrow('not symmetric in cell 1, 0')
  },
)

test('a dataset is not fit to be published if the matrix has another size than the book', () => {
  const snapshot = sound()
  expect(() => verifySnapshot({ ...snapshot, strategies: snapshot.strategies.slice(0, 1) })).toThrow(
    'the correlation matrix is 2 wide and there are 1 strategies',
  )
})
