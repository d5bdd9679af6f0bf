// recompute.test.ts compares whole answers with examples/python/risk.py, which made the values here.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dailyPath } from '#core/figures/account-path.ts'
import { undefinedBecause } from '#core/figures/figure.ts'
import { dayFigures, stressFigures } from '#core/figures/risk-profile.ts'
import { yearAheadFigures } from '#core/figures/year-ahead.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { aReturn } from './arbitraries.ts'
import { constant } from './series.ts'

const drawnFrom = (returns: readonly number[], k: number) =>
  Object.values(yearAheadFigures(dailyFrom('2020-01-15', returns), k))

const wave = Array.from({ length: 500 }, (_, i) => (((i * i * 7919 + i * 104_729) % 401) - 198) / 1e4)

test.each(casesOf<[string, number[], number, string]>`
at base risk -> ${wave} -> ${1} -> -1.945126 12.794788 25.802807 41.576619 66.060831 -17.881563 -13.129083 -10.828503 -9.155762 -7.545907 10.45 0.6 0.0 7.5
at four times the base risk -> ${wave} -> ${4} -> -31.154769 21.261566 88.070045 203.232546 479.250483 -61.016988 -48.346186 -41.239941 -35.096177 -29.218875 75.95 47.3 5.85 16.9
with a ruin -> ${wave.with(200, -0.4)} -> ${2.5} -> -100.0 -100.0 -100.0 54.058666 175.034914 -100.0 -100.0 -100.0 -27.255222 -20.084166 78.9 63.35 52.75 58.2`)(
  'the figures of a year that is drawn %s are those that numpy computes',
  (_, returns, k, expected) => {
    expect(drawnFrom(returns, k)).toEqual(expected.split(' ').map(value => expect.closeTo(Number(value), 6)))
  },
)

test('no year is drawn from 364 days, one of flat days is flat, and one whose equity no number can hold is refused', () => {
  expect(drawnFrom(constant(0, 364), 3)).toEqual(
    constant(0, 14).map(() => undefinedBecause('less_than_one_year')),
  )
  expect(drawnFrom(constant(0, 365), 3)).toEqual(constant(0, 14))
  expect(() => drawnFrom(constant(9, 365), 1)).toThrow('small enough to be published')
})

test('at most 40 bins, whose borders are published as they are compared, hold every day that is not flat, up to a ruin', () => {
  const near = fc.integer({ min: -30, max: 30 }).map(i => i / 1000)
  const some = fc.array(fc.oneof(aReturn, near), { minLength: 1, maxLength: 60 })
  forAll(300, fc.tuple(some, fc.constantFrom(1, 0.3, 1e-3)), ([returns, k]) => {
    const path = dailyPath(dailyFrom('2020-01-01', returns), k)
    const { bins, bin_width_pct, gain_days, loss_days, flat_days, worst } = dayFigures(path)
    const lived = returns.slice(0, (path.ruinDay ?? returns.length) + 1)
    const moved = lived
      .map((value, i) => (i === path.ruinDay ? -100 : 100 * (k * value)))
      .filter(value => value !== 0)
    expect(worst[0]?.return_pct ?? 0).toBe(Math.min(...moved, 0))
    expect(Math.min(...moved)).toBeGreaterThanOrEqual(-100)
    const counted = bins.map(
      ({ from_pct, to_pct }) => moved.filter(value => from_pct <= value && value < to_pct).length,
    )
    expect(bins.map(({ days }) => days)).toEqual(counted)
    const total = counted.reduce((a, b) => a + b, 0)
    expect([total, gain_days + loss_days]).toEqual([moved.length, moved.length])
    expect(flat_days).toBe(lived.length - moved.length)
    for (const bin of bins) expect((bin.to_pct - bin.from_pct) / Number(bin_width_pct)).toBeCloseTo(1)
    expect(bins.length).toBeLessThanOrEqual(40)
  })
})

test('in a period the return of the instrument is known exactly if its prices have every day of the period', () => {
  const named = [{ name: 'a fall', from: '2024-01-03', to: '2024-01-04' }]
  const returnBeside = (...held: number[]) => {
    const benchmark = held.length > 0 ? dailyFrom('2024-01-01', held) : null
    return stressFigures(dailyFrom('2024-01-01', constant(0, 9)), 1, benchmark, named).rows.at(-1)
  }
  expect(returnBeside()).toMatchObject({ days_covered: 2, return_pct: 0, instrument_return_pct: null })
  expect(returnBeside(0, 0, -0.5)?.instrument_return_pct).toBeNull()
  expect(returnBeside(0, 0, -0.5, 0)?.instrument_return_pct).toBe(-50)
})
