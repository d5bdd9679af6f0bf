// What the specification of the history service promises, written down a second time and apart from the schemas of
// the product: required fields, types and nulls as its tables have them, the value lists as the decisions have them.
import { z } from 'zod'

const isoDate = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)
const instant = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
const id = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
const numberOrNull = z.number().nullable()
const dateWindow = z.object({ from: isoDate, to: isoDate })
const url = z.url({ protocol: /^https?$/ })

const verificationState = z.enum(['unverified', 'single_verified', 'dual_verified'])

/** The block that every envelope carries. */
export const REGISTER = z.object({
  basis: z.enum(['backtested', 'reported', 'mixed']),
  register: z.literal('factual_historical'),
  audience: z.literal('professional_institutional'),
  license: z.literal('global'),
  dataset_version: instant.nullable(),
  generated_utc: instant.nullable(),
  timing_ms: z.number().min(0).nullable(),
  disclaimer: z.string().min(1),
})

export const ERROR_ENVELOPE = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: REGISTER.strict(),
})

const identity = z.object({
  id,
  name: z.string(),
  blurb: z.string().nullable(),
  tv_status: z.enum(['provisional', 'confirmed', 'diverged', 'not_applicable']),
  instrument: z.string(),
  base_risk_pct: z.number().positive(),
  leverage_typical: numberOrNull,
  leverage_max: numberOrNull,
  verification_state: verificationState,
})

const headline = z.object({
  cagr_pct: numberOrNull,
  max_drawdown_pct: z.number().max(0),
  sharpe_daily_annualized: numberOrNull,
  profit_factor: numberOrNull,
  trade_count: z.int().min(0),
})

const correlation = z.object({
  ids: z.array(id),
  matrix: z.array(z.array(z.number().min(-1).max(1))),
  undefined_pairs: z.array(
    z.object({ pair: z.tuple([id, id]), overlap: z.int().min(0), reason: z.string() }),
  ),
})

const pair = z.object({ pair: z.tuple([id, id]), correlation: z.number().min(-1).max(1) }).nullable()

const stats = z.object({
  ccy: z.string(),
  net_return_pct: z.number().min(-100),
  cagr_pct: numberOrNull,
  max_drawdown_pct: z.number().min(-100).max(0),
  sharpe_daily_annualized: numberOrNull,
  sortino_daily_annualized: numberOrNull,
  sharpe_weekly_annualized: numberOrNull,
  time_underwater: z.object({ longest_days: z.int().min(0), total_days: z.int().min(0) }),
  trade_count: z.int().min(0),
  win_rate_pct: z.number().min(0).max(100),
  profit_factor: numberOrNull,
  fund_dd: z.object({
    trades: z.looseObject({}),
    risk_adjusted: z.looseObject({}),
    drawdowns: z.looseObject({}),
    monthly: z.looseObject({}),
    annual: z.looseObject({}),
    exposure: z.looseObject({}),
  }),
})

const trade = z.object({
  side: z.enum(['long', 'short']),
  entry_time: z.int().positive(),
  entry_price: z.number().positive(),
  exit_time: z.int().positive(),
  exit_price: z.number().positive(),
  duration_days: z.number().positive(),
  return_pct: z.number(),
  result: z.enum(['win', 'loss', 'breakeven']),
  exit_reason: z.enum(['stop', 'signal', 'time', 'target', 'liquidation']),
  live: z.enum(['sealed', 'late', 'missed', 'halted', 'by_hand']).nullable(),
})

const summary = z.object({
  strategy_count: z.int().positive(),
  coverage: dateWindow,
  mean_pairwise_correlation: z.number().min(-1).max(1),
  equal_weight_book: z.object({
    n_days: z.int().min(0),
    net_return_pct: z.number().min(-100),
    cagr_pct: numberOrNull,
    max_drawdown_pct: z.number().max(0),
    sharpe_daily_annualized: numberOrNull,
  }),
  diversification: z.object({
    mean_correlation: z.number(),
    most_correlated: pair,
    least_correlated: pair,
    effective_bets: z.number().min(0),
  }),
})

const dataset = z.object({
  version: instant,
  generated_utc: instant,
  history_restated: z.boolean(),
  window: dateWindow,
  strategy_count: z.int().positive(),
  engine: z.string(),
  data_source: z.string(),
  methodology_url: url,
  strategies: z.array(z.object({ id, name: z.string(), verification_state: verificationState })),
})

const checks = z.strictObject({
  manifest_loaded: z.literal(true),
  count_matches: z.literal(true),
  per_strategy_loaded: z.literal(true),
  correlation_dims: z.literal(true),
})

/** `data` of every route while a dataset is served. */
export const DATA = {
  healthz: z.object({ status: z.literal('ok'), strategy_count: z.int().positive() }),
  readyz: z.object({ ready: z.literal(true), checks, unfit_version: instant.nullable() }),
  version: z.object({
    api_version: z.string(),
    stability: z.string(),
    dataset_version: instant,
    history_restated: z.boolean(),
    generated_utc: instant,
    window: dateWindow,
    max_modelled_risk_pct: z.number().positive(),
  }),
  versions: z.array(
    z.strictObject({
      version: instant,
      published: instant,
      entered: instant.nullable(),
      manifest_sha256: z.string().regex(/^[0-9a-f]{64}$/),
      is_served: z.boolean(),
      is_removed: z.boolean(),
      history_restated: z.boolean(),
    }),
  ),
  strategies: z.array(identity.extend({ headline })),
  summary,
  dataset,
  correlation,
  export: z.object({
    ids: z.array(id),
    rows: z.array(z.strictObject({ t: isoDate, rets: z.record(id, z.number()) })),
    correlation,
  }),
  benchmark: z.strictObject({
    instruments: z.array(z.string()),
    rows: z.array(z.strictObject({ t: isoDate, rets: z.record(z.string(), z.number()) })),
  }),
  strategy: identity.extend({
    window: dateWindow,
    engine: z.string(),
    data_source: z.string(),
    denomination: z.string(),
    inception: isoDate,
    methodology_url: url,
    backtest_assumptions: z.object({ commission_bps_per_side: z.number(), slippage_ticks: z.number() }),
  }),
  stats,
  returns: z.array(z.strictObject({ t: isoDate, ret: z.number() })),
  curve: z.array(z.strictObject({ t: isoDate, equity: z.number().min(0) })),
  rolling: z.array(
    z.strictObject({
      t: isoDate,
      return_pct: z.number().nullable(),
      volatility_pct: z.number().min(0).nullable(),
      sharpe: z.number().nullable(),
      beta: z.number().nullable(),
    }),
  ),
  risk: z.object({
    year_ahead: z.object({ draws: z.int(), seed: z.int(), return_p50_pct: numberOrNull }),
    start_dates: z.array(z.object({ t: isoDate, net_return_pct: z.number().min(-100) })),
  }),
  trades: z.array(z.strictObject(trade.shape)),
  live: z.object({ live_since: z.null(), entries: z.object({ judged: z.literal(0) }), seals: z.null() }),
}
