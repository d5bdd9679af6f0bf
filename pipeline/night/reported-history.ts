import { DAY_MS, type EpochDay, toIsoDate } from '#core/calendar.ts'
import { lastDay, type Series } from '#core/figures/series.ts'
import { type ResolvedTrade, resolveTrade, type TradeTerms } from '#core/replay/resolve-trade.ts'
import { commissionRate } from '#core/replay/trade.ts'
import type { Ledger } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { STALE_MS } from './data-window.ts'
import { costsOf, type HistoryOutcome } from './history.ts'
import type { StrategyTask } from './task.ts'

/** Takes daily returns as reported; the ledger beside them serves the trade statistics alone. */
export function reportedHistory(task: StrategyTask, reported: Series, ledger: Ledger | null): HistoryOutcome {
  const daily = cutSeries(reported, task.entry.inception ?? reported.first, task.lastDay)
  const { trades, problems } = resolveAll(task, ledger, daily)
  if (problems.length > 0) return { problems }
  return {
    history: {
      daily,
      daysWithoutBars: [],
      trades,
      marking: 'reported',
      verification: 'unverified',
      notices: noticesOf(task, daily),
    },
  }
}

/** A reporter that fell silent stops no build, because a history may well have ended; but nobody should overlook it. */
function noticesOf({ entry, lastDay: last }: StrategyTask, daily: Series): string[] {
  const end = lastDay(daily)
  const days = last - end
  if (days * DAY_MS <= STALE_MS) return []
  return [`${entry.id}: its reported returns end on ${toIsoDate(end)}, ${days} days before the window`]
}

function cutSeries(series: Series, from: EpochDay, to: EpochDay): Series {
  const begin = Math.max(from - series.first, 0)
  const end = Math.max(Math.min(to - series.first + 1, series.values.length), begin)
  return { ...series, first: series.first + begin, values: series.values.slice(begin, end) }
}

/** The closed trades of the window. Without bars there is no funding; it is in the account returns. */
function resolveAll({ entry, lastDay: last }: StrategyTask, ledger: Ledger | null, daily: Series) {
  const costs = costsOf(entry)
  const terms: TradeTerms = {
    feeRate: commissionRate(costs),
    baseRisk: entry.base_risk_pct,
    maxLeverage: costs.max_leverage,
    funding: { t: new Float64Array(0), paid: new Float64Array(0) },
  }
  const [fromMs, endMs] = [daily.first * DAY_MS, (last + 1) * DAY_MS]
  const trades: ResolvedTrade[] = []
  const problems: Problem[] = []
  ledger?.trades.forEach((trade, i) => {
    if (trade.exit_time === null || trade.exit_time < fromMs || trade.exit_time >= endMs) return
    const resolved = resolveTrade(trade, terms)
    if (typeof resolved !== 'string') trades.push(resolved)
    else problems.push({ file: ledger.path, row: ledger.rows[i]!, message: `the trade ${resolved}` })
  })
  return { trades, problems }
}
