import { basename } from 'node:path'
import { toIsoDate } from '#core/calendar.ts'
import { auditLedger } from '#core/replay/audit.ts'
import type { Bars } from '#core/replay/bars.ts'
import { compareMarks, DUAL_MARKS_BOUND, type LedgerMarks, markLedger } from '#core/replay/marks.ts'
import { type Replay, replay } from '#core/replay/replay.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { costsOf, type HistoryOutcome, markingOf } from './history.ts'
import { describeMismatch, importStrategy } from './load-strategy.ts'
import type { StrategyTask } from './task.ts'

type ModuleTask = StrategyTask & { readonly bars: Bars }

/** Replays a strategy module, and marks its ledger a second time without the engine: the two must agree. */
export async function moduleHistory(task: ModuleTask, path: string): Promise<HistoryOutcome> {
  const { entry } = task
  const strategy = await importStrategy(path)
  const file = `strategies/${basename(path)}`
  const faults = describeMismatch(strategy, entry)
  if (faults.length > 0) return { problems: faults.map(message => ({ file, message })) }
  const replayed = replayModule(task, strategy)
  const marked = markAgain(task, replayed)
  const problems = [...auditOwnLedger(replayed, task), ...disagreement(replayed, marked)]
  if (problems.length > 0) return { problems: problems.map(message => ({ file, message })) }
  return {
    history: {
      daily: replayed.daily,
      daysWithoutBars: replayed.days_without_bars,
      trades: marked.trades,
      marking: markingOf(marked.trades),
      verification: 'dual_verified',
      notices: noticesOf(entry.id, replayed),
    },
  }
}

function replayModule({ entry, bars, funding, pulse }: ModuleTask, strategy: Strategy): Replay<unknown> {
  const inception = entry.inception === null ? {} : { from: entry.inception }
  const onProgress = () => void Atomics.add(pulse, 0, 1)
  return replay({ strategy, bars, funding, costs: costsOf(entry), onProgress, ...inception })
}

/** The second computation, of ledger, closes and funding alone. */
const markAgain = ({ entry, bars, funding }: ModuleTask, { trades, daily }: Replay<unknown>): LedgerMarks =>
  markLedger({
    id: entry.id,
    trades,
    bars,
    funding,
    costs: costsOf(entry),
    baseRisk: entry.base_risk_pct,
    from: daily.first,
  })

const auditOwnLedger = ({ trades }: Replay<unknown>, { bars, entry }: ModuleTask): string[] =>
  auditLedger({ trades, bars, costs: costsOf(entry) }).map(
    ({ message }) => `the engine's own ledger: ${message}`,
  )

function disagreement(replayed: Replay<unknown>, marked: LedgerMarks): string[] {
  const { agree, worst_day, worst_difference } = compareMarks(replayed.daily, marked.daily)
  if (agree) return []
  const day = worst_day === null ? 'no day' : toIsoDate(worst_day)
  return [
    `verification failed: the engine's daily marks and those made from its ledger differ by ${worst_difference} on ` +
      `${day}, more than ${DUAL_MARKS_BOUND}: report this as a fault of the engine`,
  ]
}

const noticesOf = (id: string, { state }: Replay<unknown>): string[] => [
  ...(state.dead ? [`${id}: the account was ruined; its returns are 0 from then on`] : []),
  ...(state.entries_refused > 0
    ? [`${id}: entries refused because they were over the leverage cap: ${state.entries_refused}`]
    : []),
]
