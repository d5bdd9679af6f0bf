import { mean, median } from 'simple-statistics'
import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import type { TvStatus } from '#core/contract/payloads/strategy.ts'
import { toPercent, toPublishedSeries } from '#core/contract/rounding.ts'
import {
  type Benchmark,
  type StrategyData,
  type StrategyRecord,
  TRADE_FLOATS,
  type TradeColumns,
} from '#core/dataset/snapshot.ts'
import { SIDES } from '#core/dataset/snapshot-files.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { completeWeeks, lastDay, type Series } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import { endOfBars } from '#core/replay/bars.ts'
import {
  type ChartComparison,
  compareCharting,
  ENOUGH_TRADES,
  FEW_TRADES,
} from '#core/replay/compare-charting.ts'
import { costData, excursionsOf } from '#core/replay/execution.ts'
import { lossesAtStops } from '#core/replay/measures.ts'
import { type ClosedTrade, closedTrades, type ResolvedTrade } from '#core/replay/resolve-trade.ts'
import { EXIT_REASONS, slippagePrice } from '#core/replay/trade.ts'
import { draftRecord } from '../report/data-report.ts'
import { checkRecord } from '../report/record-checks.ts'
import { type History, type HistoryTask, ledgerInput, makeHistory, type Refused } from './histories.ts'

export type StrategyTask = HistoryTask & {
  readonly service: Pick<StrategyRecord, 'engine' | 'data_source' | 'methodology_url'>
  /** Over all bars of the instruments of the book. */
  readonly benchmarks: readonly Benchmark[]
}

/** One strategy from its source to everything that is published of it. The work of one task on one thread. */
export function computeStrategy(task: StrategyTask) {
  const history = makeHistory(task)
  if ('problems' in history) return history
  const charting = checkCharting(task, history)
  const { measured, record } = judgeRecord(task, history)
  const data: StrategyData = { ...toStrategyData(task, history), tv_status: charting.status, measured }
  return { kind: 'computed' as const, data, record, notices: [...history.notices, ...charting.notices] }
}

export type ComputedStrategy = Exclude<ReturnType<typeof computeStrategy>, Refused>

/** What is found out about a history when it is made. */
type Judged = 'tv_status' | 'measured'

function toStrategyData(task: StrategyTask, history: History): Omit<StrategyData, Judged> {
  const daily = toPublishedSeries(history.daily)
  const weekly = toPublishedSeries(completeWeeks(history.daily))
  const closed = closedTrades(history.trades)
  const figures = splitFigures(
    strategyFigures({
      daily,
      weekly,
      // With the return per notional as `/trades` publishes it, so that figures of it can be computed from there.
      trades: closed.map(trade => ({ ...trade, return_pct: toPercent(100 * trade.return_per_notional) })),
      open: history.trades.filter(({ exit_time }) => exit_time === null),
      ...onBars(task, history),
      replays: history.replays && {
        ...history.replays,
        levels: history.replays.levels.map(level => ({ ...level, daily: toPublishedSeries(level.daily) })),
      },
      base_risk_pct: task.entry.base_risk_pct,
      benchmark:
        task.benchmarks.find(({ instrument }) => instrument === task.entry.instrument)?.daily ?? null,
      trials: task.entry.trials,
    }),
  )
  return { ...toRecord(task, history), figures, daily, weekly, trades: toTradeColumns(closed) }
}

/** What bars alone can show of the trades; nothing without them. */
function onBars({ bars, ...task }: StrategyTask, { daily, trades }: History) {
  if (bars === null) return {}
  const input = ledgerInput({ ...task, bars }, trades)
  const costs = costData({ ...input, from: daily.first })
  return {
    costs: costs && { ...costs, doubled: toPublishedSeries(costs.doubled) },
    excursions: excursionsOf(trades, bars, input.baseRisk),
  }
}

