import { DAY_MS, type EpochDay, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { lastDay } from '#core/figures/series.ts'
import { type Bars, endOfBars, type Funding, sliceBars } from '#core/replay/bars.ts'
import { firstCompleteDay } from '#core/replay/daily.ts'
import { endOfFunding, FUNDING_JITTER_MS } from '#core/replay/funding-coverage.ts'
import type { BarsFile, SoundParts, StrategyEntry } from '../book/book.ts'
import { counted } from '../book/field.ts'
import type { Problem } from '../book/problem.ts'
import { CATALOGUE_FILE } from '../book/read-catalogue.ts'
import { STALE_MS } from '../book/timeframe.ts'

export type WindowOptions = {
  readonly nowMs: number
  /** The last day of a build of the past; null for a build of now. */
  readonly asOf: EpochDay | null
  readonly allowStale: boolean
}

/** Throws for an as-of day that is not over: its data cannot be whole yet. */
export function assertOver({ asOf, nowMs }: WindowOptions): void {
  if (asOf === null || endOfDay(asOf) <= nowMs) return
  throw new Error(
    `--as-of: expected a day that is over, got ${toIsoDate(asOf)} while it is ${toIsoInstant(nowMs)}: ` +
      `give ${toIsoDate(toEpochDay(nowMs) - 1)} or a day before it`,
  )
}

/** Everything that keeps the window from being built: stale data, and series that begin after it. */
export function windowProblems(book: SoundParts, options: WindowOptions): Problem[] {
  const last = lastDayOf(book, options)
  return [
    ...staleMarkets(book, options),
    ...staleReturns(book, options),
    ...lateBars(book, last),
    ...lateSeries(book, last),
  ]
}

/**
 * The last day of the public window: the last UTC day that is complete in every set of bars and in the
 * funding of every instrument (or, in a book without bars, the latest day reported), no later than `asOf`,
 * less the embargo. Unknown parts of a book end no window. What keeps it from being built is found by `examineBook`.
 */
export function lastDayOf(book: SoundParts, { asOf }: WindowOptions): EpochDay {
  const ends = [
    ...barsInUse(book).map(({ bars }) => lastCompleteDay(bars)),
    ...fundingInUse(book).map(lastFundedDay),
  ]
  const complete = ends.length > 0 ? Math.min(...ends) : lastReportedDay(book)
  return Math.min(complete, asOf ?? complete) - (book.service?.embargo_days ?? 0)
}

/** The last UTC day that the bars cover, gaps aside: the day before the one in which the last bar ends. */
export const lastCompleteDay = (bars: Bars): EpochDay => toEpochDay(endOfBars(bars)) - 1

/** The last UTC day of whose payments none is still to come: one that is due at midnight belongs to the next day. */
const lastFundedDay = (funding: Funding): EpochDay =>
  toEpochDay(endOfFunding(funding) + FUNDING_JITTER_MS) - 1

const endOfDay = (day: EpochDay): number => (day + 1) * DAY_MS

/** Of a book in which every strategy has ended, the last of their ends. */
function lastReportedDay(book: SoundParts): EpochDay {
  const reported = reportedDays(book).map(({ last }) => last)
  return Math.max(
    ...(reported.length > 0 ? reported : book.strategies.flatMap(({ ended }) => ended?.on ?? [])),
  )
}

const reportedDays = ({ strategies }: SoundParts) =>
  strategies.flatMap(({ source, ended }) =>
    source.kind === 'returns' && ended === null ? [{ file: source.path, last: lastDay(source.daily) }] : [],
  )

/** The bars and the funding that a build refuses because they are stale; none if that is allowed. */
export function staleMarkets(sound: SoundParts, options: WindowOptions): Problem[] {
  const bars = [...new Set([...barsInUse(sound), ...barsOfProgram(sound)])].flatMap(({ path, bars }) => {
    const end = endOfBars(bars)
    return findStale(path, end, `the newest bar ends at ${toIsoInstant(end)}`, 'bars', options)
  })
  const funding = fundingInUse(sound).flatMap(({ path, ...file }) => {
    const end = endOfFunding(file)
    const what = `the newest payment is of ${toIsoInstant(file.t.at(-1)!)}, and the next one was due at ${toIsoInstant(end)}`
    return findStale(path, end, what, 'funding', options)
  })
  return [...bars, ...funding]
}

/** Whether these are strategies that have all ended: their data need not go on. */
const areOver = (users: SoundParts['strategies']): boolean =>
  users.length > 0 && users.every(({ ended }) => ended !== null)

const barsInUse = ({ bars, strategies }: SoundParts): BarsFile[] =>
  [...bars].flatMap(([key, file]) => (areOver(strategies.filter(each => each.bars === key)) ? [] : [file]))

/** How long after its close a bar may come. */
const PATIENCE_MS = 600_000

/** Older gaps are not brought any more. */
const RECENT_MS = 7 * DAY_MS

/** What a vendor may still bring to the strategies that go on: bars up to the last midnight, and those in recent gaps. */
export const missingBars = (book: SoundParts, { asOf, nowMs }: WindowOptions): string[] =>
  barsInUse(book).flatMap(({ path, bars, gaps }) => {
    const end = endOfBars(bars)
    const dueMs = (asOf === null ? toEpochDay(nowMs - PATIENCE_MS) : asOf + 1) * DAY_MS
    const spans = gaps.filter(({ to }) => to > end - RECENT_MS).map(({ from, to }) => [from, to] as const)
    if (dueMs > end) spans.push([end, dueMs - bars.timeframeMs])
    return spans.map(([from, to]) => {
      const count = (to - from) / bars.timeframeMs + 1
      return `${path} lacks ${counted(count, 'bar')} from ${toIsoInstant(from)} to ${toIsoInstant(to)}`
    })
  })

const fundingInUse = ({ funding, strategies }: SoundParts) =>
  [...funding].flatMap(([instrument, file]) =>
    areOver(strategies.filter(each => each.bars !== null && each.instrument === instrument)) ? [] : [file],
  )

/** None when its window has ended. */
const barsOfProgram = ({ program }: SoundParts): BarsFile[] =>
  program !== null && lastCompleteDay(program.bars.bars) < program.plan.window.to ? [program.bars] : []

/** A book without bars is as old as the newest day that any of its strategies reports. */
function staleReturns(book: SoundParts, options: WindowOptions): Problem[] {
  const reported = barsInUse(book).length > 0 ? [] : reportedDays(book)
  const newest = Math.max(...reported.map(({ last }) => last))
  const files = reported.filter(({ last }) => last === newest)
  return files.flatMap(({ file, last }) => {
    const end = endOfDay(last)
    return findStale(file, end, `the newest reported day ends at ${toIsoInstant(end)}`, 'returns', options)
  })
}

/** The problem of a file whose data end too long before the end of the as-of day, or before now. */
function findStale(
  file: string,
  endMs: number,
  what: string,
  data: 'bars' | 'funding' | 'returns',
  { asOf, nowMs, allowStale }: WindowOptions,
): Problem[] {
  const dueMs = asOf === null ? nowMs : endOfDay(asOf)
  if (allowStale || dueMs - endMs <= STALE_MS) return []
  const [than, way] =
    asOf === null
      ? ['ago', 'build the past with --as-of DATE']
      : [`before the end of ${toIsoDate(asOf)}`, 'give an earlier --as-of']
  const message =
    `${what}, more than ${STALE_MS / 3_600_000} hours ${than}: bring newer ${data}, or ${way}, ` +
    'or accept them with --allow-stale'
  return [{ file, message }]
}

function lateBars({ bars }: SoundParts, last: EpochDay): Problem[] {
  return [...bars.values()]
    .filter(file => firstCompleteDay(file.bars) > last)
    .map(({ path, bars: late }) => ({
      file: path,
      message:
        `the bars begin at ${toIsoInstant(late.t[0]!)} and cover no whole day up to the last public day ` +
        `${toIsoDate(last)}: bring older bars, or build a later day`,
    }))
}

function lateSeries({ strategies }: SoundParts, last: EpochDay): Problem[] {
  return strategies.flatMap(({ id, inception, source, inceptionPlace }) => {
    const first = inception ?? (source.kind === 'returns' ? source.daily.first : last)
    if (first <= last) return []
    const message =
      `${id}: its series begins on ${toIsoDate(first)}, after the last public day ${toIsoDate(last)}: ` +
      'take it out until then'
    return [{ file: CATALOGUE_FILE, ...inceptionPlace, message }]
  })
}

export const lastDayIn = ({ ended }: Pick<StrategyEntry, 'ended'>, last: EpochDay): EpochDay =>
  Math.min(last, ended?.on ?? last)

/** The bars that had closed by the end of a day: views, not copies. All of them if the day is not known (NaN). */
export const cutBars = (bars: Bars, last: EpochDay): Bars =>
  sliceBars(bars, 0, bars.t.findLastIndex(t => !(t + bars.timeframeMs > endOfDay(last))) + 1)
