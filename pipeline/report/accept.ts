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
  to: day('Last day of the finding.'),
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

/** Whether the entry accepts the finding: days beyond it are not covered, so that a new finding is not accepted with it. */
export const accepts = (entry: Acceptance, { code, subject, from, to }: Omit<Finding, 'accepted'>): boolean =>
  entry.finding === code &&
  entry.of === subject &&
  entry.from <= toEpochDay(from) &&
  toEpochDay(to) <= entry.to

/** The entry that would accept a finding, for the operator to complete. */
export const spellAcceptance = ({ code, subject, from, to }: Finding): string =>
  `{finding: ${code}, of: ${subject}, from: ${toIsoDate(toEpochDay(from))}, to: ${toIsoDate(toEpochDay(to))}, reason: "..."}`
