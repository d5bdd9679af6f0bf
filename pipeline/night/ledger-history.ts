import { DAY_MS } from '#core/calendar.ts'
import { auditLedger } from '#core/replay/audit.ts'
import type { Bars } from '#core/replay/bars.ts'
import { markLedger } from '#core/replay/marks.ts'
import type { Ledger } from '../book/book.ts'
import { costsOf, type HistoryOutcome, markingOf } from './history.ts'
import type { StrategyTask } from './task.ts'

/** Audits a ledger made elsewhere against the bars, and marks it at their closes. */
export function ledgerHistory(task: StrategyTask & { readonly bars: Bars }, ledger: Ledger): HistoryOutcome {
  const { entry, bars, funding } = task
  const costs = costsOf(entry)
  const allowOverlap = entry.allow_overlap
  const problems = auditLedger({ trades: ledger.trades, bars, costs, allowOverlap })
  if (problems.length > 0)
    return { problems: problems.map(({ index, message }) => at(ledger, index, message)) }
  const marks = markLedger({
    id: entry.id,
    trades: ledger.trades,
    bars,
    funding,
    costs,
    baseRisk: entry.base_risk_pct,
    allowOverlap,
    ...(entry.inception === null ? {} : { from: entry.inception }),
  })
  const inceptionMs = marks.daily.first * DAY_MS
  return {
    history: {
      daily: marks.daily,
      daysWithoutBars: marks.days_without_bars,
      trades: marks.trades.filter(({ exit_time }) => exit_time === null || exit_time >= inceptionMs),
      marking: markingOf(marks.trades),
      verification: 'single_verified',
      notices: noticesOf(entry.id, marks.ruined_on !== null, marks.trades_after_ruin),
    },
  }
}

const at = ({ path, rows }: Ledger, index: number, message: string) => ({
  file: path,
  ...(rows[index] === undefined ? {} : { row: rows[index] }),
  message,
})

const noticesOf = (id: string, isRuined: boolean, left: number): string[] =>
  isRuined ? [`${id}: the account was ruined; ${left} later trades of its ledger did not happen`] : []
