// What a guide is made of: the facts that it is written with, and the values that its text names.
import { html } from 'hono/html'
import { toCompactInstant, toIsoDate } from '#core/calendar.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { DatasetRecord, Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { equityCurve } from '#core/figures/account-path.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { lastDay } from '#core/figures/series.ts'
import type { Markup } from '../layout.ts'

export type GuideFacts = {
  /** Address of the history service as its users see it, without a slash at the end. */
  readonly base: string
  /** The same of the signals service; null if the operator does not state it. */
  readonly signals: string | null
  /** Of the version that is served. */
  readonly dataset: DatasetRecord
  readonly strategy: StrategyData
}

/** A sentence in which backticks enclose code. */
export const prose = (text: string): Markup =>
  html`${text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}`

/** The strategy that examples are about: the first that has what they show. Undefined in a book without strategies. */
export const exampleStrategy = ({ strategies }: Snapshot): StrategyData | undefined =>
  strategies.find(({ figures }) => typeof figures.values.sharpe_daily_annualized === 'number') ??
  strategies[0]

const EXAMPLE = 'https://signals.example.org'

/** What stands for `{{name}}` in a guide: of the example strategy, as its snippets print it. */
export function guideValues({ base, signals, dataset, strategy }: GuideFacts) {
  const { id, daily, weekly, base_risk_pct, figures } = strategy
  const { sharpe_daily_annualized: sharpe } = figures.values
  return {
    ...{ base, id, version: dataset.version, publisher: dataset.name },
    compactVersion: toCompactInstant(dataset.version),
    pinned: `/${versionFolder(dataset.version)}`,
    year: effectiveInstant(dataset).slice(0, 4),
    days: daily.values.length,
    lastDay: toIsoDate(lastDay(daily)),
    lastReturn: (daily.values.at(-1) ?? 0).toFixed(6),
    lastEquity: (equityCurve(daily.values).at(-1) ?? 1).toFixed(4),
    mostRisk: dataset.max_modelled_risk_pct,
    baseRisk: base_risk_pct,
    halfRisk: toSignificant(base_risk_pct / 2),
    halfRiskDrawdown: performanceFigures(daily, weekly, 0.5).max_drawdown_pct.toFixed(2),
    /** Empty without one: then the page shows nothing. */
    sharpe: typeof sharpe === 'number' ? sharpe.toFixed(4) : '',
    signals: signals ?? EXAMPLE,
    signalsDocs:
      signals === null ? html`<code>/docs</code>` : html`<a href="${signals}/docs">${signals}/docs</a>`,
    noSignals:
      signals === null
        ? html` Replace <code>${EXAMPLE}</code> by the address of the signals service, which the operator gives you with the key.`
        : '',
  }
}
