import { expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { fundDueDiligence } from '#core/contract/payloads/stats.ts'
import { correlationMatrix } from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import type { Undefined } from '#core/figures/figure.ts'
import { undefinedBecause } from '#core/figures/figure.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import type { fundDueDiligence as fundFigures } from '#core/figures/strategy-figures.ts'
import { constant, dailyFrom, figuresFrom, figuresOf, trade } from './series.ts'

const GROUPS = [
  'trades',
  'risk_adjusted',
  'drawdowns',
  'monthly',
  'annual',
  'exposure',
  'costs',
  'excursions',
  'replays',
] as const

/** The type of a block's `values`: every `Figure` a number or null. */
type Split<Block> = Block extends Undefined
  ? null
  : Block extends object
    ? { -readonly [Field in keyof Block]: Split<Block[Field]> }
    : Block

test('an undefined figure is split into null and its reason under its path', () => {
  const block = {
    a: 1,
    group: { b: undefinedBecause('ruin'), deeper: { c: undefinedBecause('no_wins'), d: 2 } },
  }
  expect(splitFigures(block)).toEqual({
    values: { a: 1, group: { b: null, deeper: { c: null, d: 2 } } },
    undefined: { 'group/b': 'ruin', 'group/deeper/c': 'no_wins' },
  })
})

test('tables, texts, flags and plain nulls are split unchanged', () => {
  const block = {
    table: [{ year: 2024, sharpe: null, partial: true }],
    ruin_t: null,
    start: '2024-01-01',
    ruined: false,
  }
  expect(splitFigures(block)).toEqual({ values: block, undefined: {} })
})

test('a figure of zero has no sign', () => {
  const { values } = splitFigures({ a: -0, table: [{ b: -0 }] })
  expect(Object.is(values.a, 0)).toBe(true)
  expect(JSON.stringify(values)).toBe('{"a":0,"table":[{"b":0}]}')
  expect(values).toEqual({ a: 0, table: [{ b: 0 }] })
})

test('a figure that is not finite is refused by its path, also in a table', () => {
  expect(() => splitFigures({ group: { a: Number.NaN } })).toThrow(/figure group\/a must be a finite number/)
  expect(() => splitFigures({ table: [{ a: 1 }, { a: Infinity }] })).toThrow(/table\/1\/a .* got Infinity/)
})

test.each([
  [
    'with trades',
    figuresOf(dailyFrom('2020-01-01', constant(0.001, 900)), 1, [trade('2020-02-01T00:00:00Z', 9, 0.01)]),
  ],
  ['that is ruined', figuresFrom('2020-01-01', [0.1, -1, 0.1])],
  ['of one day', figuresFrom('2020-01-01', [0.1])],
])('the block of a series %s has exactly the fields that the wire describes', (_, figures) => {
  const { values } = splitFigures(figures)
  const parsed = fundDueDiligence().parse(values.fund_dd)
  for (const group of GROUPS) {
    const documented = Object.keys(fundDueDiligence().shape[group].shape)
    expect(Object.keys(parsed[group]).sort(), group).toEqual(documented.sort())
  }
})

test('the computed block has the types that the wire describes', () => {
  expectTypeOf<Split<ReturnType<typeof fundFigures>>>().toExtend<z.infer<typeof fundDueDiligence>>()
})

test('diversification names the pairs by their strategies', () => {
  const wave = (phase: number) =>
    dailyFrom(
      '2020-01-01',
      Array.from({ length: 60 }, (_, i) => Math.sin(i * phase)),
    )
  const series = [wave(1), wave(1.01), wave(2)]
  const { values } = splitFigures(diversification(correlationMatrix(series), ['oak', 'elm', 'ash']))
  expect(values.most_correlated).toMatchObject({ pair: ['oak', 'elm'], overlap: 60 })
  expect(values.n_strategies_used).toBe(3)
  const alone = splitFigures(diversification(correlationMatrix(series.slice(0, 1)), ['oak']))
  expect(alone.values).toMatchObject({ mean_correlation: null, most_correlated: null, effective_bets: 1 })
  expect(alone.undefined.most_correlated).toBe('too_few_points')
})
