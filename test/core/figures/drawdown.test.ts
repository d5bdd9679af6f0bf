import { expect, test } from 'vitest'
import { dailyPath, equityCurve, equityFromBaseline } from '#core/figures/account-path.ts'
import {
  daysUnderwater,
  deepestEpisodes,
  drawdownEpisodes,
  drawdowns,
  maxDrawdown,
} from '#core/figures/drawdown.ts'
import { undefinedBecause } from '#core/figures/figure.ts'
import { longestRun } from '#core/figures/moments.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { returnsOf } from './arbitraries.ts'
import { constant, figuresFrom } from './series.ts'

test.each([
  ['begins at 1 plus the first return, exactly', [0.1, -0.5, 0], [1.1, 0.55, 0.55]],
  ['stays 0 after a day of -100 %', [-1, 5], [0, 0]],
  ['stays 0 after a day of less', [0.5, -1.5, -3, 1], [1.5, 0, 0, 0]],
  ['stays 0 if two such days would multiply to a gain', [-3, -1], [0, 0]],
])('the levels of an equity curve are what a hand computes: it %s', (_, returns, levels) => {
  expect([...equityCurve(Float64Array.from(returns))]).toEqual(levels)
})

test.each([
  ['a return that is no number, by its position', [0.1, Number.NaN], /return 1 .* got NaN/],
  ['a return that is endless, which does not count as ruin', [-Infinity], /return 0 /],
  ['a level beyond the range of a double', constant(10, 400), /leave the equity finite/],
])('the equity curve of some returns is refused for %s', (_, returns, sentence) => {
  expect(() => equityCurve(Float64Array.from(returns))).toThrow(sentence)
})

test.each([0, -1, Number.NaN, Infinity])('the path of an account is refused at %f times its base risk', k => {
  expect(() => dailyPath(dailyFrom('2024-01-01', [0.1]), k)).toThrow('must be a positive finite number')
})

const depthsOf = (...returns: number[]): Float64Array =>
  drawdowns(equityFromBaseline(Float64Array.from(returns)))

test('a drawdown is 0 exactly when the equity is not below its earlier peak, the baseline included, by more than rounding', () => {
  forAll(returnsOf(1, 200), returns => {
    const curve = equityFromBaseline(returns)
    drawdowns(curve).forEach((depth, day) => {
      const peak = Math.max(...curve.subarray(0, day + 1))
      expect(depth < 0).toBe(curve[day + 1]! < peak * (1 - 1e-12))
      expect(depth).toBeGreaterThanOrEqual(-1)
      if (depth < 0) expect(depth).toBeCloseTo(curve[day + 1]! / peak - 1, 14)
    })
  })
})

test('the rounding error after a recovery is not a drawdown', () => {
  const depths = depthsOf(0.1, -0.1, 1 / 0.9 - 1, 1e-14, -1e-14)
  expect(depths[2]).toBe(0)
  expect(daysUnderwater(depths)).toBe(1)
})

const NONE = undefinedBecause('no_drawdown')

test.each(casesOf<[string, number[], object]>`
leave out a dip of one day -> ${[-0.1, 0.5, -0.2, -0.5, 2, -0.01, 0.5]} -> ${{ count: 3, lasting_count: 1, average_underwater_days: 2, average_depth_pct: -60 }}
are undefined if all dips are of one day, the open one too -> ${[-0.1, 0.5, -0.1]} -> ${{ count: 2, lasting_count: 0, average_underwater_days: NONE, average_depth_pct: NONE }}
have an open drawdown from its second day on -> ${[0.1, -0.1, -0.1]} -> ${{ lasting_count: 1, average_underwater_days: 2 }}`)(
  'the averages over drawdowns %s',
  (_, returns, expected) => {
    expect(figuresFrom('2024-01-01', returns).fund_dd.drawdowns).toMatchObject(near(expected) as object)
  },
)

test('the trough of a drawdown is the first of equal depths', () => {
  const [only] = drawdownEpisodes(Float64Array.of(-0.1, -0.2, -0.2, 0))
  expect(only).toMatchObject({ trough: 1, recovery: 3 })
})

test('the drawdowns together are all days under water, the longest is the longest run, and one has the deepest day', () => {
  forAll(returnsOf(0, 200), returns => {
    const depths = drawdowns(equityFromBaseline(returns))
    const episodes = drawdownEpisodes(depths)
    const lengths = episodes.map(({ underwaterDays }) => underwaterDays)
    expect(lengths.reduce((sum, days) => sum + days, 0)).toBe(daysUnderwater(depths))
    expect(Math.max(0, ...lengths)).toBe(longestRun(depths, -1))
    expect(deepestEpisodes(episodes, 1)[0]?.depth ?? 0).toBe(maxDrawdown(depths))
    expect(episodes.slice(0, -1).every(({ recovery }) => recovery !== null)).toBe(true)
  })
})

test('the deepest drawdowns come first, equal ones by date, at most the given number', () => {
  const depths = Float64Array.of(-0.1, 0, -0.3, 0, -0.1, 0, -0.2)
  expect(deepestEpisodes(drawdownEpisodes(depths), 3).map(({ peak }) => peak)).toEqual([1, 5, -1])
})
