// The explorer: a portfolio of chosen strategies as a pure function of their published returns and of the choice.
import { toCorrelation } from '#core/contract/rounding.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { compounded, rescaled, riskLevel } from '#core/dataset/resources/risk-level.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import { equityCurve, equityFromBaseline } from '#core/figures/account-path.ts'
import { weightedBook } from '#core/figures/book.ts'
import { drawdowns } from '#core/figures/drawdown.ts'
import { type FigureValues, splitFigures } from '#core/figures/figure.ts'
import { correlatePair } from '#core/figures/pearson.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { completeWeeks, lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { drawdownChartOf, equityChartOf, type Line } from '../charts/line-chart.ts'
import { caveatOf } from '../format.ts'
import type { Choice } from './choice.ts'

export type ExploreFacts = ReturnType<typeof exploreFacts>

/** What the explorer knows of every strategy before any returns are loaded, in the order of the catalogue. */
export const exploreFacts = ({ dataset, strategies }: Snapshot) => ({
  version: dataset.version,
  max_modelled_risk_pct: dataset.max_modelled_risk_pct,
  caveat: caveatOf(dataset),
  strategies: strategies.map(({ id, name, base_risk_pct }) => ({ id, name, base_risk_pct })),
})

/** A strategy of the portfolio, or the portfolio itself: its returns at the chosen level and range, and their figures. */
export type Member = {
  readonly id: string
  readonly name: string
  readonly kind: Line['kind']
  /** Part of the portfolio, a fraction; the portfolio itself has 1. */
  readonly share: number
  readonly daily: Series
  /** As the API publishes them: 6 decimals, null if undefined. */
  readonly figures: FigureValues
}

export type ExploreModel = ReturnType<typeof exploreModel>

/**
 * The model of a choice; portfolio and charts are null without members. Strategies without returns are left out. Throws
 * `validation_error` if the figures pass what a number can hold at this level.
 *
 * @param returns published daily returns at base risk, by id
 */
export function exploreModel(facts: ExploreFacts, returns: ReadonlyMap<string, Series>, choice: Choice) {
  const level = riskLevel(choice.risk_pct, facts.max_modelled_risk_pct)
  const whole = (choice.with ?? []).flatMap((id, i) => {
    const strategy = facts.strategies.find(each => each.id === id)
    const base = returns.get(id)
    if (strategy === undefined || base === undefined) return []
    const daily = { ...base, values: rescaled(base.values, strategy, level) }
    return [{ strategy, daily, weight: choice.weights?.[i] ?? 1 }]
  })
  const series = whole.map(({ daily }) => daily)
  const common = commonDays(series)
  const days = choice.days === 'own' ? null : common
  const from = Math.max(choice.from ?? -Infinity, days?.from ?? -Infinity)
  const to = Math.min(choice.to ?? Infinity, days?.to ?? Infinity)
  // Whether all figures are over the same days, and else, if they should be, why they cannot be.
  const basis = { facts, choice, level, days, gap: common === null ? gapOf(whole) : null }
  if (whole.length === 0) return { ...basis, members: [], portfolio: null, correlation: [], charts: null }
  const sum = whole.reduce((total, { weight }) => total + weight, 0)
  const member = (of: Omit<Member, 'daily' | 'figures'>, risk: number, series: Series): Member => {
    const daily = sliceSeries(series, from, to)
    const block = compounded({ id: of.id, base_risk_pct: risk }, level, () =>
      performanceFigures(daily, completeWeeks(daily), 1),
    )
    return { ...of, daily, figures: publishFigures(splitFigures(block).values) }
  }
  const members = whole.map(({ strategy: { id, name, base_risk_pct }, daily, weight }, i) =>
    member({ id, name, kind: `series${(i + 1) % 12}`, share: weight / sum }, base_risk_pct, daily),
  )
  const book = weightedBook(series, i => whole[i]!.weight)
  const portfolio = member({ id: 'portfolio', name: 'Portfolio', kind: 'main', share: 1 }, 1, book.daily)
  return {
    ...basis,
    members,
    portfolio,
    // Cell (i, j) of the members; null if undefined.
    correlation: members.map(a => members.map(b => correlationOf(a, b))),
    charts: chartsOf(facts, members, portfolio),
  }
}

/** The first and the last day that all series have; null if there is none. */
function commonDays(series: readonly Series[]) {
  const [from, to] = [Math.max(...series.map(({ first }) => first)), Math.min(...series.map(lastDay))]
  return series.length > 0 && from <= to ? { from, to } : null
}

/** Which of some strategies without a common day have none: one without any, or the one that ends first and the one that begins last. */
function gapOf(whole: readonly { readonly strategy: { readonly name: string }; readonly daily: Series }[]) {
  const named = whole.map(({ strategy: { name }, daily }) => ({
    name,
    first: daily.first,
    last: lastDay(daily),
  }))
  const empty = named.find(({ first, last }) => last < first)
  const [early] = named.toSorted((a, b) => a.last - b.last)
  const [late] = named.toSorted((a, b) => b.first - a.first)
  return { empty: empty?.name ?? null, early, late }
}

function correlationOf(a: Member, b: Member): number | null {
  if (a === b) return 1
  const { rho } = correlatePair(a.daily, b.daily)
  return Number.isNaN(rho) ? null : toCorrelation(rho)
}

function chartsOf({ caveat }: ExploreFacts, members: readonly Member[], portfolio: Member) {
  const { name, daily } = portfolio
  const days = { from: daily.first, to: lastDay(daily) }
  const drawdown = { id: 'drawdown', title: 'Drawdown of the portfolio', caveat, days }
  const lines = [...members, portfolio].map(
    ({ name, kind, daily: { first, values } }): Line => ({ name, kind, first, values: equityCurve(values) }),
  )
  return {
    equity: equityChartOf({ id: 'equity', title: 'Equity, 1 before the first day', caveat, lines, days }),
    drawdown: drawdownChartOf(drawdown, name, daily.first, drawdowns(equityFromBaseline(daily.values))),
  }
}
