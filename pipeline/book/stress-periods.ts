import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import { between, type Fault, field, got, line } from './field.ts'

/** As many as a table shows at a glance. */
const MAX_PERIODS = 12

const isDay = (text: string) => parseIsoDate(text) !== null
const isoDay = field(z.string().refine(isDay), 'A UTC day, inclusive.', 'a date as YYYY-MM-DD')

const period = z.strictObject({
  name: field(line(60), 'Name of the period, for people.', 'a line of text of 1 to 60 characters'),
  from: isoDay,
  to: isoDay,
})

/** Periods that end before they begin, and names that a change of the list could not tell apart. */
const explainPeriods = (periods: readonly z.infer<typeof period>[]): Fault[] =>
  periods.flatMap(({ name, from, to }, i): Fault[] => {
    if (to < from) return [[[i, 'to'], `expected ${from}, the first day, or a later one, got ${got(to)}`]]
    const isTaken = periods.slice(0, i).some(other => other.name === name)
    return isTaken ? [[[i, 'name'], `expected a name of its own, got ${got(name)} again`]] : []
  })

export const stressPeriods = field(
  z.array(period).max(MAX_PERIODS).superRefine(between(explainPeriods)).default([]),
  'Periods in which the result of each strategy is shown, after the deepest falls of its instrument.',
  `a list of at most ${MAX_PERIODS} periods, such as [{ name: The crash, from: 2020-02-20, to: 2020-03-23 }]`,
)
