import { sum } from 'simple-statistics'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { explainForeignMoment, parseForeignMoment } from '../book/cell.ts'
import { got } from '../book/field.ts'
import { type Reading, type Report, reporterOf } from '../book/reading.ts'
import { parseZone, UTC } from '../book/zone.ts'
import { type Cell, declare, type Kind } from './format.ts'
import { originOf, readForeign } from './read-table.ts'
import { createTally, inOrder } from './repair.ts'
import type { Statement } from './statement.ts'
import { TRADES } from './trade-formats.ts'
import { explainDecimal, parseForeignDecimal } from './values.ts'

export const RETURNS: Kind = {
  noun: 'daily returns',
  roles: {
    t: 't date day time datetime timestamp',
    ret: 'ret return returns dailyreturn dailyreturns return% returnpct',
  },
  checked: {},
  required: ['t', 'ret'],
  formats: [
    declare('highwater', 't: t; ret: ret'),
    declare('pandas', '|date|index|unnamed:0: t; 0|ret|returns?: ret'),
    declare('date and return', 't; ret'),
  ],
  fits: () => true,
  matters: TRADES.matters,
}

type Rules = Statement & {
  /** That values which look like a sum since the start are returns of days. */
  readonly results?: 'per-day' | undefined
  readonly unit: 'fraction' | 'percent'
}

/** Daily returns as rows `t,ret`, sorted, each once; the book refuses missing days. Null if there are problems, reported. */
export async function importReturns(reading: Reading, file: string, stated: Rules) {
  const [tally, report] = [createTally(), reporterOf(reading, file)]
  const toDay = dayReader(stated, file, report)
  const days: ReturnType<typeof toDay>[] = []
  const onRow = (cell: Cell, row: number): void => void days.push(toDay(cell, row))
  const read = await readForeign(reading, file, () => RETURNS, { statement: stated, tally }, onRow)
  if (read === null || reading.problems.has(file)) return null
  const name = read.names[read.places.get('ret')![0]!]!
  if (stated.unit === 'fraction' && /%|pct|percent/i.test(name))
    return report(
      `ret: expected fractions, as --unit states, got ${got(name)}, whose name says percent: state --unit percent, or --column ret=NAME`,
    )
  const once = inOrder(days, tally).filter(({ t, ret, row }, i, sorted) => {
    const isCopy = t === sorted[i - 1]?.t && ret === sorted[i - 1]?.ret
    // The first day of a change has none.
    if (Number.isNaN(ret) && i > 0) report('ret: expected a return, got nothing', row)
    if (isCopy || Number.isNaN(ret)) tally.drop(isCopy ? 'duplicates' : 'blank', file, row)
    return !isCopy && !Number.isNaN(ret)
  })
  const returns = once.map(({ ret }) => ret)
  if (stated.results !== 'per-day' && looksLikeSums(returns)) report(SUMS)
  if (reading.problems.has(file)) return null
  const rows = once.map(({ t, ret, row }) => ({ fields: [toIsoDate(t / DAY_MS), String(ret)], row }))
  return { rows, ...originOf([read], tally, stated) }
}

/** Reads a row; a blank return is NaN. */
function dayReader({ unit, tz }: Rules, file: string, report: Report) {
  const zone = tz === undefined ? UTC : parseZone(tz)
  return (cell: Cell, row: number) => {
    const t = parseForeignMoment(cell('t'), zone)
    const text = unit === 'percent' ? cell('ret').replace(/\s*%$/, '') : cell('ret')
    const value = parseForeignDecimal(text)
    if (Number.isNaN(t)) report(`t: ${explainForeignMoment(cell('t'), zone)}`, row)
    else if (t % DAY_MS !== 0) report(`t: expected a day of UTC, got ${got(cell('t'))}`, row)
    if (text !== '' && Number.isNaN(value))
      report(`ret: ${explainDecimal(text, `a return as a ${unit}`)}`, row)
    // Without the digits that the division of binary numbers adds.
    return { t, ret: unit === 'percent' ? Number((value / 100).toPrecision(15)) : value, file, row }
  }
}

/** Fewer days are no pattern. */
const LEAST_DAYS = 8

/** No strategy earns more in a day than six times its account. */
const MOST_IN_A_DAY = 5

/**
 * Whether values are a sum since the start, or the account: they rise or fall alone, or its steps are smaller than itself; those
 * of returns are larger, by a factor of 1.4 in the mean.
 */
function looksLikeSums(values: readonly number[]): boolean {
  const sizeOf = (numbers: readonly number[]): number => sum(numbers.map(Math.abs))
  const [size, steps] = [sizeOf(values), values.slice(1).map((value, i) => value - values[i]!)]
  const isMonotone = steps.every(step => step >= 0) || steps.every(step => step <= 0)
  const isNear = size > 0 && (isMonotone || sizeOf(steps) < size)
  return (isNear && values.length >= LEAST_DAYS) || values.some(value => Math.abs(value) > MOST_IN_A_DAY)
}

const SUMS =
  'ret: expected the return of each day, got values that look like cumulative returns or the account itself, because they are near one another or above 500 %: ' +
  'divide the account by that of the day before, or state --results per-day'
