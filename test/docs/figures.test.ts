// `docs/figures.md` is the text of the code, and what it says of nulls is what the computation does.
// Where a change is meant, rewrite it: UPDATE_GOLDEN=1 vitest run figures
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ABOUT_REASONS } from '#core/contract/payloads/figure-rule.ts'
import { splitFigures, UNDEFINED_REASONS } from '#core/figures/figure.ts'
import { sincePublicationFigures } from '#core/figures/performance.ts'
import type { Series } from '#core/figures/series.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { constant, figuresOf, trade } from '../core/figures/series.ts'
import {
  type DescribedFigure,
  type FigureGroup,
  liveGroups,
  riskGroups,
  rollingGroups,
  statsGroups,
  summaryGroups,
} from './figure-list.ts'

/** The page, made of the descriptions of the payloads. */
const renderFiguresPage = (): string =>
  [
    ...HEADING,
    ...statsGroups().flatMap(group => renderGroup('`/v1/strategies/{sid}/stats`', group)),
    ...rollingGroups().flatMap(group => renderGroup('`/v1/strategies/{sid}/rolling`', group)),
    ...riskGroups().flatMap(group => renderGroup('`/v1/strategies/{sid}/risk`', group)),
    ...liveGroups().flatMap(group => renderGroup('`/v1/strategies/{sid}/live`', group)),
    ...summaryGroups().flatMap(group => renderGroup('`/v1/summary`', group)),
    '## When a figure is null',
    '',
    'The `undefined` object of the same block then has its path with one of these reasons. A figure is never NaN, and never 0 if it',
    'does not exist.',
    '',
    '| Reason | Meaning |',
    '|---|---|',
    ...Object.entries(ABOUT_REASONS).map(([reason, about]) => `| \`${reason}\` | ${about} |`),
    '',
  ].join('\n')

const HEADING = [
  '<!-- Made from the descriptions in core/contract/payloads by `UPDATE_GOLDEN=1 vitest run figures`: change those. -->',
  '# The figures',
  '',
  'Every statistic that the history service publishes: its definition, its formula and when it is null. The same text is in',
  'the API reference at `/docs/reference`, as `x-formula`, `x-null-when`, `x-convention` and `x-recomputable` of the schema. The code',
  'and the sources are in `core/figures`, one file per block; other words are in the [glossary](glossary.md), and the figures of',
  'the accumulation program in [its definitions](program.md#definitions).',
  '',
  'A figure is *recomputable* if its digits follow from the published returns, trades and benchmarks alone. `/trades` has no leverage, so',
  'what needs it is not recomputable; it can be [estimated](limits.md#what-open-data-reveal).',
  '[recompute.py](verifying.md#recomputing-the-figures) computes the others, and of these checks what follows from the published',
  'figures beside them.',
  '',
  'Published numbers are rounded once: the exact value of the double is rounded to so many decimals or significant digits, and a half',
  'away from zero. Exact means binary: 0.0000005 is a double below a half, and is rounded to 0.',
  '',
]

const renderGroup = (route: string, { path, about, convention, figures }: FigureGroup): string[] => [
  path === '' ? `## ${route}` : `## ${route}, \`${path}\``,
  '',
  about,
  '',
  `Convention. ${convention}`,
  '',
  '| Field | Definition | Formula | Null when | Recomputable |',
  '|---|---|---|---|---|',
  ...figures.map(figure => renderFigure(figure, path)),
  '',
]

const renderFigure = (figure: DescribedFigure, group: string): string => {
  const { path, about, formula, nullWhen } = figure
  const [definition = '', needs] = about.split(' Not recomputable from open data: ')
  const field = group === '' ? path : path.slice(group.length + 1)
  const reasons = nullWhen.map(reason => `\`${reason}\``).join(', ')
  return `| \`${field}\` | ${escapeCell(definition)} | \`${escapeCell(formula)}\` | ${reasons === '' ? 'never' : reasons} | ${needs === undefined ? 'yes' : `no: ${needs.slice(0, -1)}`} |`
}

/** A bar would end the cell. */
const escapeCell = (text: string): string => text.replaceAll('|', '\\|')

/** Short of, at and past what tails, months and years need. */
const DAYS = [0, 1, 2, 3, 4, 7, 14, 62, 100, 400, 800] as const

/** The first day of a month, and one within it. */
const FIRST_DAYS = ['2020-01-01', '2020-01-17'] as const

/** Gains and losses that never repeat, the same on every run. */
const uneven = (length: number): number[] =>
  Array.from({ length }, (_, i) => 0.02 * Math.sin(1 + i * i) + 0.001)

const withRuin = (length: number): number[] => uneven(length).with(Math.floor(length / 2), -1)

/**
 * Four days of two values, the first higher than the others by this part: skewness and kurtosis then take all the
 * uncertainty from the Sharpe ratio, so that the probability that it is positive has no denominator.
 */
const STEP = 2 / (Math.sqrt(3) - 0.5)

