import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import type { TableKind } from '../table/columns.ts'
import { readMapped } from '../table/mapped.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment } from './cell.ts'
import { got } from './field.ts'
import type { ReturnsSpec } from './file-spec.ts'
import type { LedgerRow } from './read-ledger.ts'
import type { Reading } from './reading.ts'
import { createTally, type Repair } from './repair.ts'
import { parseZone, UTC } from './zone.ts'

const RETURNS: TableKind = {
  noun: 'daily returns',
  roles: {
    t: { names: 't date day time datetime timestamp', required: true },
    ret: { names: 'ret return returns dailyreturn dailyreturns return% returnpct', required: true },
  },
  formats: [['highwater', /^t,ret$/]],
  orders: [['date and return', 't ret']],
  leastNumbers: 1,
}

export type ImportedReturns = {
  /** `t,ret` as a book has them. */
  readonly rows: readonly LedgerRow[]
  readonly format: string
  readonly ignored: readonly string[]
  readonly findings: readonly Repair[]
}

/**
 * Reads daily returns of a file from elsewhere as rows of a book. They are sorted, and repeated ones dropped; missing days
 * are for the rules of the book to refuse. Null if there is a problem; all are reported.
 */
export async function importReturns(reading: Reading, spec: ReturnsSpec): Promise<ImportedReturns | null> {
  const { path: paths, unit, tz, ...request } = spec
  const path = paths[0]!
  const tally = createTally()
  const zone = tz === undefined ? UTC : parseZone(tz)
  const days: { readonly t: number; readonly ret: string; readonly row: number }[] = []
  const file = await readMapped(
    reading,
    path,
    () => RETURNS,
    request,
    ([time = '', text = ''], row) => {
      const report = (message: string) => reading.problems.add({ file: path, row, message })
      const ms = parseForeignMoment(time.trim(), zone)
      const value = parseDecimal(unit === 'percent' ? text.replace('%', '').trim() : text.trim())
      if (Number.isNaN(ms)) report(`t: ${explainForeignMoment(time.trim(), zone)}`)
      else if (ms % DAY_MS !== 0) report(`t: expected a day of UTC, got ${got(time)}`)
      if (Number.isNaN(value))
        report(`ret: expected a return in ${unit === 'percent' ? 'percent' : 'fractions'}, got ${got(text)}`)
      days.push({ t: ms, ret: unit === 'percent' ? divided(value) : String(value), row })
    },
  )
  if (file === null || reading.problems.has(path)) return null
  const late = days.filter(({ t }, i) => i > 0 && t < days[i - 1]!.t).length
  tally.count(late === days.length - 1 ? 'newest_first' : 'sorted', late)
  const sorted = late === 0 ? days : days.toSorted((a, b) => a.t - b.t)
  const kept = sorted.filter(({ t, ret }, i) => t !== sorted[i - 1]?.t || ret !== sorted[i - 1]?.ret)
  tally.count('duplicates', sorted.length - kept.length)
  tally.count('banner', file.bannerRows)
  const rows = kept.map(({ t, ret, row }) => ({ fields: [toIsoDate(toEpochDay(t)), ret], row }))
  const { format, ignored } = file
  return { rows, format, ignored, findings: tally.findings(path) }
}

/** Percent as a fraction, without the digits that the division of binary numbers adds. */
const divided = (percent: number): string => String(Number((percent / 100).toPrecision(15)))