function toRecord(
  { entry, service, funding }: StrategyTask,
  history: History,
): Omit<StrategyRecord, 'figures' | Judged> {
  const { daily, differing } = history
  const isStated = history.trades.some(trade => trade.funding !== null)
  const isAsReported = entry.bars === null || (funding === null && isStated)
  const hasLedger = entry.source.kind === 'ledger' || differing !== null
  const leverages = history.trades.flatMap(({ leverage }) => (leverage === null ? [] : [leverage]))
  const leverage_max = leverages.length === 0 ? null : Math.max(...leverages)
  return {
    id: entry.id,
    name: entry.name,
    blurb: entry.blurb,
    verification_state: history.verification,
    instrument: entry.instrument,
    ccy: entry.ccy,
    denomination: entry.denomination,
    ...service,
    engine: entry.engine ?? service.engine,
    base_risk_pct: entry.base_risk_pct,
    commission_bps_per_side: entry.commission_bps_per_side,
    slippage_ticks: entry.slippage_ticks,
    tick_size: entry.tick_size,
    funding: isAsReported ? 'as_reported' : funding === null ? 'none' : 'historical',
    result_tolerance_bps: hasLedger ? entry.result_tolerance_bps : null,
    max_leverage: entry.max_leverage,
    module_version: history.moduleVersion,
    rules_sha256: null, // the files are known where the module ran
    rules_since: null,
    leverage_typical: leverages.length === 0 ? null : median(leverages),
    leverage_max,
    refused_above_risk_pct: refusedAbove(entry, history, leverage_max),
    marking: history.marking,
    inception: toIsoDate(daily.first),
    window: { from: toIsoDate(daily.first), to: toIsoDate(lastDay(daily)) },
    days_without_bars: history.daysWithoutBars.length,
    trials: entry.trials,
    ended: entry.ended && { ...entry.ended, on: toIsoDate(entry.ended.on) },
    idle_since: entry.ended === null ? idleSince(daily, history.trades) : null,
    published_since: null,
    time_stamp: null,
    live: null,
  }
}

/** So long without a trade is unusual, if it is also longer than ever before. */
const IDLE_MS = 90 * DAY_MS

/** The day of the last exit if no trade has followed for unusually long, and no position is open. */
export function idleSince(daily: Series, trades: readonly Pick<ResolvedTrade, 'entry_time' | 'exit_time'>[]) {
  const endMs = (lastDay(daily) + 1) * DAY_MS
  let busyTo = daily.first * DAY_MS
  let longest = IDLE_MS
  for (const { entry_time, exit_time } of trades) {
    longest = Math.max(longest, entry_time - busyTo)
    busyTo = Math.max(busyTo, exit_time ?? endMs)
  }
  return trades.length > 0 && endMs - busyTo > longest ? toIsoDate(toEpochDay(busyTo)) : null
}

/**
 * The risk level at which the largest entry reaches the leverage cap: leverage is proportional to risk. The cap holds
 * at the decision of a module; of a ledger only its fills are known, and of reported returns no entry was sized here.
 */
function refusedAbove(
  { base_risk_pct, max_leverage }: HistoryTask['entry'],
  { marking, leverageAsked }: History,
  leverageMax: number | null,
): number | null {
  const largest = leverageAsked ?? leverageMax
  return marking === 'reported' || largest === null ? null : (base_risk_pct * max_leverage) / largest
}

/** The columns of the snapshot; what is unknown is NaN. */
function toTradeColumns(trades: readonly ClosedTrade[]): TradeColumns {
  const rows = trades.map(trade => ({ ...trade, notional_return: trade.return_per_notional }))
  const floats = TRADE_FLOATS.map(name => [name, Float64Array.from(rows, row => row[name] ?? Number.NaN)])
  /** A ledger may close a trade without saying why: then it was the strategy's own signal. */
  const codeOf = ({ exit_reason }: ClosedTrade): number => EXIT_REASONS.indexOf(exit_reason ?? 'signal')
  return {
    side: { codes: Uint8Array.from(trades, ({ side }) => SIDES.indexOf(side)), words: SIDES },
    exit_reason: { codes: Uint8Array.from(trades, codeOf), words: EXIT_REASONS },
    ...(Object.fromEntries(floats) as Record<(typeof TRADE_FLOATS)[number], Float64Array>), // the same names
  }
}

