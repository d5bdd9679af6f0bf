import { expect, test } from 'vitest'
import { auditLedger } from '#core/replay/audit.ts'
import type { Funding } from '#core/replay/bars.ts'
import { compareMarks, DUAL_MARKS_BOUND, markLedger } from '#core/replay/marks.ts'
import { type Replay, type ReplayInput, replay } from '#core/replay/replay.ts'
import { SAMPLE_COSTS } from '#pipeline/sample/write-sample-book.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { arbitraryInput } from './arbitraries.ts'
import { DAY_0, equityOf, HOUR_MS } from './hand.ts'
import { REFERENCE } from './strategies.ts'
import { syntheticBars } from './synthetic-bars.ts'

const marksOf = (input: ReplayInput, { trades }: Replay) =>
  markLedger({ ...input, id: input.strategy.id, trades, baseRisk: input.strategy.baseRisk })

test('the marks of the engine and those of the ledger agree on any bars, costs, funding and strategy, ruins and outages included', () => {
  forAll(400, arbitraryInput, input => {
    const result = replay(input)
    const marks = marksOf(input, result)
    expect(compareMarks(result.daily, marks.daily)).toMatchObject({ agree: true })
    expect(marks.days_without_bars).toEqual(result.days_without_bars)
    expect(marks.ruined_on !== null).toBe(result.state.dead)
    expect(marks.trades_after_ruin).toBe(0)
  })
})

test('daily returns compound to the equity of the account, and after each closed ledger to the product of 1 + R of its trades', () => {
  forAll(arbitraryInput, input => {
    const result = replay(input)
    const { trades, state } = result
    const level = equityOf(result).at(-1)!
    const last = state.unit * state.equity
    expect(level / (last || 1)).toBeCloseTo(last === 0 ? 0 : 1, 9)
    const product = trades.reduce((grown, { account_return }) => grown * (1 + (account_return ?? 0)), 1)
    if (state.open === null) expect(product / (last || 1)).toBeCloseTo(last === 0 ? 0 : 1, 9)
  })
})

test('a ledger of the engine passes the audit', () => {
  forAll(200, arbitraryInput, input => {
    const { trades } = replay(input)
    expect(auditLedger({ ...input, trades, resultTolerance: 0 })).toEqual([])
  })
})

test.each(REFERENCE)('the marks of engine and ledger agree for %s on synthetic bars', (_, strategy) => {
  const bars = syntheticBars(6_000)
  const input = { strategy, bars, costs: SAMPLE_COSTS, funding: everyEightHours(bars.t) }
  const result = replay(input)
  expect(result.trades.length).toBeGreaterThan(10)
  expect(auditLedger({ ...input, trades: result.trades, resultTolerance: 0 })).toEqual([])
  expect(compareMarks(result.daily, marksOf(input, result).daily)).toMatchObject({ agree: true })
})

// As the exchanges do it, some milliseconds late now and then; the rate goes up and down with the count.
function everyEightHours(times: Float64Array): Funding {
  const count = Math.floor((times.at(-1)! - times[0]!) / (8 * HOUR_MS))
  const t = Float64Array.from(
    { length: count },
    (_, i) => times[0]! + i * 8 * HOUR_MS + (i % 5 === 0 ? 3 : 0),
  )
  return { t, rate: Float64Array.from({ length: count }, (_, i) => ((i % 7) - 2) * 1e-4) }
}

const daily = (...values: number[]) => dailyFrom('2020-01-01', values)

test.each(casesOf<[string, number[], number[], boolean, number | null]>`
that are equal -> ${[0, 0.01, -0.02]} -> ${[0, 0.01, -0.02]} -> ${true} -> ${0}
that differ by less than the bound -> ${[0, 0.01, -0.02]} -> ${[0, 0.01 + DUAL_MARKS_BOUND * 0.9, -0.02]} -> ${true} -> ${1}
that differ by more than the bound -> ${[0, 0.01, -0.02]} -> ${[0, 0.01, -0.02 - DUAL_MARKS_BOUND * 1.1]} -> ${false} -> ${2}
of which the first has a NaN -> ${[0, Number.NaN, 0.5]} -> ${[0, 0, 0]} -> ${false} -> ${1}
of which the second has a NaN -> ${[0, 0, 0]} -> ${[0, Number.NaN, 0.5]} -> ${false} -> ${1}
without a day -> ${[]} -> ${[]} -> ${true} -> ${null}`)(
  'the comparison of two series of marks %s says whether they agree, and the worst day',
  (_, engine, ledger, agree, worst) => {
    const worst_day = worst === null ? null : DAY_0 + worst
    expect(compareMarks(daily(...engine), daily(...ledger))).toMatchObject({ agree, worst_day })
  },
)

test('the comparison of two series of marks refuses series that do not cover the same days', () => {
  expect(() => compareMarks(daily(0), daily(0, 0))).toThrow('from 2020-01-01 to 2020-01-02')
  expect(() => compareMarks(daily(0), { ...daily(0), first: DAY_0 + 1 })).toThrow('must cover the same days')
})
