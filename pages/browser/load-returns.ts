// The published CSV of returns, read back: every number is the double that the snapshot has.
import { parseIsoDate } from '#core/calendar.ts'
import { type Period, type Series, STEP_DAYS } from '#core/figures/series.ts'
import type { SheetTrade } from '../sheet/facts.ts'

/** The columns of a published CSV of returns. Rejects with a sentence for the reader. */
export const loadReturns = async (file: string, period: Period): Promise<ReadonlyMap<string, Series>> =>
  parseReturns(await loadFile(file), period)

/** The text of a published file. Rejects with a sentence for the reader. */
export async function loadFile(file: string): Promise<string> {
  const response = await fetch(file).catch(() => null)
  if (response?.ok) return response.text()
  const why = response === null ? 'there is no answer' : `the answer is ${response.status}`
  throw new Error(`${file} cannot be loaded: ${why}. Try again, or load the page again.`)
}

export function parseTrades(text: string): SheetTrade[] {
  const [header = '', ...lines] = text.trimEnd().split(/\r?\n/)
  const names = header.split(',')
  return lines.map(line => {
    const cells = line.split(',')
    const cell = (name: string) => cells[names.indexOf(name)] ?? ''
    const trade = {
      ...{ side: cell('side') as SheetTrade['side'], result: cell('result') as SheetTrade['result'] }, // as the service documents it
      ...{ entry_time: Number(cell('entry_time')), exit_time: Number(cell('exit_time')) },
      return_pct: Number(cell('return_pct')),
    }
    if (Number.isNaN(trade.entry_time + trade.exit_time + trade.return_pct))
      throw notReturns(`'${line.slice(0, 80)}'`)
    return trade
  })
}

/** Column after column of a table whose first is `t`, each from its first to its last cell. Throws on anything else. */
export function parseReturns(text: string, period: Period): ReadonlyMap<string, Series> {
  const [header = '', ...lines] = text.trimEnd().split(/\r?\n/)
  const rows = lines.map(line => line.split(','))
  const first = rows.length === 0 ? 0 : dayOf(rows[0]![0])
  rows.forEach(([t], i) => {
    if (dayOf(t) !== first + i * STEP_DAYS[period]) throw notReturns(`row ${i + 1} is of ${t}`)
  })
  const names = header.split(',')
  if (names[0] !== 't') throw notReturns(`its first column is ${names[0]}`)
  return new Map(names.slice(1).map((name, i) => [name, columnOf(rows, i + 1, period, first)]))
}

function columnOf(rows: readonly string[][], column: number, period: Period, first: number): Series {
  const begin = rows.findIndex(row => row[column] !== '')
  const end = rows.findLastIndex(row => row[column] !== '') + 1
  const values = Float64Array.from(rows.slice(Math.max(begin, 0), end), row =>
    Number(row[column] || Number.NaN),
  )
  if (values.some(Number.isNaN)) throw notReturns(`column ${column + 1} has a cell that is no number`)
  return { period, first: first + Math.max(begin, 0) * STEP_DAYS[period], values }
}

function dayOf(text = ''): number {
  const day = parseIsoDate(text)
  if (day === null) throw notReturns(`'${text.slice(0, 20)}' is no day`)
  return day
}

const notReturns = (why: string): Error =>
  new Error(`this is no published table: ${why}; load the page again`)