/** The status by the exports of a charting tool, and notices. Only that of this version counts: a new one is provisional. */
function checkCharting(
  { entry, bars }: Pick<HistoryTask, 'entry' | 'bars'>,
  { trades, moduleVersion }: Pick<History, 'trades' | 'moduleVersion'>,
): { readonly status: TvStatus; readonly notices: readonly string[] } {
  const { id, charting } = entry
  if (bars === null) return { status: 'not_applicable', notices: [] }
  const own = charting.find(({ version }) => version === moduleVersion)
  if (own === undefined) {
    const name = moduleVersion === null ? `${id}.csv` : `${id}.${moduleVersion}.csv`
    const notice = `${id}: provisional, because no export is of this version: export its trades as charting/${name}`
    return { status: 'provisional', notices: charting.length === 0 ? [] : [notice] }
  }
  const comparison = compareCharting(trades, own, {
    timeframeMs: bars.timeframeMs,
    tolerance: entry.tick_size * (1 + TICK_DUST) + slippagePrice(entry),
    endMs: endOfBars(bars),
    zone: entry.chart_zone,
  })
  return { status: comparison.status, notices: [`${id}: ${explain(comparison, own.path, entry.chart_zone)}`] }
}

function explain(comparison: ChartComparison, path: string, zone: string | null) {
  const { status, matched, compared, share, lacks } = comparison
  const covered = `${path}, which covers ${Math.floor(share * 1000) / 10} % of its trades`
  const found = `${status}, because ${matched} of ${compared} trades match ${covered}`
  if (lacks === 'coverage') return `${found}, too few: export all of its trades`
  if (lacks === 'trades')
    return `${found}; ${ENOUGH_TRADES} trades are needed, or ${FEW_TRADES} that are spread over a year`
  const isZoneOpen = status === 'diverged' && zone === null
  return isZoneOpen
    ? `${found}; if the chart has daylight saving time, state its chart_zone in the catalogue`
    : found
}

/** Prices are binary fractions: 100.1 and 100.2 differ by a little more than a tick of 0.1. */
const TICK_DUST = 1e-6

/** What the trades of a history show, and what is implausible in it. */
export function judgeRecord({ entry, bars }: HistoryTask, history: History) {
  const { daily, trades, deviations, differing } = history
  const closed = closedTrades(trades).sort((a, b) => a.exit_time - b.exit_time)
  const stops = lossesAtStops(closed, entry.base_risk_pct, entry)
  const excess = (deviations ?? []).map(each => each.excess * 10_000)
  const largest = excess.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0)
  const stated_costs = (['fees', 'funding'] as const).flatMap(cost => {
    const given = closed.flatMap(trade => trade[cost] ?? [])
    return given.length === 0
      ? []
      : [{ cost, trades: given.length, mean_bps: toPercent(10_000 * mean(given)) }]
  })
  const measured = {
    trades_checked: deviations?.length ?? closed.length,
    mean_deviation_bps: excess.length === 0 ? null : toPercent(mean(excess)),
    largest_deviation_bps: excess.length === 0 ? null : toPercent(largest),
    trades_at_stop: stops.length,
    loss_at_stop: stops.length === 0 ? null : toPercent(median(stops.map(({ loss }) => loss))),
    ...(stated_costs.length === 0 ? {} : { stated_costs }),
  }
  const found = checkRecord({ daily, closed, stops, bars, costs: entry, differing: differing ?? [] })
  return { measured, record: draftRecord(entry, daily, found) }
}
