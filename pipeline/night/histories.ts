import { max } from 'simple-statistics'
import { DAY_MS, type EpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { VerificationState } from '#core/contract/payloads/strategy.ts'
import type { Marking } from '#core/dataset/snapshot.ts'
import type { ReplayData } from '#core/figures/execution.ts'
import { lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { auditLedger, isRecomputable, measureResults } from '#core/replay/audit.ts'
import { type Bars, endOfBars, type Funding } from '#core/replay/bars.ts'
import { compareReported, type ReportedSpan } from '#core/replay/compare-reported.ts'
import { leverageAskedBy } from '#core/replay/events.ts'
import {
  type FundingGap,
  unfundedShare,
  unfundedSpanOf,
  unfundedSpans,
} from '#core/replay/funding-coverage.ts'
import { cutTrade, endOf } from '#core/replay/ledger.ts'
import { compareMarks, DUAL_MARKS_BOUND, type LedgerMarks, markLedger } from '#core/replay/marks.ts'
import { type Deviation, describeBias } from '#core/replay/measures.ts'
import type { Replay } from '#core/replay/replay.ts'
import { type ResolvedTrade, resolveTrade, sumFunding, type TradeTerms } from '#core/replay/resolve-trade.ts'
import { commissionRate, type Trade } from '#core/replay/trade.ts'
import type { Ledger, StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { STALE_MS } from '../book/timeframe.ts'
import { entriesOf, type ModuleRun } from '../modules/tasks.ts'

/** What a thread needs to make the history of one strategy. Bars are in shared memory, so not copied. */
export type HistoryTask = {
  readonly entry: StrategyEntry
  /** Cut at the end of the last public day; null for reported returns. */
  readonly bars: Bars | null
  readonly funding: Funding | null
  readonly lastDay: EpochDay
  /** The replay of a module; null for every other source. */
  readonly run: ModuleRun | null
}

export type History = {
  readonly daily: Series
  readonly daysWithoutBars: readonly EpochDay[]
  /** By entry, then exit; one that is open at the end has no exit. */
  readonly trades: readonly ResolvedTrade[]
  readonly marking: Marking
  readonly verification: VerificationState
  /** Of the results of a ledger that were recomputed; null for those of a module. */
  readonly deviations: readonly Deviation[] | null
  /** Null without a ledger beside reported returns. */
  readonly differing: readonly ReportedSpan[] | null
  readonly moduleVersion: string | null
  /** The largest leverage that a decision of a module asked for, refused ones included; null without decisions. */
  readonly leverageAsked: number | null
  /** Null without a module. */
  readonly replays: ReplayData | null
  /** Notices for the operator that are not errors: refused entries, a liquidation. */
  readonly notices: readonly string[]
}

/** What only some sources have. */
const NOTHING = { deviations: null, differing: null, moduleVersion: null, leverageAsked: null, replays: null }

/** Nothing was computed, and why. */
export type Refused = {
  readonly kind: 'refused'
  readonly problems: readonly Problem[]
  /** What the proof of its module said before. */
  readonly notices?: readonly string[]
}

/** Makes the history of a strategy from its source; of a module, from its replay. */
export function makeHistory(task: HistoryTask): History | Refused {
  const { source, id } = task.entry
  if (source.kind === 'returns') return reportedHistory(task, source.daily, source.ledger)
  const { bars, run } = task
  if (bars === null) throw new Error(`the task of ${id} came without its bars`)
  if (source.kind === 'ledger') return ledgerHistory({ ...task, bars }, source)
  if (run === null) throw new Error(`the task of ${id} came without its replay`)
  return moduleHistory({ ...task, bars }, run)
}

const termsOf = (entry: StrategyEntry, funding: TradeTerms['funding']): TradeTerms => ({
  feeRate: commissionRate(entry),
  baseRisk: entry.base_risk_pct,
  maxLeverage: entry.max_leverage,
  funding,
})

/** A trade of unknown leverage is booked whole at its exit, and makes the series one that is not marked daily. */
const markingOf = (trades: readonly ResolvedTrade[]): Marking =>
  trades.some(({ leverage }) => leverage === null) ? 'realised' : 'marked'

type BarsTask = HistoryTask & { readonly bars: Bars }

type LedgerGround = Pick<BarsTask, 'entry' | 'funding' | 'bars'>

/** Marks the ledger of a replay a second time, without the engine: the two must agree. */
function moduleHistory(task: BarsTask, run: ModuleRun): History | Refused {
  const { entry } = task
  const { replayed, events, version, levels } = run
  const file = `strategies/${entry.id}.ts`
  // The second computation, of ledger, closes and funding alone.
  const input = ledgerInput(task, replayed.trades)
  const marked = markLedger({ ...input, from: replayed.daily.first })
  const own = auditLedger({ ...input, resultTolerance: 0 })
  const problems = [
    ...own.map(({ message }) => `the engine's own ledger: ${message}`),
    ...disagreement(replayed, marked),
  ]
  if (problems.length > 0) return { kind: 'refused', problems: problems.map(message => ({ file, message })) }
  const asked = events.flatMap(event => leverageAskedBy(event) ?? [])
  const isChecked = marked.trades.some(({ exit_time }) => exit_time !== null)
  const unfunded = unfundedShare(replayed.trades, unfundedSpans(task.funding), endOfBars(task.bars))
  const depth = unfunded > MAX_UNFUNDED_SHARE ? 'single_verified' : 'dual_verified'
  return {
    ...NOTHING,
    daily: replayed.daily,
    daysWithoutBars: replayed.days_without_bars,
    trades: marked.trades,
    marking: markingOf(marked.trades),
    verification: isChecked ? depth : 'unverified',
    moduleVersion: version,
    leverageAsked: asked.length === 0 ? null : max(asked),
    replays: { entries: entriesOf(run), levels },
    notices: moduleNotices(entry, replayed.state, unfunded),
  }
}

/** What marks and audits trades. */
export const ledgerInput = <Row extends Trade>(
  { entry, bars, funding }: LedgerGround,
  trades: readonly Row[],
) => ({
  ...{ id: entry.id, trades, bars, funding, costs: entry },
  baseRisk: entry.base_risk_pct,
  resultTolerance: toleranceOf(entry),
})

function disagreement(replayed: Replay, marked: LedgerMarks): string[] {
  const { agree, worst_day, worst_difference } = compareMarks(replayed.daily, marked.daily)
  if (agree) return []
  const day = worst_day === null ? 'no day' : toIsoDate(worst_day)
  return [
    `verification failed: the engine's daily marks and those made from its ledger differ by ${worst_difference} on ` +
      `${day}, more than ${DUAL_MARKS_BOUND}: report this as a fault of the engine`,
  ]
}

/** What holds of a strategy, of what may be said of it. */
const noticesOf = (id: string, ...notices: readonly (readonly [holds: boolean, text: string])[]): string[] =>
  notices.flatMap(([holds, text]) => (holds ? [`${id}: ${text}`] : []))

/** The share of its position time that a module may hold where funding is unknown, and be `dual_verified`. */
const MAX_UNFUNDED_SHARE = 0.01

const moduleNotices = (
  { id, instrument }: StrategyEntry,
  { dead, entries_refused, decisions_ignored }: Replay['state'],
  unfunded: number,
): string[] =>
  noticesOf(
    id,
    [dead, 'the account was liquidated; its returns are 0 from that day'],
    [entries_refused > 0, `entries refused because they were over the leverage cap: ${entries_refused}`],
    [
      decisions_ignored > 0,
      `decisions ignored because the position was already as they asked: ${decisions_ignored}; a second entry neither adds to a position nor moves its stop`,
    ],
    [
      unfunded > MAX_UNFUNDED_SHARE,
      `single_verified, because ${Number((unfunded * 100).toPrecision(3))} % of the time of its positions is where ` +
        `the funding of ${instrument} is unknown, more than ${MAX_UNFUNDED_SHARE * 100} %: add the payments`,
    ],
  )

/** Audits a ledger against the bars, and marks it at their closes. It is verified only if every result could be recomputed. */
function ledgerHistory(task: BarsTask, ledger: Ledger): History | Refused {
  const { entry } = task
  const problems = ledgerProblems(task, ledger)
  if (problems.length > 0) return { kind: 'refused', problems }
  const marks = markLedger({ ...ledgerInput(task, ledger.trades), from: entry.inception })
  const inceptionMs = marks.daily.first * DAY_MS
  const isPublic = ({ exit_time }: Trade): boolean => exit_time === null || exit_time >= inceptionMs
  const claims = ledger.trades.filter(trade => !isRecomputable(trade)).length
  const spans = unfundedSpans(task.funding)
  // Where payments are missing while trades are open: one span for each such trade.
  const unfunded = ledger.trades.flatMap(trade => unfundedSpanOf(trade, spans) ?? [])
  const deviations = measureResults(ledgerInput(task, ledger.trades.filter(isPublic)))
  const isChecked = claims + unfunded.length === 0 && deviations.length > 0
  return {
    ...NOTHING,
    deviations,
    daily: marks.daily,
    daysWithoutBars: marks.days_without_bars,
    trades: marks.trades.filter(isPublic),
    marking: markingOf(marks.trades),
    verification: isChecked ? 'single_verified' : 'unverified',
    notices: ledgerNotices(entry, marks, { trades: ledger.trades.length, claims, unfunded }),
  }
}

/** Every trade that cannot have happened on these bars, or whose size is unknown, by its row. */
export function ledgerProblems(ground: LedgerGround, ledger: Ledger): Problem[] {
  const input = ledgerInput(ground, ledger.trades)
  const faults = [...auditLedger(input), ...findUnsized(ground, ledger)]
  const bias = faults.length > 0 ? null : describeBias(measureResults(input), input.resultTolerance)
  return [
    ...faults.map(({ index, message }) => at(ledger, index, message)),
    ...(bias === null ? [] : [{ file: ledger.path, message: bias }]),
  ]
}

const toleranceOf = ({ result_tolerance_bps }: StrategyEntry): number => result_tolerance_bps / 10_000

/** Trades whose size in the account is unknown. Marking refuses the first; here each is reported. */
function findUnsized({ entry, bars, funding }: LedgerGround, { trades }: Ledger) {
  const terms = termsOf(entry, sumFunding(bars, funding))
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

function ledgerNotices(
  { id, instrument }: StrategyEntry,
  { ruined_on, trades_after_ruin: left }: LedgerMarks,
  of: { readonly trades: number; readonly claims: number; readonly unfunded: readonly FundingGap[] },
): string[] {
  const [first] = of.unfunded
  return noticesOf(
    id,
    [
      ruined_on !== null,
      `the account was ruined; ${left} later trade${left === 1 ? '' : 's'} of its ledger did not happen`,
    ],
    [
      of.claims > 0,
      `unverified, because ${of.claims} of its ${of.trades} trades lack leverage or account_return and their results ` +
        'cannot be recomputed: add both columns',
    ],
    [
      first !== undefined,
      `unverified, because ${of.unfunded.length} of its ${of.trades} trades are open where the funding of ${instrument} is unknown, ` +
        `the first ${first && placeOf(first)}, and their results cannot be recomputed: add the payments, or the column funding`,
    ],
  )
}

const placeOf = ({ from, to }: FundingGap): string =>
  Number.isFinite(from)
    ? `in its gap from ${toIsoInstant(from)} to ${toIsoInstant(to)}`
    : `before its first payments, up to ${toIsoInstant(to)}`

/** Takes daily returns as reported; the ledger beside them serves the trade statistics alone. */
function reportedHistory(task: HistoryTask, reported: Series, ledger: Ledger | null): History {
  const { entry } = task
  const daily = sliceSeries(reported, entry.inception, task.lastDay)
  // Without bars there is no funding; it is in the account returns.
  const terms = termsOf(entry, { t: new Float64Array(0), paid: new Float64Array(0) })
  const trades = ledger === null ? [] : resolveReported(task, ledger, terms, daily)
  return {
    ...NOTHING,
    deviations: [],
    differing: ledger && compareReported(daily, trades, terms, toleranceOf(entry)),
    daily,
    daysWithoutBars: [],
    trades,
    marking: 'reported',
    verification: 'unverified',
    notices: reportNotices(task, daily),
  }
}

/** Returns that end early do not stop a build, because a history may have ended; they give a notice. */
function reportNotices({ entry, lastDay: last }: HistoryTask, daily: Series): string[] {
  const end = lastDay(daily)
  const days = last - end
  if (days * DAY_MS <= STALE_MS) return []
  return [`${entry.id}: its reported returns end on ${toIsoDate(end)}, ${days} days before the window`]
}

/** The trades of the window; one that exits after it is open. The reader has checked that each closed one has its account return. */
const resolveReported = (task: HistoryTask, { trades }: Ledger, terms: TradeTerms, { first }: Series) =>
  trades.flatMap(trade => {
    const known = cutTrade(trade, (task.lastDay + 1) * DAY_MS)
    if (known === null || endOf(known) < first * DAY_MS) return []
    const resolved = resolveTrade(known, terms)
    if (typeof resolved === 'string') throw new Error(`${task.entry.id}: a trade ${resolved}`)
    return resolved
  })
