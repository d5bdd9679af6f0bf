import type { Bar } from '#core/replay/strategy.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from '../book/cell.ts'
import { got } from '../book/field.ts'
import { BAR_COLUMNS, explainPrices, isPossible, toBar } from '../book/read-bars.ts'
import { type Reading, reporterOf } from '../book/reading.ts'
import type { Timeframe } from '../book/timeframe.ts'
import { UTC, type Zone } from '../book/zone.ts'
import { BARS } from './bar-formats.ts'
import type { Cell } from './format.ts'
import { explainDecimal } from './number.ts'
import { type ReadTable, readForeign } from './read-table.ts'
import type { Tally } from './repair.ts'
import type { BarsStatement } from './statement.ts'
import { toFlag } from './word.ts'

/** One import: what is asked, the files as they are read, and what is found in them. */
export type Import = {
  readonly reading: Reading
  readonly rules: Rules
  readonly zone: Zone | null
  readonly tally: Tally
  readonly files: ReadTable[]
}

export type Rules = BarsStatement & {
  /** The files of one instrument. */
  readonly paths: readonly string[]
  /** Null: found by the distance of the bars. */
  readonly timeframe: Timeframe | null
  /** Strategy modules that are replayed on the bars, and may read the volume. */
  readonly readers: readonly string[]
}

/** A bar as a row of a file has it: `end` is its close time, `q` its quote volume, NaN if the file has none. */
export type ReadBar = Bar &
  Readonly<Record<'row' | 'end' | 'q', number>> &
  Readonly<Record<'file' | 'symbol', string>>

/** Reads the bars of a file, in its order and with its times. What is wrong is reported. */
export async function readBarRows(own: Import, path: string): Promise<readonly ReadBar[]> {
  const { reading, rules, tally, files } = own
  const bars: ReadBar[] = []
  const onRow = (cell: Cell, row: number): void => {
    const bar = toReadBar(own, cell, path, row)
    if (bar !== null) bars.push(bar)
  }
  const file = await readForeign(reading, path, () => BARS, { statement: rules, tally }, onRow)
  if (file === null) return []
  files.push(file)
  // A last line without a line break may be cut off in the middle of a number.
  if (file.openRow === null || bars.at(-1)?.row !== file.openRow) return bars
  tally.drop('cut_off', path, file.openRow)
  return bars.slice(0, -1)
}

/** The bar of a row; null if it is dropped, or reported. */
function toReadBar({ reading, rules, zone, tally }: Import, cell: Cell, file: string, row: number) {
  const fields = BAR_COLUMNS.map(cell)
  const bar = toBar(fields, text => parseForeignMoment(text, zone))
  const lost =
    (fields.slice(1, 5).every(text => text === '') && 'blank') ||
    (toFlag(cell('over')) === false && 'unfinished') ||
    (rules.drop_impossible && isRange(bar) && !isPossible(bar) && 'impossible')
  if (lost) {
    tally.drop(lost, file, row)
    return null
  }
  const momentOf = (role: string): number => parseForeignMoment(cell(role), zone ?? UTC)
  const again = momentOf('text')
  const faults = [
    ...(Number.isNaN(bar.t) ? [`t: ${explainForeignMoment(cell('t'), zone)}`] : []),
    ...(isPossible(bar) ? [] : explainImpossible(fields, bar)),
    ...['over', 'vwap']
      .filter(role => !BARS.fits(role, cell))
      .map(role => `${role}: expected ${BARS.checked[role]}, got ${got(cell(role))}`),
    ...(Math.abs(again - bar.t) > 0
      ? [`t: expected one time in both columns, got ${spellMoment(bar.t)} and ${spellMoment(again)}`]
      : []),
  ]
  for (const fault of faults) reporterOf(reading, file)(fault, row)
  const others = { end: momentOf('end'), q: parseDecimal(cell('q')), symbol: cell('symbol') }
  return faults.length > 0 ? null : { ...bar, ...others, file, row }
}

/** Whether only the order of the prices can be wrong. */
const isRange = ({ o, h, l, c, v }: Bar): boolean => Math.min(o, h, l, c) > 0 && !(v < 0)

function explainImpossible(fields: readonly string[], bar: Bar): string[] {
  const columns = bar.h < bar.l ? ' --column states the right ones,' : ''
  const remedy = `;${columns} --drop-impossible leaves such bars out`
  if (isRange(bar)) return explainPrices(fields, bar).map(message => message + remedy)
  const words = BAR_COLUMNS.flatMap((name, i) => {
    const text = i === 0 ? '' : fields[i]!
    const isWord = text !== '' && Number.isNaN(parseDecimal(text))
    return isWord ? [`${name}: ${explainDecimal(text, 'a number')}`] : []
  })
  return words.length > 0 ? words : explainPrices(fields, bar)
}
