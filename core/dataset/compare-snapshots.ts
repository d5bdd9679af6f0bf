import type { Change, Changes, StrategyChanges } from '#core/contract/payloads/changes.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { compareSeries } from './compare-series.ts'
import { compareTrades } from './compare-trades.ts'
import type { FigureValue, Snapshot, StrategyData } from './snapshot.ts'

/**
 * What `after` appends to `before` and what it alters, strategy by strategy. Only returns and trades are history;
 * figures and facts of the catalogue are told beside them. Without a version before, everything is new.
 */
export function compareSnapshots(before: Snapshot | null, after: Snapshot): Changes {
  const old = new Map(before?.strategies.map(strategy => [strategy.id, strategy]))
  const now = new Set(after.strategies.map(({ id }) => id))
  const strategies = after.strategies.flatMap(strategy => {
    const was = old.get(strategy.id)
    return was === undefined ? [] : [compareStrategy(was, strategy)]
  })
  const removed = [...old.keys()].filter(id => !now.has(id))
  return {
    version: after.dataset.version,
    previous: before?.dataset.version ?? null,
    history_restated: removed.length > 0 || strategies.some(isRestated),
    added: [...now].filter(id => !old.has(id)),
    removed,
    strategies,
  }
}

/** Whether published history of the strategy is altered. */
export const isRestated = ({ daily, weekly, trades }: StrategyChanges): boolean =>
  daily.restated_count + weekly.restated_count + trades.restated_count > 0

const compareStrategy = (before: StrategyData, after: StrategyData): StrategyChanges => ({
  id: after.id,
  daily: compareSeries(before.daily, after.daily),
  weekly: compareSeries(before.weekly, after.weekly),
  trades: compareTrades(before, after),
  stats: changesOf(HEADLINE, before.figures.values, after.figures.values),
  catalogue: changesOf(CATALOGUE, before, after),
})

const HEADLINE = [
  'net_return_pct',
  'cagr_pct',
  'max_drawdown_pct',
  'sharpe_daily_annualized',
  'trade_count',
] as const

const CATALOGUE = [
  'name',
  'blurb',
  'instrument',
  'ccy',
  'denomination',
  'engine',
  'data_source',
  'methodology_url',
  'base_risk_pct',
  'commission_bps_per_side',
  'slippage_ticks',
  'tick_size',
  'inception',
  'marking',
  'verification_state',
  'tv_status',
] as const satisfies readonly (keyof StrategyData)[]

type Facts = { readonly [field: string]: unknown }

const changesOf = (fields: readonly string[], before: Facts, after: Facts): Change[] =>
  fields
    .map(field => ({ field, old: toPublished(before[field]), new: toPublished(after[field]) }))
    .filter(change => change.old !== change.new)

const toPublished = (value: unknown): FigureValue =>
  typeof value === 'number' ? toPercent(value) : typeof value === 'string' ? value : null
