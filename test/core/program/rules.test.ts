import { expect, test } from 'vitest'
import { appetite, dipAppetite, trailingMean } from '#core/program/appetite.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import { simulate } from '#core/program/simulate.ts'
import { ALWAYS, barsOf, DIPS, MAYER, planOf } from './programs.ts'

type DipRule = Extract<typeof DIPS, { kind: 'dips' }>

const outlook = (closes: readonly number[], first = 0, pausedAt: readonly number[] = []) => ({
  closes: Float64Array.from(closes),
  first,
  bars_per_day: 1,
  paused: Uint8Array.from(closes.slice(first), (_, bar) => (pausedAt.includes(bar) ? 1 : 0)),
})

const dips = (...of: Parameters<typeof outlook>) => [...dipAppetite(DIPS as DipRule, outlook(...of))]

test('the dips rule spends once at the first touch of each step, the touch itself included', () => {
  expect(dips([100, 80.01, 80, 79, 66, 65, 50, 36, 35, 10])).toEqual([0, 0, 0.25, 0, 0, 0.5, 0.75, 0, 1, 0])
})

test('the dips rule lets the deepest step decide that a bar touches', () => {
  expect(dips([100, 45, 70, 45, 30])).toEqual([0, 0.75, 0, 0, 1])
})

test('the dips rule resets its steps at a new high, not before it, and not at the same high', () => {
  expect(dips([100, 80, 100, 80, 100.5, 80, 100.5])).toEqual([0, 0.25, 0, 0, 0, 0.25, 0])
})

test('the dips rule includes the warm-up in the high, with all steps open when the window begins', () => {
  expect(dips([100, 60, 90, 60, 78], 3)).toEqual([0.5, 0])
})

test('the dips rule counts no step as touched in a pause, and treats the first bar after it like any other', () => {
  expect(dips([100, 60, 60, 60], 0, [1, 2])).toEqual([0, 0, 0, 0.5])
  expect(dips([100, 60, 90, 60], 0, [1])).toEqual([0, 0, 0, 0.5])
})

test('the dips rule raises its high in a pause', () => {
  expect(dips([100, 80, 200, 150, 160], 0, [2])).toEqual([0, 0.25, 0, 0.25, 0])
})

const rule = { ...MAYER, mean_days: 2 } as typeof MAYER
const wants = (closes: readonly number[], first = 0) => [...appetite(rule, outlook(closes, first)).fraction]

test('the mayer rule spends by the first band that the multiple is strictly below', () => {
  // The multiples: 2/3, 0.8, 1, 1.2 and 1.01.
  expect(wants([400, 200])).toEqual([0, 1])
  expect(wants([600, 400])).toEqual([0, 0.5])
  expect(wants([400, 400])).toEqual([0, 0.25])
  expect(wants([400, 600])).toEqual([0, 0])
  expect(wants([396, 404])).toEqual([0, 0.25])
})

test('the mayer rule keeps its cash while there are too few bars for the mean, warm-up included', () => {
  expect(wants([300, 100])).toEqual([0, 1])
  expect(wants([300, 100], 1)).toEqual([1])
})

test('the mayer rule buys only on contribution bars, the dips rule on every bar', () => {
  expect(appetite(rule, outlook([1])).on_contributions).toBe(true)
  expect(appetite(ALWAYS, outlook([1])).on_contributions).toBe(true)
  expect(appetite(DIPS, outlook([1])).on_contributions).toBe(false)
})

test('the trailing mean of equal prices is exactly that price, whatever the history before', () => {
  const values = Float64Array.from({ length: 5000 }, (_, i) => (i < 4000 ? 10 ** (i % 9) + 0.1 : 1234.56))
  expect(
    trailingMean(values, 200)
      .subarray(4200)
      .every(mean => Math.abs(mean - 1234.56) < 1e-12),
  ).toBe(true)
})

test('the trailing mean does not exist before its length', () => {
  expect([...trailingMean(Float64Array.of(1, 2, 6), 2)]).toEqual([Number.NaN, 1.5, 4])
})

const spends = (weight: number) =>
  simulate(
    prepareProgram(
      planOf(10, {
        tiers: [
          { tier: 'core', weight: 1 - weight, rule: ALWAYS },
          { tier: 'cyclical', weight, rule: ALWAYS },
        ],
      }),
      barsOf([4, 5, 6, 7]),
    ),
    1,
  )
    .deployments.filter(({ tier }) => tier === 'cyclical')
    .map(({ bar, spend }) => [bar, spend])

test('a spend below a millionth of the equity is not made, and its cash is spent once it suffices', () => {
  const share = 6e-7
  expect(spends(share * 10)).toEqual([
    [1, expect.closeTo(2 * share, 15)],
    [3, expect.closeTo(2 * share, 15)],
  ])
})

test('a spend of a millionth of the equity and more is made at once', () => {
  expect(spends(1.01e-5).map(([bar]) => bar)).toEqual([0, 1, 2, 3])
})
