import { expect, test } from 'vitest'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import { verifyStrategy } from '#pipeline/night/compute-snapshot.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { casesOf } from '#test/support/cases-of.ts'

const [oak] = handSnapshot([
  { id: 'oak', returns: [0.01, -0.02, 0.03, 0, 0.01, 0.02, -0.01, 0.01] },
]).strategies

test('a history without a fault is fit to be published', () => {
  expect(() => verifyStrategy(oak!)).not.toThrow()
})

const NOT_FINITE = 'a return is not finite'

test.each(casesOf<[string, string, (each: StrategyData) => object]>`
a verification failed -> its verification failed -> ${() => ({ verification_state: 'failed' })}
a return is no number -> ${NOT_FINITE} -> ${({ daily }: StrategyData) => ({ daily: { ...daily, values: daily.values.with(3, Number.NaN) } })}
a weekly return is infinite -> ${NOT_FINITE} -> ${({ weekly }: StrategyData) => ({ weekly: { ...weekly, values: Float64Array.of(Infinity) } })}
a window begins elsewhere -> its window does not begin with its series -> ${({ window }: StrategyData) => ({ window: { ...window, from: '2023-12-31' } })}
a window ends elsewhere -> its window does not end with its series -> ${({ window }: StrategyData) => ({ window: { ...window, to: null } })}
trades are missing -> its trade count is not that of its ledger -> ${({ trades }: StrategyData) => ({ trades: { ...trades, entry_time: Float64Array.of(1) } })}`)(
  'a history is not fit to be published if %s',
  (_, why, change) => {
    expect(() => verifyStrategy({ ...oak!, ...change(oak!) })).toThrow(
      `the computed history of oak is not fit to be published: ${why}`,
    )
  },
)
