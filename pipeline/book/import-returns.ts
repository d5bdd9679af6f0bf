import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import type { TableKind } from '../table/columns.ts'
import { type Origin, originOf, readMapped } from '../table/mapped.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment } from './cell.ts'
import { got } from './field.ts'
import type { ReturnsSpec } from './file-spec.ts'
import type { LedgerRow } from './read-ledger.ts'
import { type Reading, reporterOf } from './reading.ts'
import { createTally, putInOrder } from './repair.ts'
import { parseZone, UTC } from './zone.ts'

const RETURNS: TableKind = {
  noun: 'daily returns',
  roles: {
    t: 't date day time datetime timestamp',
    ret: 'ret return returns dailyreturn dailyreturns return% returnpct',
  },
  required: ['t', 'ret'],
  formats: [['highwater', /^t,ret$/]],
  orders: [['date and return', 't ret']],
  leastNumbers: 1,
}

/** `t,ret` as a book has them. */
export type ImportedReturns = Origin & { readonly rows: readonly LedgerRow[] }

/**
 * Reads daily returns of a file from elsewhere as rows of a book. They are sorted, and repeated ones dropped; missing days
 * are for the rules of the book to refuse. Null if there is a problem; all are reported.
 */
export async function importReturns(reading: Reading, spec: ReturnsSpec): Promise<ImportedReturns | null> {
  const { unit, tz, ...request } = spec
  const path = spec.path[0]!
  const [tally, report] = [createTally(), reporterOf(reading, path)]
  const zone = tz === undefined ? UTC : parseZone(tz)
  const days: { readonly t: number; readonly ret: string; readonly row: number }[] = []
  const file = await readMapped(
    reading,
    path,
    () => RETURNS,
    { ...request, tally },
    (cell, row) => {
      const t = parseForeignMoment(cell('t'), zone)
      const text = unit === 'percent' ? cell('ret').replace(/\s*%/, '') : cell('ret')
      const value = parseDecimal(text)
      if (Number.isNaN(t)) report(`t: ${explainForeignMoment(cell('t'), zone)}`, row)
      else if (t % DAY_MS !== 0) report(`t: expected a day of UTC, got ${got(cell('t'))}`, row)
      if (Number.isNaN(value))
        report(
          `ret: expected a return in ${unit === 'percent' ? 'percent' : 'fractions'}, got ${got(text)}`,
          row,
        )
      // Without the digits that the division of binary numbers adds.
      const ret = unit === 'percent' ? Number((value / 100).toPrecision(15)) : value
      days.push({ t, ret: String(ret), row })
    },
  )
  if (file === null || reading.problems.has(path)) return null
  const rows = putInOrder(days, tally, (a, b) => a.ret === b.ret).map(({ t, ret, row }) => ({
    fields: [toIsoDate(toEpochDay(t)), ret],
    row,
  }))
  return { rows, ...originOf(reading, [file], tally, path) }
}
