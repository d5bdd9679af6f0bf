import type { Resource } from './answer.ts'
import { findStrategy } from './find-strategy.ts'
import { strategyLinks } from './links.ts'
import { identity } from './strategies.ts'

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
