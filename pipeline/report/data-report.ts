import { DAY_MS, type EpochDay, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { AcceptedFinding } from '#core/contract/payloads/dataset.ts'
import type { Series } from '#core/figures/series.ts'
import { slippagePrice } from '#core/replay/trade.ts'
import { type SoundParts, type StrategyEntry, sourceFile } from '../book/book.ts'
import { counted } from '../book/field.ts'
import type { Problem } from '../book/problem.ts'
import { CATALOGUE_FILE } from '../book/read-catalogue.ts'
import { spellStated } from '../import/repair.ts'
import { type Acceptance, assignAcceptances, lastDayOf, spellAcceptance } from './accept.ts'
import { checkBars } from './bar-checks.ts'
import { type DataReport, type Finding, type Found, isOfRecord, type SubjectReport } from './finding.ts'
import { checkReturns, startsOf } from './return-checks.ts'
import { inFuture, runChecks } from './run-checks.ts'
import { checkTrades } from './trade-checks.ts'

/** What the data of a book cover, and everything that was found in them, instrument by instrument and strategy by strategy. */
export function reportData(sound: SoundParts, nowMs: number): DataReport {
  const drafts = [
    ...draftBars(sound, nowMs),
    ...draftFunding(sound, nowMs),
    ...sound.strategies.flatMap(entry => draftStrategy(entry, sound, nowMs)),
  ]
  return drafts.map(draft => toReport(draft, sound))
}

export const draftRecord = (entry: StrategyEntry, daily: Series, found: readonly Found[]): Draft => ({
  ...{ subject: entry.id, file: sourceFile(entry), noun: 'days', found },
  times: found.length === 0 ? [] : startsOf(daily),
})

/** Judges what was found in records: a report for each that has a finding, and by strategy what keeps it from being published. */
export function judgeRecords(drafts: readonly Draft[], sound: SoundParts) {
  const found = drafts.filter(draft => draft.found.length > 0)
  const records = found.map(draft => toReport(draft, { ...sound, imports: {} }))
  const ids = new Set(drafts.map(({ subject }) => subject))
  const accept = sound.accept.filter(entry => isOfRecord(entry) && ids.has(entry.of))
  const refused = new Map(records.map(each => [each.subject, refusals([each], accept)]))
  return { records, refused, unused: unusedAcceptances(accept, records) }
}

/** A report whose findings are not judged yet. */
type Draft = Pick<SubjectReport, 'subject' | 'file' | 'noun'> & {
  /** The time of each bar, payment, trade or day. */
  readonly times: ArrayLike<number>
  readonly found: readonly Found[]
  /** The row of each index; without it the file is in order, as every other table of the book. */
  readonly rows?: readonly number[]
}

function toReport({ times, found, rows, ...draft }: Draft, sound: SoundParts): SubjectReport {
  const { subject, file, noun } = draft
  const [from = null, to = null] = times.length === 0 ? [] : [times[0]!, times[times.length - 1]!]
  const plain = file.replace(/\.gz$/, '')
  const stated = sound.imports[plain] ?? sound.imports[`${plain}.gz`]
  const notes = stated === undefined ? [] : [noteOf(stated, from ?? 0)]
  const judged = [...notes, ...found].map(({ at, ...each }): Finding => {
    const places = at.map(i => rows?.[i] ?? i + 2) // the header is row 1
    return { ...each, subject, file, rows: places, accepted: each.code === STATED ? BY_PUBLISHER : null }
  })
  const accepted = assignAcceptances({ to, findings: judged }, sound.accept)
  const findings = judged.map(each => ({ ...each, accepted: accepted.get(each)?.reason ?? each.accepted }))
  const users = sound.strategies.filter(
    ({ id, bars, instrument }) =>
      [id, bars].includes(subject) || (noun === 'payments' && instrument === subject),
  )
  return { ...draft, count: times.length, from, to, strategies: users.map(({ id }) => id), findings }
}

/** What a publisher states about a file is published as what he accepts: it holds for all of it, from its first row on. */
const STATED = 'stated'
const BY_PUBLISHER = 'stated by the publisher at the import'

function noteOf(stated: string, from: number): Found {
  const span = { from, to: from, at: [], count: 1 }
  return { code: STATED, severity: 'note', ...span, what: spellStated(stated), fix: null }
}

/** Everything that keeps a book from being published; an accepted finding does not. */
export const refusals = (report: DataReport, entries: readonly Acceptance[]): Problem[] =>
  report
    .flatMap(({ findings }) => findings)
    .filter(({ severity, accepted }) => severity !== 'note' && accepted === null)
    .map(finding => toProblem(finding, entries))

function toProblem(finding: Finding, entries: readonly Acceptance[]): Problem {
  const { file, rows, code, severity, subject, what, fix } = finding
  const more =
    rows.length > 1 ? ` (rows ${rows.join(', ')}${finding.count > rows.length ? ', ...' : ''})` : ''
  const [from, to] = [toEpochDay(finding.from), toEpochDay(finding.to)]
  // Why the entries that name days of the finding do not accept it.
  const short = entries
    .filter(entry => entry.finding === code && entry.of === subject && entry.from <= to && from <= entry.to)
    .map(
      entry =>
        `; the entry ${spellDays(entry)} accepts a count of ${entry.count} within these days, and this finding has ${finding.count} ${spellDays({ from, to })}`,
    )
  const accept =
    severity === 'serious'
      ? `${short.join('')}; or, if the data are right, accept: [${spellAcceptance(finding)}]`
      : ''
  const message = `${code} of ${subject}: ${what}${more}${fix === null ? '' : `: ${fix}`}${accept}`
  return { file, ...(rows[0] === undefined ? {} : { row: rows[0] }), message }
}

const spellDays = ({ from, to }: Readonly<Record<'from' | 'to', EpochDay>>): string =>
  `from ${toIsoDate(from)} to ${toIsoDate(to)}`

/** What keeps a book from being published whose strategy decided live without the bars that opened then. */
export const judgeLiveGap = (entry: StrategyEntry, opens: Float64Array, sound: SoundParts): Problem[] => {
  const gap = { from: toEpochDay(opens[0]!), to: toEpochDay(opens.at(-1)!), count: opens.length }
  return refusals([toReport(draftLiveGaps(entry, [gap], sound), { ...sound, imports: {} })], sound.accept)
}

type LiveGap = Pick<Acceptance, 'from' | 'to' | 'count'>

const draftLiveGaps = (entry: StrategyEntry, gaps: readonly LiveGap[], { bars }: SoundParts): Draft => ({
  ...{ subject: entry.id, file: sourceFile(entry), noun: 'bars' },
  times: bars.get(entry.bars!)?.bars.t ?? [],
  found: gaps.map(({ from, to, count }) => ({
    ...{ from: from * DAY_MS, to: to * DAY_MS, count, code: 'live_gap', severity: 'serious', at: [] },
    what: `its live signals were decided without ${counted(count, 'bar')}, which came later, and differ from this history since ${toIsoDate(from)}`,
    fix: 'leave these bars out, or raise the version of the strategy',
  })),
})

/** What is published of the accepted findings of a window that ends at an instant. */
export const acceptedFindings = (report: DataReport, endMs: number): AcceptedFinding[] =>
  report.flatMap(({ findings, strategies }) =>
    findings.flatMap(({ code, subject, from, to, count, what, accepted: reason }) => {
      if (reason === null || from >= endMs) return []
      const span = { from: toIsoInstant(from), to: toIsoInstant(to) }
      return [{ finding: code, of: subject, ...span, count, what, reason, strategies }]
    }),
  )

const problemOf = (message: string): Problem => ({ file: CATALOGUE_FILE, message: `accept: ${message}` })

/** A warning for each entry of `accept` that no finding needs. */
export const unusedAcceptances = (entries: readonly Acceptance[], report: DataReport): Problem[] => {
  const used = new Set(report.flatMap(each => [...assignAcceptances(each, entries).values()]))
  return entries
    .filter(entry => !used.has(entry))
    .map(entry => problemOf(`no ${entry.finding} of ${entry.of} ${spellDays(entry)}: remove the entry`))
}

/** A problem for each entry that ends after its data: it would accept errors that are still to come. */
export const lateAcceptances = (entries: readonly Acceptance[], report: DataReport): Problem[] =>
  report.flatMap(each => {
    const last = lastDayOf(each)
    const late = entries.filter(({ of, to }) => of === each.subject && to > last)
    return late.map(({ finding, of, to }) =>
      problemOf(
        `expected \`to\` of the ${finding} of ${of} up to ${toIsoDate(last)}, the last day of the data, got ${toIsoDate(to)}`,
      ),
    )
  })

/** Every set of bars; those of the program are among them or not. */
function draftBars({ bars, program }: SoundParts, nowMs: number): Draft[] {
  const isApart = program !== null && ![...bars.values()].includes(program.bars)
  const own = isApart ? [[`${program.plan.instrument}/${program.bars.timeframe}`, program.bars] as const] : []
  return [...bars, ...own].map(([subject, { path: file, bars: set }]) => {
    return { subject, file, noun: 'bars', times: set.t, found: checkBars(set, nowMs) }
  })
}

const draftFunding = ({ funding }: SoundParts, nowMs: number): Draft[] =>
  [...funding].map(([subject, { path: file, t }]) => {
    const found = runChecks([inFuture('payment', (_, i) => t[i]!)], { nowMs }, t)
    return { subject, file, noun: 'payments', times: t, found }
  })

/** A module has no data of its own, but bars may have come after it had decided on them: only the catalogue says so. */
function draftStrategy(entry: StrategyEntry, sound: SoundParts, nowMs: number): Draft[] {
  const { id: subject, source } = entry
  if (source.kind === 'module') {
    const gaps = sound.accept.filter(({ finding, of }) => finding === 'live_gap' && of === subject)
    return gaps.length === 0 ? [] : [draftLiveGaps(entry, gaps, sound)]
  }
  const ledger = source.kind === 'ledger' ? source : source.ledger
  const drafts: Draft[] = []
  if (source.kind === 'returns') {
    const found = checkReturns(source.daily, nowMs)
    drafts.push({ subject, file: source.path, noun: 'days', times: startsOf(source.daily), found })
  }
  if (ledger !== null) {
    const { path: file, trades, rows } = ledger
    const market = entry.bars === null ? undefined : sound.bars.get(entry.bars)
    const rules = { maxLeverage: entry.max_leverage, slippage: slippagePrice(entry), nowMs }
    const found = checkTrades(trades, { ...rules, bars: market?.bars ?? null })
    drafts.push({ subject, file, noun: 'trades', times: trades.map(each => each.entry_time), found, rows })
  }
  return drafts
}
