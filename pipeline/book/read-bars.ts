import { toBars, toShared } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import type { BarsFile, Gap } from './book.ts'
import { explainMoment, explainOrder, parseDecimal, parseMoment, spellMoment } from './cell.ts'
import { got } from './field.ts'
import type { Problem } from './problem.ts'
import type { Reading } from './reading.ts'
import { type Columns, createRowReader, readTable } from './table.ts'
import { TIMEFRAME_MS, type Timeframe } from './timeframe.ts'

export const BAR_COLUMNS = ['t', 'o', 'h', 'l', 'c', 'v'] as const

const COLUMNS: Columns = { required: BAR_COLUMNS }

/**
 * Reads bars: `t` the bar's OPEN, ascending, on the grid of the timeframe; `l <= min(o,c) <= max(o,c) <= h`,
 * `l > 0`, `v >= 0` or blank. A gap is legal: it is listed, and nothing is filled in. Everything else that is
 * wrong is a problem of its row; only the order of a table that is newest first is one problem.
 */
export async function readBars(reading: Reading, path: string, timeframe: Timeframe): Promise<BarsFile> {
  const columns = newBarColumns()
  const late: Problem[] = []
  let rows = 0
  let before = Number.NaN // no order before the first row: every comparison with NaN is false

  await readTable(reading, path, COLUMNS, (fields, row) => {
    const bar = toBar(fields, parseMoment)
    rows++
    if (bar.t <= before) late.push({ file: path, row, message: `t: ${explainOrder(bar.t, before)}` })
    for (const message of explainBar(fields, bar, timeframe))
      reading.problems.add({ file: path, row, message })
    addBar(columns, bar)
    if (!Number.isNaN(bar.t)) before = bar.t
  })
  const isReversed = rows > 2 && late.length === rows - 1
  for (const problem of isReversed ? [{ file: path, message: NEWEST_FIRST }] : late)
    reading.problems.add(problem)
  return toBarsFile(path, timeframe, columns)
}

const NEWEST_FIRST =
  'expected the oldest bar first, got a table that is newest first: reverse it, or bring it with `highwater import bars`'

export const newBarColumns = (): BarColumns => ({ t: [], o: [], h: [], l: [], c: [], v: [] })

export function addBar(columns: BarColumns, bar: Bar): void {
  for (const name of BAR_COLUMNS) columns[name].push(bar[name])
}

/** Ascending columns as the bars of a book. */
export function toBarsFile(path: string, timeframe: Timeframe, columns: BarColumns): BarsFile {
  const timeframeMs = TIMEFRAME_MS[timeframe]
  const gaps = columns.t.flatMap((t, i): Gap[] => {
    const from = columns.t[i - 1]! + timeframeMs
    return t > from ? [{ from, to: t - timeframeMs, bars_missing: (t - from) / timeframeMs }] : []
  })
  return { path, timeframe, bars: toBars(timeframeMs, name => toShared(columns[name])), gaps }
}

export type BarColumns = Readonly<Record<(typeof BAR_COLUMNS)[number], number[]>>

/** A price that is no number is NaN; a volume that is none is negative, because NaN is a blank one. */
export function toBar(fields: readonly string[], parseTime: (text: string) => number): Bar {
  const [t = '', o = '', h = '', l = '', c = '', v = ''] = fields
  const volume = parseDecimal(v)
  return {
    ...{ t: parseTime(t), o: parseDecimal(o), h: parseDecimal(h), l: parseDecimal(l), c: parseDecimal(c) },
    v: v !== '' && Number.isNaN(volume) ? -1 : volume,
  }
}

/** Whether the prices and the volume can be those of a bar. */
export const isPossible = ({ o, h, l, c, v }: Bar): boolean =>
  l > 0 && l <= o && l <= c && h >= o && h >= c && !(v < 0)

const NO_FAULT: readonly string[] = []

/** What is wrong with a row. Nearly all are sound: those cost no list. */
function explainBar(fields: readonly string[], bar: Bar, timeframe: Timeframe): readonly string[] {
  if (bar.t % TIMEFRAME_MS[timeframe] === 0 && isPossible(bar)) return NO_FAULT
  const faults = explainPrices(fields, bar)
  if (Number.isNaN(bar.t)) return [`t: ${explainMoment(fields[0] ?? '')}`, ...faults]
  if (bar.t % TIMEFRAME_MS[timeframe] === 0) return faults
  const expected = `expected the open of a ${timeframe} bar, counted from midnight UTC`
  return [`t: ${expected}, got ${spellMoment(bar.t)}`, ...faults]
}

/** Why `isPossible` returns false; empty if it is true. `fields` are the texts in the order of the columns. */
export function explainPrices(fields: readonly string[], bar: Bar): string[] {
  const prices = (['o', 'h', 'l', 'c'] as const).flatMap((name, i) =>
    bar[name] > 0 ? [] : [`${name}: expected a price above 0, got ${got(fields[i + 1])}`],
  )
  return [
    ...(prices.length === 0 ? explainRange(bar) : prices),
    ...(bar.v < 0 ? [`v: expected a volume of at least 0, or a blank, got ${got(fields[5])}`] : []),
  ]
}

function explainRange({ o, h, l, c }: Bar): string[] {
  if (h < l)
    return [`h: expected a high of at least the low, ${l}, got ${h}, as if their columns were exchanged`]
  const floor = Math.min(o, c)
  const ceiling = Math.max(o, c)
  return [
    ...(l <= floor ? [] : [`l: expected a low of at most ${floor}, the lower of o and c, got ${l}`]),
    ...(h >= ceiling ? [] : [`h: expected a high of at least ${ceiling}, the higher of o and c, got ${h}`]),
  ]
}

/** Reads a table of bars line by line, header first, by the rules of `readBars`. The caller checks the order of the rows. */
export function createBarReader(timeframe: Timeframe): (line: string) => Bar | string | null {
  const read = createRowReader(COLUMNS)
  let rows = 0
  /** A bar, or why the line is none; null for the header. */
  return line => {
    const fields = read(line, ++rows)
    if (fields === null || typeof fields === 'string') return fields
    const bar = toBar(fields, parseMoment)
    return explainBar(fields, bar, timeframe).join('; ') || bar
  }
}
