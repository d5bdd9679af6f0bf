import type { Funding } from '#core/replay/bars.ts'
import { createColumn } from './column.ts'
import { parseDecimal } from './decimal.ts'
import { got } from './field.ts'
import type { Columns } from './header.ts'
import { explainMoment, explainOrder, parseMoment } from './moment.ts'
import type { Reading } from './reading.ts'
import { readTable } from './table.ts'

const COLUMNS: Columns = { required: ['t', 'rate'], optional: [], needsOptional: false, mayBeEmpty: false }

/** Exchanges cap one payment at 2 to 4 % of notional; a larger number is a percentage, or basis points, by mistake. */
const MAX_RATE = 0.1

/**
 * Reads funding payments: `t` ascending, off any grid if need be; `rate` a fraction of notional, positive where longs
 * pay.
 */
export async function readFunding(reading: Reading, path: string): Promise<Funding> {
  const [t, rate] = [createColumn(), createColumn()]
  let before = Number.NaN // no order before the first row: every comparison with NaN is false

  await readTable(reading, path, COLUMNS, ([time = '', text = ''], row) => {
    const ms = parseMoment(time)
    const value = parseDecimal(text)
    const report = (message: string) => reading.problems.add({ file: path, row, message })
    if (Number.isNaN(ms)) report(`t: ${explainMoment(time)}`)
    else if (ms <= before) report(`t: ${explainOrder(ms, before)}`)
    if (!(Math.abs(value) <= MAX_RATE)) {
      report(
        `rate: expected a fraction of notional from -${MAX_RATE} to ${MAX_RATE} (0.0001 = 0.01 %), got ${got(text)}`,
      )
    }
    if (!Number.isNaN(ms)) before = ms
    t.push(ms)
    rate.push(value)
  })
  return { t: t.toShared(), rate: rate.toShared() }
}
