// Snapshots written by hand: a few returns and trades in, a whole dataset out, its figures and matrices computed by
// the functions that a night uses.
import { toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import { toPercent } from '#core/contract/rounding.ts'
import { METHOD_REVISION } from '#core/dataset/definitions.ts'
import {
  type Benchmark,
  type DatasetRecord,
  type Snapshot,
  type StrategyData,
  type StrategyRecord,
  TRADE_FLOATS,
  type TradeColumns,
} from '#core/dataset/snapshot.ts'
import { SIDES } from '#core/dataset/snapshot-files.ts'
import { bookFigures } from '#core/figures/book.ts'
import { correlationMatrix } from '#core/figures/correlation.ts'
import { diversification } from '#core/figures/diversification.ts'
import { splitFigures } from '#core/figures/figure.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'
import { completeWeeks, lastDay } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { Side } from '#core/replay/strategy.ts'
import { EXIT_REASONS, type ExitReason } from '#core/replay/trade.ts'
import { dailyFrom } from '../daily.ts'

type LiveEvent = OpenedSignals['events'][number]
type LiveSignal = OpenedSignals['signals'][number]

export type HandTrade = {
  readonly side?: Side
  readonly entry_time: number
  readonly entry_price?: number
  readonly exit_time: number
  readonly exit_price?: number
  readonly exit_reason?: ExitReason
  readonly account_return: number
  readonly notional_return?: number
  readonly leverage?: number
  readonly stop?: number
}

export type HandStrategy = Partial<Omit<StrategyRecord, 'id' | 'figures' | 'window' | 'inception'>> & {
  readonly id: string
  /** The day of the first return. */
  readonly first?: string
  readonly returns: Iterable<number>
  readonly trades?: readonly HandTrade[]
  /** What a night would compute from bars and a module. */
  readonly night?: Pick<Parameters<typeof strategyFigures>[0], 'costs' | 'excursions' | 'replays' | 'open'>
}

export const HAND_VERSION = '2024-06-01T00:15:00Z'

/** The dataset of these strategies. Base risk is 0.02 and the cap of `risk_pct` is 0.1 where nothing else is said. */
export function handSnapshot(
  strategies: readonly HandStrategy[],
  dataset: Partial<DatasetRecord> = {},
  benchmarks: readonly Benchmark[] = [],
): Snapshot {
  const all = strategies.map(toStrategyData)
  const daily = correlationMatrix(all.map(strategy => strategy.daily))
  return {
    dataset: { ...DATASET, window: coverage(all), ...dataset },
    strategies: all,
    correlation: { daily, weekly: correlationMatrix(all.map(strategy => strategy.weekly)) },
    book: splitFigures(bookFigures(all.map(strategy => strategy.daily))),
    diversification: splitFigures(
      diversification(
        daily,
        all.map(({ id }) => id),
      ),
    ),
    benchmarks,
  }
}

/** What is stated of the dataset, and of each of its strategies. */
const STATED = {
  engine: 'highwater',
  data_source: 'made by hand',
  methodology_url: 'https://example.org/method',
}

const DATASET: Omit<DatasetRecord, 'window'> = {
  ...STATED,
  ...{ version: HAND_VERSION, name: 'Hand', disclaimer: 'Made by hand.', method_revision: METHOD_REVISION },
  ...{ max_modelled_risk_pct: 0.1, embargo_days: 0, history_restated: false, synthetic: false },
  ...{ funding: [], accepted_findings: [], lineage: [], removed: [], stress_periods: [] },
  ...{ entered: null, public_url: null, program_url: null, licence: null, seals: null },
}

const coverage = (strategies: readonly StrategyData[]): DatasetRecord['window'] => ({
  from: toIsoDate(Math.min(...strategies.map(({ daily }) => daily.first))),
  to: toIsoDate(Math.max(...strategies.map(({ daily }) => lastDay(daily)))),
})

function toStrategyData({
  first = '2024-01-01',
  returns,
  trades = [],
  night = {},
  ...given
}: HandStrategy): StrategyData {
  const daily = dailyFrom(first, returns)
  const weekly = completeWeeks(daily)
  const { base_risk_pct } = { ...RECORD, ...given }
  const outcomes = trades.map(({ side = 'long', ...trade }) => ({
    side,
    ...trade,
    return_pct: toPercent(100 * (trade.notional_return ?? trade.account_return)),
  }))
  return {
    ...RECORD,
    name: given.id,
    ...given,
    inception: first,
    window: { from: first, to: toIsoDate(lastDay(daily)) },
    figures: splitFigures(strategyFigures({ daily, weekly, trades: outcomes, base_risk_pct, ...night })),
    daily,
    weekly,
    trades: toColumns(outcomes),
  }
}

const RECORD: Omit<StrategyRecord, 'id' | 'name' | 'figures' | 'window' | 'inception'> = {
  ...STATED,
  ...{ tv_status: 'provisional', verification_state: 'unverified', marking: 'reported' },
  ...{ instrument: 'BTCUSDT-PERP', ccy: 'USDT', denomination: 'USDT', funding: 'as_reported' },
  ...{ base_risk_pct: 0.02, max_leverage: 15, commission_bps_per_side: 5, slippage_ticks: 1, tick_size: 0.1 },
  ...{ result_tolerance_bps: null, days_without_bars: 0, blurb: null, trials: null, measured: null },
  ...{ leverage_typical: null, leverage_max: null, refused_above_risk_pct: null },
  ...{ module_version: null, rules_sha256: null, rules_since: null },
  ...{ published_since: null, time_stamp: null, live: null, ended: null, idle_since: null },
}

function toColumns(trades: readonly HandTrade[]): TradeColumns {
  const rows = trades.map(trade => ({
    ...{ side: 'long' as const, exit_reason: 'signal' as const, entry_price: 100, exit_price: 100 },
    ...{ notional_return: trade.account_return, leverage: Number.NaN, stop: Number.NaN },
    ...trade,
  }))
  const floats = TRADE_FLOATS.map(name => [name, Float64Array.from(rows, row => row[name])])
  return {
    side: { codes: Uint8Array.from(rows, ({ side }) => SIDES.indexOf(side)), words: SIDES },
    exit_reason: {
      codes: Uint8Array.from(rows, ({ exit_reason }) => EXIT_REASONS.indexOf(exit_reason)),
      words: EXIT_REASONS,
    },
    ...(Object.fromEntries(floats) as Record<(typeof TRADE_FLOATS)[number], Float64Array>), // the same names
  }
}

/** Costs, excursions of 41 trades, and replays at 1 % and 4 % of a strategy with a return a day. */
export function aNight(first: string, returns: readonly number[]): NonNullable<HandStrategy['night']> {
  const daily = (factor: number) =>
    dailyFrom(
      first,
      returns.map(value => value * factor),
    )
  const level = (risk_pct: number, refused: number) => ({
    ...{ risk_pct, daily: daily(risk_pct * 49) },
    ...{ trade_count: 39, entries: { asked: 50, refused } },
  })
  return {
    costs: {
      trades: [{ result: 0.02, fees: 0.002, slippage: 0.001, funding: 0.0005 }],
      doubled: daily(0.9),
    },
    excursions: Array.from({ length: 41 }, (_, i) => ({ adverse: -i / 40, favourable: i / 20 })),
    replays: { entries: { asked: 40, refused: 2 }, levels: [level(0.01, 0), level(0.04, 7)] },
  }
}

const minute = 60_000

/**
 * What a chain of seals since the first of these trades says of them, which is read as sealed in time, late, missed and by
 * hand, in turn; all strategies are halted for a day at the sixth, and a seal spans three hours.
 */
export function aLiveRecord(
  trades: readonly HandTrade[],
  to: string,
): { live: OpenedSignals; seals: SealsRecord } {
  const sealOf = (ms: number): number => Math.ceil(ms / (10 * minute)) * 10 * minute
  const start = trades[0]!.entry_time - 24 * 60 * minute
  const event = (at: number, given: Pick<LiveEvent, 'event' | 'why'>): LiveEvent => ({
    ...{ alias: given.event === 'live' ? 's' : '*', by: 'operator:ann', at, sealed: sealOf(at) },
    ...{ n: 1 + (sealOf(at) - sealOf(start)) / (10 * minute), ...given },
  })
  const halt = trades[5]!.entry_time - 60 * minute
  const signals = trades.flatMap(({ side = 'long', entry_time: timestamp }, i): LiveSignal[] => {
    if (i % 4 === 2 || i === 5) return []
    const sealed = sealOf(timestamp + (i % 4 === 1 ? 90 * minute : 1))
    const by = i % 4 === 3 ? 'operator:bob' : 'strategy'
    const mode = { mode: 'LIVE', action: side, by } as const
    const n = 1 + (sealed - sealOf(start)) / (10 * minute)
    return [{ ...{ n, seq: i + 1, timestamp, sealed, stamped: sealed + 40 * minute }, ...mode }]
  })
  const events = [
    event(start, { event: 'live', why: 'first live day' }),
    event(halt, { event: 'halt', why: 'an <outage> of the exchange' }),
    event(halt + 24 * 60 * minute, { event: 'resume', why: null }),
  ]
  const gap = { from: toIsoInstant(halt), to: toIsoInstant(halt + 180 * minute) }
  const seals = {
    ...{ since: toIsoInstant(sealOf(start) - 10 * minute), opened_to: to, seals: 52_000, gaps: [gap] },
    newest: { n: 52_000, digest: `${'A'.repeat(43)}=` },
    ...{ lost: [], skipped: [{ from: 7, to: 8 }], stamped_by: 'TSA', absent: ['fir', 'yew'] },
    origins: [{ origin: 'highwater/0123456789abcdef/20230505T000000Z', n: 1 }],
  }
  return { live: { bar_minutes: null, signals, events }, seals }
}
