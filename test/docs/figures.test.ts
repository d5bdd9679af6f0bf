// `docs/figures.md` is the text of the code, and what it says of nulls is what the computation does.
// Where a change is meant, rewrite it: UPDATE_GOLDEN=1 vitest run figures
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UNDEFINED_REASONS } from '#core/figures/figure.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { dailyFrom, figuresOf } from '../core/figures/series.ts'
import { DAYS, FIRST_DAYS, LEDGERS, RETURNS } from './figure-corpus.ts'
import { type DescribedFigure, type FigureGroup, statsGroups, summaryGroups } from './figure-list.ts'
import { renderFiguresPage } from './figures-page.ts'

const PAGE = join(import.meta.dirname, '../../docs/figures.md')

const figuresIn = (groups: readonly FigureGroup[]): DescribedFigure[] =>
  groups.flatMap(({ figures }) => figures)

/** Where the wire has a number instead of the null, and the reason beside it all the same. */
const NUMBER_INSTEAD = new Set(['win_rate_pct'])

/** Paths that are no statistics: rows and what the series itself is. */
const NO_STATISTICS = new Set([
  'start',
  'end',
  'ruined',
  'ruin_t',
  'fund_dd/drawdowns/worst',
  'fund_dd/monthly/table',
  'fund_dd/annual/table',
])

/** Every statistic that a strategy can have, with the reasons for which the corpus makes it null. */
function observed(): Map<string, Set<string>> {
  const reasons = new Map<string, Set<string>>()
  for (const length of DAYS) {
    for (const returns of RETURNS) {
      for (const first of FIRST_DAYS) {
        const daily = dailyFrom(first, returns(length))
        for (const trades of LEDGERS) collect(splitFigures(figuresOf(daily, 1, trades)), reasons)
      }
    }
  }
  return reasons
}

function collect(figures: ReturnType<typeof splitFigures>, reasons: Map<string, Set<string>>): void {
  for (const path of pathsIn(figures.values)) if (!reasons.has(path)) reasons.set(path, new Set())
  for (const [path, reason] of Object.entries(figures.undefined)) reasons.get(path)?.add(reason)
}

const pathsIn = (values: object, prefix = ''): string[] =>
  Object.entries(values).flatMap(([field, value]) => {
    const path = prefix + field
    if (NO_STATISTICS.has(path)) return []
    return typeof value === 'object' && value !== null ? pathsIn(value, `${path}/`) : [path]
  })

test('the page is the text of the payloads', () => {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, renderFiguresPage())
  expect(readFileSync(PAGE, 'utf8')).toBe(renderFiguresPage())
})

describe('every statistic', () => {
  const described = figuresIn(statsGroups())
  const seen = observed()

  test('is described, and what is described is one', () => {
    expect(described.map(({ path }) => path).sort()).toEqual([...seen.keys()].sort())
  })

  test('is null for exactly the reasons that are described', () => {
    const told = described.map(({ path, nullWhen }) => [path, nullWhen.toSorted()])
    const happens = described.map(({ path }) => [
      path,
      NUMBER_INSTEAD.has(path) ? [] : [...(seen.get(path) ?? [])].sort(),
    ])
    expect(told).toEqual(happens)
  })

  test('has a definition and a formula, and the corpus knows every reason', () => {
    for (const { path, about, formula } of [...described, ...figuresIn(summaryGroups())]) {
      expect([path, about.length > 0, formula.length > 0]).toEqual([path, true, true])
    }
    expect(new Set([...seen.values()].flatMap(reasons => [...reasons]))).toEqual(new Set(UNDEFINED_REASONS))
  })
})

test('the figures of the equal-weight book are null when those of a strategy are', () => {
  const ofStrategies = new Map(figuresIn(statsGroups()).map(({ path, nullWhen }) => [path, nullWhen]))
  const ofBook = figuresIn(summaryGroups())
  expect(ofBook.length).toBeGreaterThan(0)
  for (const { path, nullWhen } of ofBook) {
    expect([path, nullWhen]).toEqual([path, ofStrategies.get(path.replace('equal_weight_book/', ''))])
  }
})