const RETURNS: readonly ((length: number) => number[])[] = [
  length => constant(0, length),
  length => constant(0.001, length),
  length => constant(-0.001, length),
  uneven,
  length => uneven(length).map(Math.abs),
  length => uneven(length).map(value => -Math.abs(value)),
  length => constant(0.01, length).map((value, i) => (i === 0 ? (1 + STEP) * value : value)),
  length => (length === 0 ? [] : withRuin(length)),
]

const ledger = (side: 'long' | 'short', ...results: number[]) =>
  results.map((result, i) => trade(`2020-01-0${1 + i}T00:00:00Z`, 5, result, side))

const LEDGERS = [
  [],
  ledger('long', 0.01),
  ledger('short', -0.01),
  ledger('long', 0.01, 0.01),
  ledger('short', 0.01, 0.02),
  ledger('long', -0.01, -0.02),
  ledger('short', 0, 0),
  [...ledger('long', 0.01, -0.02, 0.03), ...ledger('short', 0.01, -0.02, 0)],
]

const COST = { fees: 0.001, slippage: 0.001, funding: 0.001 }

/** What bars and a module add to a series: without trades, with a loss alone, and with all that the figures need. */
const besideOf = (daily: Series) => [
  { costs: { trades: [], doubled: daily }, excursions: [] },
  { costs: { trades: [{ ...COST, result: -0.1 }], doubled: daily } },
  {
    costs: { trades: [{ ...COST, result: 0.1 }], doubled: daily },
    excursions: Array.from({ length: 20 }, (_, i) => ({ adverse: -i, favourable: i })),
    replays: { entries: { asked: 2, refused: 1 }, levels: [] },
  },
]

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
  'fund_dd/since_publication/published_since',
  'fund_dd/replays/table',
  'fund_dd/exposure/open_since',
])

/** Before the series, at its beginning, in it, and for the longer ones after a year and a half. */
const PUBLISHED = ['2019-12-31', '2020-01-02', '2020-02-20', '2021-07-01'].flatMap(day =>
  [true, false].map(isNew => ({ since: `${day}T00:15:00Z`, isNew })),
)

/** Every statistic that a strategy can have, with the reasons for which the corpus makes it null. */
function observed(): Map<string, Set<string>> {
  const reasons = new Map<string, Set<string>>()
  for (const length of DAYS) {
    for (const returns of RETURNS) {
      for (const first of FIRST_DAYS) {
        const daily = dailyFrom(first, returns(length))
        for (const trades of LEDGERS) collect(splitFigures(figuresOf(daily, 1, trades)), reasons)
        for (const publication of PUBLISHED) {
          const since_publication = sincePublicationFigures(daily, publication)
          collect(splitFigures({ fund_dd: { since_publication } }), reasons)
        }
        for (const held of RETURNS) {
          const declared = { benchmark: dailyFrom(first, held(length)), trials: 7 }
          collect(splitFigures(figuresOf(daily, 1, [], declared)), reasons)
        }
        for (const beside of besideOf(daily)) collect(splitFigures(figuresOf(daily, 1, [], beside)), reasons)
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

test('the page of figures is the text of the payloads', () => {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, renderFiguresPage())
  expect(readFileSync(PAGE, 'utf8')).toBe(renderFiguresPage())
})

const described = figuresIn(statsGroups()).filter(({ path }) => !path.startsWith('fund_dd/replays/table/'))
const seen = observed()

test('every statistic is described, and what is described is a statistic', () => {
  expect(described.map(({ path }) => path).sort()).toEqual([...seen.keys()].sort())
})

test('every statistic is null for exactly the reasons that are described', () => {
  const documented = described.map(({ path, nullWhen }) => [path, nullWhen.toSorted()])
  const happens = described.map(({ path }) => [
    path,
    NUMBER_INSTEAD.has(path) ? [] : [...(seen.get(path) ?? [])].sort(),
  ])
  expect(documented).toEqual(happens)
})

test('every statistic has a definition and a formula, and the corpus knows every reason', () => {
  for (const { path, about, formula } of [...described, ...figuresIn(summaryGroups())]) {
    expect([path, about.length > 0, formula.length > 0]).toEqual([path, true, true])
  }
  expect(new Set([...seen.values()].flatMap(reasons => [...reasons]))).toEqual(new Set(UNDEFINED_REASONS))
})

test('the figures of the equal-weight book are null when those of a strategy are', () => {
  const ofStrategies = new Map(figuresIn(statsGroups()).map(({ path, nullWhen }) => [path, nullWhen]))
  const ofBook = figuresIn(summaryGroups().filter(({ path }) => path === 'equal_weight_book'))
  expect(ofBook.length).toBeGreaterThan(0)
  for (const { path, nullWhen } of ofBook) {
    expect([path, nullWhen]).toEqual([path, ofStrategies.get(path.replace('equal_weight_book/', ''))])
  }
})
