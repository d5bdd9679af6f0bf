import { type EpochDay, toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import type { AcceptedFinding } from '#core/dataset/snapshot.ts'
import type { Series } from '#core/figures/series.ts'
import type { Funding } from '#core/replay/bars.ts'
import { slippagePrice } from '#core/replay/trade.ts'
import type { BarsFile, BarsKey, FundingFile, Ledger, SoundParts, StrategyEntry } from '../book/book.ts'
import { type Problem, sourceFile } from '../book/problem.ts'
import { CATALOGUE_FILE } from '../book/read-catalogue.ts'
import { instrumentOf } from '../book/read-market.ts'
import { type Acceptance, assignAcceptances, spellAcceptance } from './accept.ts'
import { checkBars } from './bar-checks.ts'
import { type DataReport, type Finding, type Found, isOfRecord, type SubjectReport } from './finding.ts'
import { compareLabels } from './label-checks.ts'
import { checkReturns, startsOf } from './return-checks.ts'
import { all, type Check, runChecks } from './run-checks.ts'
import { checkTrades } from './trade-checks.ts'

/** What the data of a book cover, and everything that was found in them, instrument by instrument and strategy by strategy. */
export function reportData(sound: SoundParts, nowMs: number): DataReport {
  const sets = barsOf(sound)
  const drafts = [
    ...sets.map(([key, file], i) => draftBars(key, file, sets.slice(0, i), nowMs)),
    ...[...sound.funding].map(([instrument, funding]) => draftFunding(instrument, funding, nowMs)),
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
  const records = found.map(draft => toReport(draft, { ...sound, repairs: [] }))
  const ids = new Set(drafts.map(({ subject }) => subject))
  const accept = sound.accept.filter(entry => isOfRecord(entry) && ids.has(entry.of))
  const refused = new Map(records.map(each => [each.subject, refusals([each], accept)]))
  return { records, refused, unused: unusedAcceptances(accept, records) }
}

/** A report whose findings are not judged yet. */
export type Draft = Pick<SubjectReport, 'subject' | 'file' | 'noun'> & {
  /** The time of each bar, payment, trade or day. */
  readonly times: ArrayLike<number>
  readonly found: readonly Found[]
  /** The row of each index; without it the file has a header and is in order, if it is a table of the book. */
  readonly rows?: readonly number[]
}

function toReport({ times, found, rows, ...draft }: Draft, sound: SoundParts): SubjectReport {
  const { subject, file, noun } = draft
  const [from = null, to = null] = times.length === 0 ? [] : [times[0]!, times[times.length - 1]!]
  const own = `${FOLDERS[noun]}/${subject}.csv`
  const rowOf = (i: number): number[] => (rows ? [rows[i]!] : file.startsWith(own) ? [i + FIRST_ROW] : [])
  // A reader counts gaps too, which are checked here.
  const repairs = sound.repairs.filter(each => each.kind !== 'gaps' && each.file.startsWith(file))
  const notes = repairs.map(({ kind, count, message }): Found => {
    const where = { from: from ?? 0, to: (kind === STATED ? from : to) ?? 0, at: [], count }
    return { code: kind, severity: 'note', ...where, what: message, fix: null }
  })
  const judged = [...notes, ...found].map(
    ({ at, ...each }): Finding => ({ ...each, subject, file, rows: at.flatMap(rowOf), accepted: null }),
  )
  const accepted = acceptedOf({ to, findings: judged }, sound.accept)
  const reasonOf = (each: Finding): string | null =>
    each.code === STATED ? BY_PUBLISHER : (accepted.get(each)?.reason ?? null)
  const findings = judged.map(each => ({ ...each, accepted: reasonOf(each) }))
  const users = sound.strategies.filter(
    ({ id, bars, instrument }) =>
      [id, bars].includes(subject) || (noun === 'payments' && instrument === subject),
  )
  return { ...draft, count: times.length, from, to, strategies: users.map(({ id }) => id), findings }
}

/** What a publisher states about a file is published as what he accepts: it holds for all of it, from its first row on. */
const STATED = 'stated'
const BY_PUBLISHER = 'stated by the publisher at the import'

const acceptedOf = (report: Pick<SubjectReport, 'to' | 'findings'>, entries: readonly Acceptance[]) =>
  assignAcceptances(
    report.findings.filter(({ severity }) => severity === 'serious'),
    entries,
    lastDayOf(report),
  )

/** The last day of the data; a trade can end after the last entry. */
const lastDayOf = ({ to, findings }: Pick<SubjectReport, 'to' | 'findings'>): EpochDay =>
  toEpochDay(Math.max(to ?? 0, ...findings.map(each => each.to)))

const FOLDERS = { bars: 'bars', payments: 'funding', trades: 'ledgers', days: 'returns' }

/** The header is row 1. */
const FIRST_ROW = 2

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
  const accept =
    severity === 'serious'
      ? `${describeEntries(finding, entries)}; or, if the data are right, accept: [${spellAcceptance(finding)}]`
      : ''
  const message = `${code} of ${subject}: ${what}${more}${fix === null ? '' : `: ${fix}`}${accept}`
  return { file, ...(rows[0] === undefined ? {} : { row: rows[0] }), message }
}

/** Why the entries that name days of a finding do not accept it. */
const describeEntries = (
  { code, subject, from, to, count }: Finding,
  entries: readonly Acceptance[],
): string =>
  entries
    .filter(entry => entry.finding === code && entry.of === subject)
    .filter(entry => entry.from <= toEpochDay(to) && toEpochDay(from) <= entry.to)
    .map(
      entry =>
        `; the entry from ${toIsoDate(entry.from)} to ${toIsoDate(entry.to)} accepts a count of ${entry.count} within these days, and this finding has ${count} from ${toIsoDate(toEpochDay(from))} to ${toIsoDate(toEpochDay(to))}`,
    )
    .join('')

/** What is published of the accepted findings of a window that ends at an instant. */
export const acceptedFindings = (report: DataReport, endMs: number): AcceptedFinding[] =>
  report.flatMap(({ findings, strategies }) =>
    findings.flatMap(({ code, subject, from, to, count, what, accepted: reason }) => {
      if (reason === null || from >= endMs) return []
      const span = { from: toIsoInstant(from), to: toIsoInstant(to) }
      return [{ finding: code, of: subject, ...span, count, what, reason, strategies }]
    }),
  )

/** A warning for each entry of `accept` that no finding needs. */
export const unusedAcceptances = (entries: readonly Acceptance[], report: DataReport): Problem[] => {
  const used = new Set(report.flatMap(each => [...acceptedOf(each, entries).values()]))
  return entries
    .filter(entry => !used.has(entry))
    .map(entry => ({
      file: CATALOGUE_FILE,
      message: `accept: no ${entry.finding} of ${entry.of} from ${toIsoDate(entry.from)} to ${toIsoDate(entry.to)}: remove the entry`,
    }))
}

/** Entries that end after their data would accept errors that are still to come; with the last day of the data. */
export const lateAcceptances = (entries: readonly Acceptance[], report: DataReport) =>
  report.flatMap(each =>
    entries
      .filter(({ of, to }) => of === each.subject && to > lastDayOf(each))
      .map(entry => ({ entry, lastDay: lastDayOf(each) })),
  )

/** Every set of bars; those of the program are among them or not. */
function barsOf({ bars, program }: SoundParts): readonly (readonly [BarsKey, BarsFile])[] {
  if (program === null || [...bars.values()].includes(program.bars)) return [...bars]
  return [...bars, [`${program.plan.instrument}/${program.bars.timeframe}`, program.bars]]
}

function draftBars(
  subject: BarsKey,
  { path: file, bars }: BarsFile,
  earlier: readonly (readonly [BarsKey, BarsFile])[],
  nowMs: number,
): Draft {
  const twin = earlier.find(([other]) => instrumentOf(other) === instrumentOf(subject)) ?? earlier[0]
  const shifted = twin === undefined ? [] : compareLabels(bars, twin[1].bars, twin[0])
  return { subject, file, noun: 'bars', times: bars.t, found: [...checkBars(bars, nowMs), ...shifted] }
}

/** Funding of the future is a forecast. */
const FUTURE_PAYMENTS: Check<Funding & { readonly nowMs: number }> = {
  ...{ code: 'future_payments', severity: 'blocking', group: all },
  is: ({ t, nowMs }, i) => t[i]! > nowMs,
  what: () => 'expected payments that were made, got later ones',
  fix: 'remove them, or correct the unit or the zone of the times',
}

function draftFunding(subject: string, { path: file, ...funding }: FundingFile, nowMs: number): Draft {
  const { t: times } = funding
  const found = runChecks([FUTURE_PAYMENTS], { ...funding, nowMs }, times)
  return { subject, file, noun: 'payments', times, found }
}

/** A module has no data of its own. */
function draftStrategy(entry: StrategyEntry, sound: SoundParts, nowMs: number): Draft[] {
  const { id: subject, source } = entry
  if (source.kind === 'module') return []
  if (source.kind === 'ledger') return [draftLedger(entry, source, sound, nowMs)]
  const { daily, path: file, ledger } = source
  const found = checkReturns(daily, nowMs)
  const returns: Draft = { subject, file, noun: 'days', times: startsOf(daily), found }
  return [returns, ...(ledger === null ? [] : [draftLedger(entry, ledger, sound, nowMs)])]
}

function draftLedger(
  entry: StrategyEntry,
  { path: file, trades, rows }: Ledger,
  { bars }: SoundParts,
  nowMs: number,
): Draft {
  const found = checkTrades(trades, {
    bars: entry.bars === null ? null : (bars.get(entry.bars)?.bars ?? null),
    maxLeverage: entry.max_leverage,
    slippage: slippagePrice(entry),
    nowMs,
  })
  return { subject: entry.id, file, noun: 'trades', times: trades.map(each => each.entry_time), found, rows }
}
