// The money-weighted return: closed forms where there are any, and the equation that defines it everywhere.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { moneyWeightedReturn } from '#core/program/money-weighted.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramData } from '#core/program/program.ts'
import { simulate } from '#core/program/simulate.ts'
import { forAll } from '#test/support/for-all.ts'
import { arbitraryProgram, barsOf, CORE_ONLY, planOf } from './programs.ts'

const rateOf = (data: ProgramData) =>
  moneyWeightedReturn(data, simulate(data, data.plan.contribution_cadence_bars).deployments)

/** A program that buys once, at the first close, and again after `cadence` bars. */
const bought = (closes: readonly number[], cadence: number): ProgramData => {
  const plan = planOf(closes.length, {
    tiers: CORE_ONLY,
    contribution_cadence_bars: cadence,
    costs: { fee_bps: 0, slippage_bps: 0 },
  })
  return prepareProgram(plan, barsOf(closes))
}

const flat = (days: number, price: number, last: number): number[] => [
  ...new Array<number>(days).fill(price),
  last,
]

test('the money-weighted return of one purchase is the growth of the price, as a rate a year', () => {
  expect(rateOf(bought(flat(365, 100, 130), 1000))).toBeCloseTo(0.3, 12)
  expect(rateOf(bought(flat(73, 100, 110), 1000))).toBeCloseTo(1.1 ** 5 - 1, 12)
})

test('the money-weighted return of two purchases, a year and half a year old, solves its quadratic equation', () => {
  // x + x^2 = 2.6 with x = (1 + g)^(1 / 2): 200 days and 400 days, so that g = x^(365 / 200) - 1.
  const closes = flat(400, 100, 130)
  const x = (-1 + Math.sqrt(1 + 4 * 2.6)) / 2
  const twice = bought(closes, 200)
  const [first, second] = simulate(twice, 200).deployments
  expect([first?.bar, second?.bar]).toEqual([0, 200])
  expect(moneyWeightedReturn(twice, [first!, second!])).toBeCloseTo(x ** (365 / 200) - 1, 12)
})

test('the money-weighted return is null before a purchase, in its first month, and if the price is nothing beside it', () => {
  expect(moneyWeightedReturn(bought(flat(60, 100, 100), 1000), [])).toBeNull()
  expect(rateOf(bought(flat(29, 100, 130), 1000))).toBeNull()
  expect(rateOf(bought(flat(30, 100, 130), 1000))).not.toBeNull()
  expect(rateOf(bought(flat(30, 1e30, 1), 1000))).toBeNull()
})

test('the money-weighted return makes all purchases grow to the value of the BTC', () => {
  forAll(500, arbitraryProgram, ({ plan, bars: market }) => {
    const data = prepareProgram(plan, market)
    const { deployments } = simulate(data, data.plan.contribution_cadence_bars)
    const rate = moneyWeightedReturn(data, deployments)
    if (rate === null || rate < -0.9999) return // nearer to a total loss a rate has too few digits
    const { bars, first, mark } = data
    const grown = deployments.reduce((sum, { bar, spend }) => {
      const days = (mark!.at - bars.t[first + bar]! - bars.timeframeMs) / DAY_MS
      return sum + spend * (1 + rate) ** (days / 365)
    }, 0)
    const value = deployments.reduce((sum, { btc }) => sum + btc * mark!.price, 0)
    expect(grown / value).toBeCloseTo(1, 9)
  })
})
