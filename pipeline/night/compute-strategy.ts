import { median } from 'simple-statistics'
import { toIsoDate } from '#core/calendar.ts'
import type { StrategyData, StrategyRecord } from '#core/dataset/snapshot.ts'
import { completeWeeks } from '#core/figures/derived-series.ts'
import { lastDay } from '#core/figures/series.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { History, HistoryOutcome } from './history.ts'
import { ledgerHistory } from './ledger-history.ts'
import { moduleHistory } from './module-history.ts'
import { reportedHistory } from './reported-history.ts'
import type { StrategyOutcome, StrategyTask } from './task.ts'
import { closedTrades, toOutcomes, toTradeColumns } from './trade-columns.ts'

/** One strategy from its source to everything that is published of it. The work of one task on one thread. */
export async function computeStrategy(task: StrategyTask): Promise<StrategyOutcome> {
  const outcome = await makeHistory(task)
  if ('problems' in outcome) return { kind: 'refused', problems: outcome.problems }
  const { history } = outcome
  return { kind: 'computed', data: toStrategyData(task, history), notices: history.notices }
}

function makeHistory(task: StrategyTask): HistoryOutcome | Promise<HistoryOutcome> {
  const { source, id } = task.entry
  if (source.kind === 'returns') return reportedHistory(task, source.daily, source.ledger)
  const { bars } = task
  if (bars === null) throw new Error(`the task of ${id} came without its bars`)
  return source.kind === 'module'
    ? moduleHistory({ ...task, bars }, source.path)
    : ledgerHistory({ ...task, bars }, source)
}

function toStrategyData(task: StrategyTask, history: History): StrategyData {
  const weekly = completeWeeks(history.daily)
  const closed = closedTrades(history.trades)
  const figures = splitFigures(
    strategyFigures({
      daily: history.daily,
      weekly,
      trades: toOutcomes(closed),
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

function toRecord({ entry, service }: StrategyTask, history: History): Omit<StrategyRecord, 'figures'> {
  const { daily } = history
  const leverages = history.trades.flatMap(({ leverage }) => (leverage === null ? [] : [leverage]))
  return {
    id: entry.id,
    name: entry.name,
    blurb: entry.blurb,
    tv_status: entry.tv_status,
    verification_state: history.verification,
    instrument: entry.instrument,
    ccy: entry.ccy,
    denomination: entry.denomination,
    ...service,
    base_risk_pct: entry.base_risk_pct,
    commission_bps_per_side: entry.commission_bps_per_side,
    slippage_ticks: entry.slippage_ticks,
    tick_size: entry.tick_size,
    leverage_typical: leverages.length === 0 ? null : median(leverages),
    leverage_max: leverages.length === 0 ? null : Math.max(...leverages),
    marking: history.marking,
    inception: toIsoDate(daily.first),
    window: { from: toIsoDate(daily.first), to: toIsoDate(lastDay(daily)) },
    days_without_bars: history.daysWithoutBars.length,
  }
}
