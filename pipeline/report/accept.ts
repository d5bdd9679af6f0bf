import { z } from 'zod'
import { parseIsoDate, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { ACCEPTABLE, type Finding } from './finding.ts'

const MAX_REASON_CHARS = 500

const day = (description: string) =>
  z.string().transform(parseIsoDate).pipe(z.int()).meta({ description, expected: 'a date as YYYY-MM-DD' })

/** An entry of `accept` in the catalogue. */
export const acceptShape = {
  finding: z
    .enum(ACCEPTABLE)
    .meta({ description: 'The code of the finding.', expected: `one of ${ACCEPTABLE.join(', ')}` }),
  of: z.string().min(1).meta({
    description: 'What the finding is about: INSTRUMENT/TIMEFRAME of bars, or the id of a strategy.',
    expected: 'INSTRUMENT/TIMEFRAME, such as BTCUSDT-PERP/4h, or the id of a strategy',
  }),
  from: day('First day of the finding.'),
  to: day('Last day of the finding, not later than the data.'),
  count: z.int().min(1).meta({
    description: 'The bars, trades or days that the finding counts.',
    expected: 'a whole number of at least 1: the bars, trades or days that the finding counts',
  }),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(MAX_REASON_CHARS)
    .regex(/^\P{Cc}*$/u)
    .meta({
      description: 'Why the data are right all the same; published with the dataset.',
      expected: `a reason of 1 to ${MAX_REASON_CHARS} characters, on one line`,
    }),
}

export type Acceptance = z.infer<z.ZodObject<typeof acceptShape>>

type Judged = Pick<Finding, 'code' | 'subject' | 'from' | 'to' | 'count'>

/**
 * The entry that accepts each finding. An entry accepts findings within its days up to its count in all: so a new error
 * of the kind is refused, beyond the days and among them. The largest finding is assigned first, to the entry that it
 * leaves the least of.
 */
export function assignAcceptances<F extends Judged>(
  findings: readonly F[],
  entries: readonly Acceptance[],
  lastDay: number,
): ReadonlyMap<F, Acceptance> {
  const left = new Map(entries.filter(({ to }) => to <= lastDay).map(entry => [entry, entry.count]))
  const assigned = new Map<F, Acceptance>()
  for (const finding of findings.toSorted((a, b) => b.count - a.count)) {
    const [fit] = [...left]
      .filter(([entry, count]) => finding.count <= count && isWithin(entry, finding))
      .sort(([, a], [, b]) => a - b)
    if (fit === undefined) continue
    assigned.set(finding, fit[0])
    left.set(fit[0], fit[1] - finding.count)
  }
  return assigned
}

const isWithin = (entry: Acceptance, { code, subject, from, to }: Judged): boolean =>
  entry.finding === code &&
  entry.of === subject &&
  entry.from <= toEpochDay(from) &&
  toEpochDay(to) <= entry.to

/** The entry that would accept a finding, for the operator to complete. */
export const spellAcceptance = ({ code, subject, from, to, count }: Judged): string =>
  `{finding: ${code}, of: ${subject}, from: ${toIsoDate(toEpochDay(from))}, to: ${toIsoDate(toEpochDay(to))}, count: ${count}, reason: "..."}`
