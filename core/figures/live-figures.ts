// What sealed signals say of a record, as docs/decisions/2026-11-27-seals.md defines it. Every input is public.
import { DAY_MS, parseIsoDate, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { allUndefined, dailyPath } from './account-path.ts'
import { type Figure, type FigureBlock, percent, splitFigures, undefinedBecause } from './figure.ts'
import { sampleDeviation } from './moments.ts'
import { partFigures } from './performance.ts'
import { DAYS_PER_YEAR, FEWEST_DAYS, type Series } from './series.ts'
import type { Position } from './trade-statistics.ts'

export const LIVE_EVENTS = ['live', 'ended', 'halt', 'resume'] as const

/** What was opened of a strategy, in the order of the chain. Times are epoch milliseconds; `sealed` is `to` of seal `n`. */
export type OpenedSignals = {
  /** Length of its bars; null without bars. */
  readonly bar_minutes: number | null
  /** Without tests. `by` is `strategy`, `operator:NAME` or `unknown`, `stamped` the first time stamp at or after the seal. */
  readonly signals: readonly (Sealed & {
    readonly seq: number
    readonly action: Position['side'] | 'flat'
    readonly mode: 'LIVE' | 'DRY_RUN'
    readonly timestamp: number
    readonly stamped: number | null
  })[]
  /** `alias` is the strategy, or `*` for all. */
  readonly events: readonly (Sealed & {
    readonly event: (typeof LIVE_EVENTS)[number]
    readonly alias: string
    readonly at: number
    readonly why: string | null
  })[]
}

type Sealed = { readonly n: number; readonly by: string; readonly sealed: number }

export type LiveInput = {
  /** Base returns. */
  readonly daily: Series
  readonly k: number
  /** Closed, by entry and then exit. */
  readonly trades: readonly Position[]
  /** The day since which a position is open at the end, ISO; null if none is. */
  readonly open_since: string | null
  readonly live: OpenedSignals | null
  /** The last day that is opened, ISO. */
  readonly opened_to: string | null
  /** Of the seals up to that day; ISO instants. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[]
}

export const LIVE_WORDS = ['sealed', 'late', 'missed', 'halted', 'by_hand'] as const
export type LiveWord = (typeof LIVE_WORDS)[number]

/** What became of the entry of each trade; null if it is not judged. */
export const liveEntries = (input: Pick<LiveInput, 'trades' | 'live' | 'opened_to'>) =>
  judge({ open_since: null, ...input }).entries.map(({ word }) => word)

/**
 * The figures of `/v1/strategies/{sid}/live`, not rounded. `as_sealed` and the tracking error are undefined without any trade
 * (`no_trades`), both and `modelled` without live days, Sharpe ratios and the tracking error below 90 of them (`too_few_points`).
 */
export function liveFigures(input: LiveInput): FigureBlock {
  const { live, trades, open_since, gaps } = input
  const judged = judge(input)
  const { periods, entries, unmatched } = judged
  const words = entries.flatMap(({ word }) => word ?? [])
  const days = liveDays(input, judged)
  const end = periods.at(-1)?.to ?? Infinity
  const signals = entrySignals(live)
  return splitFigures({
    live_since: periods.length === 0 ? null : toIsoInstant(periods[0]!.from),
    ended_on: end === Infinity ? null : toIsoDate(toEpochDay(end)),
    days: {
      live: days.length,
      sealed: days.filter(({ day }) => !gaps.some(gap => touches(gap, day))).length,
      gaps: gaps.filter(gap => days.some(({ day }) => touches(gap, day))).length,
    },
    entries: {
      judged: words.length,
      ...Object.fromEntries(LIVE_WORDS.map(each => [each, words.filter(word => word === each).length])),
      unmatched,
    },
    delay_seconds: {
      claimed: spread(signals.map(signal => signal.sealed - signal.at)),
      stamped: spread(signals.flatMap(({ stamped, at }) => (stamped === null ? [] : stamped - at))),
    },
    ...asSealed(days, input.k, trades.length > 0 || open_since !== null),
  })
}

/** The paths are of the live days one after the other, whatever lies between two periods. */
function asSealed(days: readonly LiveDay[], k: number, isTraded: boolean) {
  const path = (values: Float64Array) => partFigures(dailyPath({ period: 'daily', first: 0, values }, k))
  const modelled = Float64Array.from(days, ({ ret }) => ret)
  const sealed = Float64Array.from(days, ({ ret, isLeftOut }) => (isLeftOut ? 0 : ret))
  const off = sampleDeviation(modelled.map((value, i) => value - sealed[i]!)) * Math.sqrt(DAYS_PER_YEAR)
  const annual = days.length < FEWEST_DAYS ? undefinedBecause('too_few_points') : percent(k * off)
  return {
    modelled: path(modelled),
    as_sealed: isTraded ? path(sealed) : allUndefined(path(sealed), 'no_trades'),
    days_left_out: days.filter(({ isLeftOut }) => isLeftOut).length,
    days_shared: days.filter(({ isShared }) => isShared).length,
    tracking_error_pct: isTraded ? annual : undefinedBecause('no_trades'),
  }
}

const IN_TIME_MS = 15 * 60_000

type Period = { readonly from: number; to: number }

/** `held`: days on which a position was open, both included, and whether its entry was sealed in time, by the strategy or by hand. */
function judge({ trades, live, open_since, opened_to }: Omit<LiveInput, 'daily' | 'k' | 'gaps'>) {
  const periods = livePeriods(live)
  const end = opened_to === null ? -Infinity : (parseIsoDate(opened_to)! + 1) * DAY_MS
  const unused = new Set(entrySignals(live))
  const take = (from: number, to: number, side: string | null) => {
    for (const each of unused) {
      if (each.at < from - IN_TIME_MS || each.at >= to || each.action !== (side ?? each.action)) continue
      unused.delete(each)
      return each
    }
    return null
  }
  const entries = trades.map(({ side, entry_time, exit_time }) => {
    const deadline = deadlineOf(entry_time, live)
    const until = Math.min(Math.max(exit_time, entry_time + 1), entry_time + DAY_MS) // a stop may end a trade at once
    const signal = take(entry_time, until, side)
    const isInTime = signal !== null && signal.sealed <= deadline
    const isJudged = deadline < end && periods.some(period => isInside(period, entry_time))
    const found = signal?.by.startsWith('operator:') ? 'by_hand' : isInTime ? 'sealed' : 'late'
    const missing = isHalted(live, entry_time, deadline) ? 'halted' : 'missed'
    const word: LiveWord = signal === null ? missing : found
    const days = { from: toEpochDay(entry_time), to: toEpochDay(exit_time) } // the costs of an exit are of its day, too
    return { ...days, isInTime, word: isJudged ? word : null }
  })
  const held: Pick<(typeof entries)[number], 'from' | 'to' | 'isInTime'>[] = [...entries]
  if (open_since !== null) {
    const from = parseIsoDate(open_since)!
    const over = (from + 1) * DAY_MS
    const sealed = take(from * DAY_MS, over, null)?.sealed ?? Infinity
    held.push({ from, to: Infinity, isInTime: sealed <= over + IN_TIME_MS })
  }
  return { periods, entries, unmatched: unused.size, held }
}

/** Nobody decides in the future: a time after that of the seal is that of the seal. */
const entrySignals = (live: OpenedSignals | null) =>
  (live?.signals ?? [])
    .filter(({ action, mode }) => action !== 'flat' && mode === 'LIVE')
    .map(signal => ({ ...signal, at: Math.min(signal.timestamp, signal.sealed) }))

const isInside = ({ from, to }: Period, ms: number): boolean => from <= ms && ms < to

/** From a seal with an order to go live, or a live entry, to the next with an end; in a seal signals come before events. */
function livePeriods(live: OpenedSignals | null): readonly Period[] {
  const turns = [
    ...entrySignals(live).map(({ sealed }) => ({ sealed, event: 'live' })),
    ...(live?.events ?? []),
  ]
  const periods: Period[] = []
  for (const { event, sealed } of turns.sort((a, b) => a.sealed - b.sealed)) {
    const last = periods.at(-1)
    const isLive = last?.to === Infinity
    if (event === 'live' && !isLive) periods.push({ from: sealed, to: Infinity })
    if (event === 'ended' && isLive) last.to = sealed
  }
  return periods
}

/** Bars divide the UTC day. */
function deadlineOf(entryMs: number, live: OpenedSignals | null): number {
  const barMs = (live?.bar_minutes ?? Infinity) * 60_000
  return Math.min(entryMs + IN_TIME_MS, (Math.floor(entryMs / barMs) + 1) * barMs)
}

/** Whether a halt was in force at the fill and sealed in time; those of the strategy and of all are independent. */
function isHalted(live: OpenedSignals | null, entryMs: number, deadline: number): boolean {
  const halted = new Set<string>()
  for (const { event, alias, at, sealed } of live?.events ?? []) {
    if (event === 'halt' && Math.min(at, sealed) <= entryMs && sealed <= deadline) halted.add(alias)
    if (event === 'resume' && Math.min(at, sealed) < entryMs) halted.delete(alias)
  }
  return halted.size > 0
}

type LiveDay = ReturnType<typeof liveDays>[number]

/** The opened days of the series at whose beginning the strategy was live. */
function liveDays({ daily, opened_to }: LiveInput, { periods, held }: ReturnType<typeof judge>) {
  const last = opened_to === null ? -Infinity : parseIsoDate(opened_to)!
  return Array.from(daily.values, (ret, i) => ({ day: daily.first + i, ret }))
    .filter(({ day }) => day <= last && periods.some(period => isInside(period, day * DAY_MS)))
    .map(({ day, ret }) => {
      const open = held.filter(({ from, to }) => from <= day && day <= to)
      const inTime = open.filter(({ isInTime }) => isInTime).length
      const hasOthers = inTime < open.length
      return { day, ret, isLeftOut: hasOthers && inTime === 0, isShared: hasOthers && inTime > 0 }
    })
}

const touches = ({ from, to }: LiveInput['gaps'][number], day: number): boolean =>
  Date.parse(from) < (day + 1) * DAY_MS && Date.parse(to) > day * DAY_MS

/** Seconds, by nearest rank: the smallest value that so many do not exceed. */
function spread(ms: readonly number[]) {
  const sorted = ms.toSorted((a, b) => a - b)
  const rank = (p: number): Figure =>
    ms.length === 0 ? undefinedBecause('too_few_points') : sorted[Math.ceil(p * ms.length) - 1]! / 1000
  return { count: ms.length, median: rank(0.5), p99: rank(0.99) }
}
