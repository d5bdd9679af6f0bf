import { type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import { createColumn } from './column.ts'
import { parseDecimal } from './decimal.ts'
import { got } from './field.ts'
import type { Columns } from './header.ts'
import type { Reading } from './reading.ts'
import { readTable } from './table.ts'

const COLUMNS: Columns = { required: ['t', 'ret'], optional: [], needsOptional: false, mayBeEmpty: false }

/** A day that loses everything: legal, and the last day on which the account can move. */
const RUIN = -1

/**
 * Reads daily returns as reported: `t` a UTC date, every day of the calendar from the first to the last; `ret` the
 * simple fractional return of that day, at least -1. After a day of -1 the account is dead and every return is 0, as
 * the engine has it after a liquidation.
 */
export async function readReturns(reading: Reading, path: string): Promise<Series> {
  const values = createColumn()
  let first: EpochDay | null = null
  let before: EpochDay | null = null
  let isRuined = false

  await readTable(reading, path, COLUMNS, ([t = '', ret = ''], row) => {
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    const day = parseIsoDate(t)
    const value = parseDecimal(ret)
    if (day === null) report(`t: expected a date as YYYY-MM-DD, got ${got(t)}`)
    else if (before !== null && day !== before + 1) report(`t: ${explainDay(day, before)}`)
    if (!(value >= RUIN)) report(`ret: expected a fraction of at least -1 (0.01 = +1 %), got ${got(ret)}`)
    else if (isRuined && value !== 0)
      report(`ret: expected 0 after the day of -1 that ended the account, got ${got(ret)}`)
    first ??= day
    before = day ?? (before === null ? null : before + 1)
    isRuined ||= value === RUIN
    values.push(value)
  })
  return { period: 'daily', first: first ?? 0, values: values.toShared() }
}

function explainDay(day: EpochDay, before: EpochDay): string {
  const expected = `expected ${toIsoDate(before + 1)}, the day after the row before, got ${toIsoDate(day)}`
  const missing = day - before - 1
  return missing > 0 ? `${expected}: ${missing} day${missing === 1 ? ' is' : 's are'} missing` : expected
}
