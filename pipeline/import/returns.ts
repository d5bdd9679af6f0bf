import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { explainForeignMoment, parseForeignMoment } from '../book/cell.ts'
import { got } from '../book/field.ts'
import type { LedgerRow } from '../book/read-ledger.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { parseZone, UTC } from '../book/zone.ts'
import { explainDecimal, parseForeignDecimal } from './number.ts'
import { type Origin, originOf, readForeign } from './read-table.ts'
import { createTally, inOrder } from './repair.ts'
import { RETURNS } from './return-formats.ts'
import type { ReturnsSpec } from './statement.ts'

/** `t,ret` as a book has them. */
export type ImportedReturns = Origin & { readonly rows: readonly LedgerRow[] }

type Day = { readonly t: number; readonly ret: number; readonly file: string; readonly row: number }

/**
 * Reads daily returns of a file from elsewhere as rows of a book. They are sorted, and repeated ones dropped; missing days
 * are for the rules of the book to refuse. Null if there is a problem; all are reported.
 */
export async function importReturns(reading: Reading, spec: ReturnsSpec): Promise<ImportedReturns | null> {
  const { unit, tz } = spec
  const file = spec.path[0]!
  const [tally, report] = [createTally(), reporterOf(reading, file)]
  const zone = tz === undefined ? UTC : parseZone(tz)
  const days: Day[] = []
  const blank: { readonly t: number; readonly row: number }[] = []
  const read = await readForeign(
    reading,
    file,
    () => RETURNS,
    { statement: spec, tally },
    (cell, row) => {
      const t = parseForeignMoment(cell('t'), zone)
      if (Number.isNaN(t)) return void report(`t: ${explainForeignMoment(cell('t'), zone)}`, row)
      if (t % DAY_MS !== 0) report(`t: expected a day of UTC, got ${got(cell('t'))}`, row)
      if (cell('ret') === '') return void blank.push({ t, row })
      const text = unit === 'percent' ? cell('ret').replace(/\s*%$/, '') : cell('ret')
      const value = parseForeignDecimal(text)
      if (Number.isNaN(value))
        report(
          `ret: ${explainDecimal(text, `a return in ${unit === 'percent' ? 'percent' : 'fractions'}`)}`,
          row,
        )
      // Without the digits that the division of binary numbers adds.
      days.push({ t, ret: unit === 'percent' ? Number((value / 100).toPrecision(15)) : value, file, row })
    },
  )
  if (read === null || reading.problems.has(file)) return null
  const name = read.names[read.places.get('ret')![0]!]!
  if (unit === 'fraction' && /%|pct|percent/i.test(name))
    return report(
      `ret: expected fractions, as --unit states, got ${got(name)}, whose name says percent: state --unit percent, or --column ret=NAME`,
    )
  const sorted = inOrder(days, tally)
  // The first day of a change has none.
  for (const { t, row } of blank) {
    if (blank.length > 1 || t > (sorted[0]?.t ?? t)) report('ret: expected a return, got nothing', row)
    else tally.drop('blank', file, row)
  }
  const isCopy = (day: Day, i: number): boolean =>
    day.t === sorted[i - 1]?.t && day.ret === sorted[i - 1]!.ret
  const once = sorted.filter((day, i) => !isCopy(day, i))
  for (const day of sorted.filter(isCopy)) tally.drop('duplicates', file, day.row)
  if (spec.results !== 'per-day')
    refuseSums(
      once.map(({ ret }) => ret),
      report,
    )
  if (reading.problems.has(file)) return null
  const rows = once.map(({ t, ret, row }) => ({ fields: [toIsoDate(toEpochDay(t)), String(ret)], row }))
  return { rows, ...originOf(reading, [read], tally, spec) }
}

/** Fewer days are no pattern. */
const LEAST_DAYS = 8

/** The steps of a sum are smaller than the sum; those of returns are larger than the returns, by a factor of 1.4 in the mean. */
const STEPS_OF_A_SUM = 1

/** No strategy earns more in a day than six times its account. */
const MOST_IN_A_DAY = 5

/** Values that hardly change from day to day are a sum since the start, or the account, and no returns. */
function refuseSums(values: readonly number[], report: Report): void {
  const sum = (numbers: readonly number[]): number =>
    numbers.reduce((total, value) => total + Math.abs(value), 0)
  const steps = values.slice(1).map((value, i) => value - values[i]!)
  const isMonotone = steps.every(step => step >= 0) || steps.every(step => step <= 0)
  const moves = sum(steps)
  const isLarge = values.some(value => Math.abs(value) > MOST_IN_A_DAY)
  const isNear =
    values.length >= LEAST_DAYS && sum(values) > 0 && (isMonotone || moves < STEPS_OF_A_SUM * sum(values))
  if (!isLarge && !isNear) return
  report(
    'ret: expected the return of each day, got values that look like cumulative returns or the account itself, because they are near one another or above 500 %: ' +
      'divide the account by that of the day before, or state --results per-day (results:)',
  )
}
