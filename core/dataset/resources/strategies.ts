import { toPercent } from '#core/contract/rounding.ts'
import type { Json } from '../render/json.ts'
import type { StrategyRecord } from '../snapshot.ts'
import { publishFigures } from './figures-on-the-wire.ts'
import { bookLinks, findStrategy, type Resource, strategyLinks } from './resource.ts'

/** `/v1/strategies`: the catalogue with five headline figures each. */
export const strategies: Resource = (snapshot, params) => ({
  data: snapshot.strategies.map(toListItem),
  meta: { count: snapshot.strategies.length },
  links: bookLinks('strategies', params),
})

const toListItem = (strategy: StrategyRecord): Json => ({
  ...identity(strategy),
  headline: headline(strategy),
})

/** The fields that the list and the metadata of a strategy share. */
export const identity = (strategy: StrategyRecord) => ({
  id: strategy.id,
  name: strategy.name,
  blurb: strategy.blurb,
  tv_status: strategy.tv_status,
  instrument: strategy.instrument,
  base_risk_pct: strategy.base_risk_pct,
  leverage_typical: roundOrNull(strategy.leverage_typical),
  leverage_max: roundOrNull(strategy.leverage_max),
  verification_state: strategy.verification_state,
})

function headline({ figures }: StrategyRecord): Json {
  const { cagr_pct, max_drawdown_pct, sharpe_daily_annualized, profit_factor, trade_count } = figures.values
  return publishFigures({
    cagr_pct: cagr_pct ?? null,
    max_drawdown_pct: max_drawdown_pct ?? null,
    sharpe_daily_annualized: sharpe_daily_annualized ?? null,
    profit_factor: profit_factor ?? null,
    trade_count: trade_count ?? null,
  })
}

const roundOrNull = (value: number | null): number | null => (value === null ? null : toPercent(value))

/** `/v1/strategies/{sid}`: everything about a strategy but its figures. */
export const strategy: Resource = (snapshot, params) => {
  const record = findStrategy(snapshot, params.sid)
  return {
    data: {
      ...identity(record),
      window: record.window,
      engine: record.engine,
      data_source: record.data_source,
      denomination: record.denomination,
      inception: record.inception,
      methodology_url: record.methodology_url,
      backtest_assumptions: {
        commission_bps_per_side: record.commission_bps_per_side,
        slippage_ticks: record.slippage_ticks,
      },
      marking: record.marking,
      days_without_bars: record.days_without_bars,
    },
    meta: {},
    links: strategyLinks('strategy', params),
  }
}
