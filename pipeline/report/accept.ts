import { z } from 'zod'
import { type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { date, field, line } from '../book/field.ts'
import { ACCEPTABLE, type Finding, type SubjectReport } from './finding.ts'

const MAX_REASON_CHARS = 500

const day = field(date, 'a date as YYYY-MM-DD')

export const acceptShape = {
  finding: field(z.enum(ACCEPTABLE), `one of ${ACCEPTABLE.join(', ')}`),
  of: field(z.string().min(1), 'INSTRUMENT/TIMEFRAME, such as BTCUSDT-PERP/4h, or the id of a strategy'),
  from: day,
  /** Not later than the data. */
  to: day,
  count: field(
    z.int().min(1),
    'a whole number of at least 1: the bars, trades or days that the finding counts',
  ),
  /** Why the data are right all the same; published with the dataset. */
  reason: field(line(MAX_REASON_CHARS), `a reason of 1 to ${MAX_REASON_CHARS} characters, on one line`),
}

export type Acceptance = z.infer<z.ZodObject<typeof acceptShape>>

type Judged = Pick<SubjectReport, 'to' | 'findings'>

/** The last day of the data; a trade can end after the last entry. */
export const lastDayOf = ({ to, findings }: Judged): EpochDay =>
  toEpochDay(Math.max(to ?? 0, ...findings.map(each => each.to)))

/**
 * The entry that accepts each serious finding. An entry accepts findings within its days up to its count in all: so a
 * new error of the kind is refused, beyond the days and among them. The largest finding is assigned first, to the entry
 * that it leaves the least of.
 */
export function assignAcceptances(report: Judged, entries: readonly Acceptance[]) {
  const lastDay = lastDayOf(report)
  const left = new Map(entries.filter(({ to }) => to <= lastDay).map(entry => [entry, entry.count]))
  const assigned = new Map<Finding, Acceptance>()
  const serious = report.findings.filter(({ severity }) => severity === 'serious')
  for (const finding of serious.sort((a, b) => b.count - a.count)) {
    const [fit] = [...left]
      .filter(([entry, count]) => finding.count <= count && isWithin(entry, finding))
      .sort(([, a], [, b]) => a - b)
    if (fit === undefined) continue
    assigned.set(finding, fit[0])
    left.set(fit[0], fit[1] - finding.count)
  }
  return assigned
}

const isWithin = (entry: Acceptance, { code, subject, from, to }: Finding): boolean =>
  entry.finding === code &&
  entry.of === subject &&
  entry.from <= toEpochDay(from) &&
  toEpochDay(to) <= entry.to

/** The entry that would accept a finding, for the operator to complete. */
export const spellAcceptance = ({ code, subject, from, to, count }: Finding): string =>
  `{finding: ${code}, of: ${subject}, from: ${toIsoDate(toEpochDay(from))}, to: ${toIsoDate(toEpochDay(to))}, count: ${count}, reason: "..."}`
