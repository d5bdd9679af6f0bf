import { DAY_MS } from '#core/calendar.ts'
import { auditLedger } from '#core/replay/audit.ts'
import { type Bars, endOfBars } from '#core/replay/bars.ts'
import { sumFunding } from '#core/replay/funding-sums.ts'
import { cutTrade } from '#core/replay/ledger.ts'
import { markLedger } from '#core/replay/marks.ts'
import { resolveTrade, type TradeTerms } from '#core/replay/resolve-trade.ts'
import { commissionRate } from '#core/replay/trade.ts'
import type { Ledger } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { costsOf, type HistoryOutcome, markingOf } from './history.ts'
import type { StrategyTask } from './task.ts'

/** What a ledger is held against. */
type LedgerGround = Pick<StrategyTask, 'entry' | 'funding'> & { readonly bars: Bars }

type LedgerTask = StrategyTask & LedgerGround

/** Audits a ledger made elsewhere against the bars, and marks it at their closes. */
export function ledgerHistory(task: LedgerTask, ledger: Ledger): HistoryOutcome {
  const { entry, bars, funding } = task
  const costs = costsOf(entry)
  const allowOverlap = entry.allow_overlap
  const problems = ledgerProblems(task, ledger)
  if (problems.length > 0) return { problems }
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

/** Every trade that cannot have happened on these bars, or whose size nothing tells, by its row. */
export function ledgerProblems(ground: LedgerGround, ledger: Ledger): Problem[] {
  const { entry, bars } = ground
  const { trades } = ledger
  const faults = [
    ...auditLedger({ trades, bars, costs: costsOf(entry), allowOverlap: entry.allow_overlap }),
    ...findUnsized(ground, ledger),
  ]
  return faults.map(({ index, message }) => at(ledger, index, message))
}

/** Trades whose size in the account nothing tells. The marking refuses the first; here each is told with its row. */
function findUnsized({ entry, bars, funding }: LedgerGround, { trades }: Ledger) {
  const costs = costsOf(entry)
  const terms: TradeTerms = {
    feeRate: commissionRate(costs),
    baseRisk: entry.base_risk_pct,
    maxLeverage: costs.max_leverage,
    funding: sumFunding(bars, funding),
  }
  return trades.flatMap((trade, index) => {
    const known = cutTrade(trade, endOfBars(bars))
    const resolved = known === null ? null : resolveTrade(known, terms)
    return typeof resolved === 'string' ? [{ index, message: `trade ${index} ${resolved}` }] : []
  })
}

/** The sentence names the trade by its index in time; the operator knows it by its row, and by that alone. */
const at = ({ path, rows }: Ledger, index: number, message: string): Problem => ({
  file: path,
  row: rows[index]!,
  message: message.replace(`trade ${index} `, 'the trade '),
})

const noticesOf = (id: string, isRuined: boolean, left: number): string[] =>
  isRuined
    ? [
        `${id}: the account was ruined; ${left} later trade${left === 1 ? '' : 's'} of its ledger did not happen`,
      ]
    : []
