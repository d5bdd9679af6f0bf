import { median } from 'simple-statistics'
import { toIsoDate } from '#core/calendar.ts'
import { toPercent } from '#core/contract/rounding.ts'
import type { StrategyData, StrategyRecord, TradeColumns } from '#core/dataset/snapshot.ts'
import { EXIT_WORDS, SIDES } from '#core/dataset/snapshot-files.ts'
import { completeWeeks } from '#core/figures/derived-series.ts'
import { lastDay } from '#core/figures/series.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { ResolvedTrade } from '#core/replay/resolve-trade.ts'
import { checkCharting } from './check-charting.ts'
import { type History, type HistoryTask, makeHistory, type Refused } from './histories.ts'

/** What a thread needs to compute one strategy. */
export type StrategyTask = HistoryTask & {
  readonly service: Pick<StrategyRecord, 'engine' | 'data_source' | 'methodology_url'>
}

/** One strategy from its source to everything that is published of it. The work of one task on one thread. */
export function computeStrategy(task: StrategyTask): ComputedStrategy | Refused {
  const outcome = makeHistory(task)
  if ('problems' in outcome) return { kind: 'refused', problems: outcome.problems }
  const { history } = outcome
  const charting = checkCharting(task, history)
  const data = { ...toStrategyData(task, history), tv_status: charting.status }
  return { kind: 'computed', data, notices: [...history.notices, ...charting.notices] }
}

function toStrategyData(task: StrategyTask, history: History): Omit<StrategyData, 'tv_status'> {
  const weekly = completeWeeks(history.daily)
  const closed = closedTrades(history.trades)
  const figures = splitFigures(
    strategyFigures({
      daily: history.daily,
      weekly,
      trades: closed.map(toOutcome),
      open: history.trades.filter(({ exit_time }) => exit_time === null),
      base_risk_pct: task.entry.base_risk_pct,
    }),
  )
  return {
    ...toRecord(task, history),
    figures,
    daily: history.daily,
    weekly,
    trades: toTradeColumns(closed),
  }
}

function toRecord(
  { entry, service, funding }: StrategyTask,
  history: History,
): Omit<StrategyRecord, 'figures' | 'tv_status'> {
  const { daily } = history
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
    funding: entry.bars === null ? 'as_reported' : funding === null ? 'none' : 'historical',
    result_tolerance_bps: entry.source.kind === 'ledger' ? entry.result_tolerance_bps : null,
    module_version: history.moduleVersion,
    leverage_typical: leverages.length === 0 ? null : median(leverages),
    leverage_max,
    refused_above_risk_pct: refusedAbove(entry, history, leverage_max),
    marking: history.marking,
    inception: toIsoDate(daily.first),
    window: { from: toIsoDate(daily.first), to: toIsoDate(lastDay(daily)) },
    days_without_bars: history.daysWithoutBars.length,
  }
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

export type ComputedStrategy = {
  readonly kind: 'computed'
  readonly data: StrategyData
  readonly notices: readonly string[]
}

/** A trade that is over: its exit and its results are known. */
type ClosedTrade = ResolvedTrade &
  Readonly<Record<'exit_time' | 'exit_price' | 'account_return' | 'return_per_notional', number>>

/** The closed trades by entry, then exit time: the order in which they are published. */
const closedTrades = (trades: readonly ResolvedTrade[]): ClosedTrade[] =>
  trades.filter(isClosed).sort((a, b) => a.entry_time - b.entry_time || a.exit_time - b.exit_time)

const isClosed = (trade: ResolvedTrade): trade is ClosedTrade =>
  trade.exit_time !== null &&
  trade.exit_price !== null &&
  trade.account_return !== null &&
  trade.return_per_notional !== null

/** With the return per notional as `/trades` publishes it, so that figures of it can be computed from there. */
const toOutcome = (trade: ClosedTrade) => ({
  ...trade,
  return_pct: toPercent(100 * trade.return_per_notional),
})

/** The columns of the snapshot; what is unknown is NaN. */
function toTradeColumns(trades: readonly ClosedTrade[]): TradeColumns {
  const floats = (at: (trade: ClosedTrade) => number | null): Float64Array =>
    Float64Array.from(trades.map(trade => at(trade) ?? Number.NaN))
  return {
    side: { codes: Uint8Array.from(trades, ({ side }) => SIDES.indexOf(side)), words: SIDES },
    entry_time: floats(trade => trade.entry_time),
    entry_price: floats(trade => trade.entry_price),
    exit_time: floats(trade => trade.exit_time),
    exit_price: floats(trade => trade.exit_price),
    exit_reason: { codes: Uint8Array.from(trades, exitCode), words: EXIT_WORDS },
    notional_return: floats(trade => trade.return_per_notional),
    account_return: floats(trade => trade.account_return),
    leverage: floats(trade => trade.leverage),
    stop: floats(trade => trade.stop),
  }
}

/** A ledger may close a trade without saying why: then it was the strategy's own signal. */
const exitCode = ({ exit_reason }: ClosedTrade): number => EXIT_WORDS.indexOf(exit_reason ?? 'signal')
