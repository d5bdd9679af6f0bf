import type { Bar } from '#core/replay/strategy.ts'
import { UnreadableFile } from '../table/lines.ts'
import { type Cell, type MappedFile, type Origin, originOf, readMapped } from '../table/mapped.ts'
import { BARS_TABLE } from './bars-table.ts'
import type { BarsFile } from './book.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from './cell.ts'
import { got, listed } from './field.ts'
import type { BarsSpec } from './file-spec.ts'
import {
  addBar,
  BAR_COLUMNS,
  explainPrices,
  isPossible,
  newBarColumns,
  toBar,
  toBarsFile,
} from './read-bars.ts'
import { type Reading, reporterOf } from './reading.ts'
import { createTally, putInOrder, type Tally } from './repair.ts'
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from './timeframe.ts'
import { parseZone, UTC } from './zone.ts'

/** Bars of files from elsewhere, and what was found in them. */
export type ImportedBars = BarsFile & Origin

type BarsRules = BarsSpec & {
  /** Null: found by the distance of the bars. */
  readonly timeframe: Timeframe | null
}

type ReadBar = Bar & { readonly file: string; readonly row: number }

/**
 * Reads bars of one instrument from files of any known format. Rows may be in any order and repeated; every repair is
 * a finding, and nothing is made up. Null if there is a problem, all of which are reported.
 */
export async function importBars(reading: Reading, rules: BarsRules): Promise<ImportedBars | null> {
  const { path: paths, timeframe: stated } = rules
  const [tally, read, symbols]: [Tally, ReadBar[], Set<string>] = [createTally(), [], new Set()]
  const files: MappedFile[] = []
  for (const path of paths) files.push(...(await readFile(reading, path, rules, tally, { read, symbols })))
  if (paths.some(path => reading.problems.has(path))) return null
  const subject = paths[0]!
  const refuse = reporterOf(reading, subject)
  if (symbols.size > 1) return refuse(`expected one instrument, got ${listed([...symbols])}: split the file`)

  const isSame = (a: ReadBar, b: ReadBar): boolean => BAR_COLUMNS.every(name => Object.is(a[name], b[name]))
  const pairs: Pair[] = []
  const bars = putInOrder(read, tally, isSame, (...pair) => pairs.push(pair))
  const conflicts = pairs.filter(differByMore(pairs))
  const rivals = explainRivals(conflicts, read.length)
  if (rivals !== null) return reporterOf(reading, rivals.file)(rivals.message, rivals.row)
  tally.count('rounded', pairs.length - conflicts.length)
  tally.count('conflicts', conflicts.length)
  const distances = distancesOf(bars)
  const timeframe = bars.length < 3 ? stated : distances.timeframe
  if (timeframe === null || timeframe !== (stated ?? timeframe) || bars.length === 0)
    return refuse(explainTimeframe(bars.length, stated, distances))
  const timeframeMs = TIMEFRAME_MS[timeframe]
  const stray = bars.find(({ t }) => t % timeframeMs !== 0)
  if (stray !== undefined) return reporterOf(reading, stray.file)(explainStray(stray.t, timeframe), stray.row)
  const early = bars.find(({ t }) => t > reading.nowMs)
  if (early !== undefined)
    return reporterOf(reading, early.file)(
      `t: expected a bar of the past, got ${spellMoment(early.t)}: correct the zone or the file`,
      early.row,
    )
  const kept = rules.drop_last ? bars.slice(0, -1) : bars
  const whole = kept.filter(({ t }) => t + timeframeMs <= reading.nowMs)
  tally.count('unfinished', bars.length - whole.length)
  const last = whole.at(-1)
  if (last === undefined) return refuse('expected bars that are over, got none')
  const isLater = bars.length > whole.length
  if (!isLater && !showsEnd(files[paths.indexOf(last.file)]!, last.file, last.t + timeframeMs))
    tally.count('last_bar', 1)
  const columns = newBarColumns()
  for (const bar of whole) addBar(columns, bar)
  const file = toBarsFile(subject, timeframe, columns)
  tally.count(
    'gaps',
    file.gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
  )
  return { ...file, ...originOf(reading, files, tally, listed(paths)) }
}

/** Whether a file shows that its last bar, which ends at an instant, was over when the file was made. */
function showsEnd({ format, places }: MappedFile, path: string, endMs: number): boolean {
  // An archive of a month or a day, `BTCUSDT-1h-2024-12.zip`, is made when it is over.
  const [period] = /\d{4}-\d\d(?:-\d\d)?(?=\.\w+(?:\.gz)?$)/.exec(path) ?? []
  const isArchive = period !== undefined && !spellMoment(endMs).startsWith(period)
  return places.has('over') || format === 'highwater' || (format === 'binance' && isArchive)
}

/** Corrections of a bar move its close less than this, and concern few bars. */
const LARGEST_CORRECTION = 1.1
const MOST_CORRECTED = { share: 0.01, bars: 10 }

/** Two bars of one time with different values, the later row last. */
type Pair = readonly [ReadBar, ReadBar]

/** Why two bars of one time are no correction of each other, and where; null if there are none. */
function explainRivals(conflicts: readonly Pair[], rows: number) {
  const far = conflicts.find(([a, b]) => Math.max(a.c / b.c, b.c / a.c) > LARGEST_CORRECTION)
  const isMany = conflicts.length > Math.max(MOST_CORRECTED.bars, MOST_CORRECTED.share * rows)
  const [a, b] = far ?? (isMany ? conflicts[0]! : [])
  if (a === undefined || b === undefined) return null
  const name = far ? 'c' : BAR_COLUMNS.find(each => a[each] !== b[each])!
  const why = far
    ? 'these are two instruments, or two units: bring each alone'
    : `${conflicts.length} times have two bars that differ by more than another rounding of the same values, so these are two sources: bring each alone`
  const message = `${name}: expected one bar of ${spellMoment(a.t)}, got ${a[name]} (row ${a.row} of ${a.file}) and ${b[name]}: ${why}`
  return { file: b.file, row: b.row, message }
}

/** A price with fewer digits could be another price. */
const COARSEST_ROUNDING = 1e-3

/**
 * Whether two bars differ by more than the rounding of their files: by more than a unit of the last decimal of the coarser
 * one. Numbers have lost the zeros at their end, so that a file has the decimals of its longest value.
 */
function differByMore(pairs: readonly Pair[]): (pair: Pair) => boolean {
  const decimals = new Map<string, number>()
  const keyOf = ({ file }: ReadBar, name: string): string => `${name === 'v' ? 'v' : 'o'} ${file}`
  for (const bar of pairs.flat())
    for (const name of BAR_COLUMNS.slice(1))
      decimals.set(keyOf(bar, name), Math.max(decimals.get(keyOf(bar, name)) ?? 0, decimalsOf(bar[name])))
  return ([a, b]) =>
    BAR_COLUMNS.slice(1).some(name => {
      const unit = 10 ** -Math.min(decimals.get(keyOf(a, name))!, decimals.get(keyOf(b, name))!)
      const most = name === 'v' ? unit : Math.min(unit, COARSEST_ROUNDING * a[name])
      return Math.abs(a[name] - b[name]) > most * 1.001 // what binary fractions add
    })
}

function decimalsOf(value: number): number {
  const [, fraction = '', exponent = '0'] = /^\d+(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value)) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/** Reads the rows of one file into `into`; the mapping of its columns, or none if it cannot be read. */
async function readFile(
  reading: Reading,
  path: string,
  { as, columns, tz, ...rules }: BarsRules,
  tally: Tally,
  { read, symbols }: { readonly read: ReadBar[]; readonly symbols: Set<string> },
): Promise<MappedFile[]> {
  const zone = tz === undefined ? null : parseZone(tz)
  const report = reporterOf(reading, path)
  const file = await readMapped(
    reading,
    path,
    () => BARS_TABLE,
    { as, columns, tally },
    (cell, row) => {
      const fields = BAR_COLUMNS.map(role => cell(role).replace(BLANK, ''))
      const bar = toBar(fields, text => parseForeignMoment(text, zone))
      if (Number.isNaN(bar.t)) {
        const message = `t: ${explainForeignMoment(cell('t'), zone)}`
        // A zone that is missing is missing in every row: that ends the reading of the file.
        const isLocal = zone === null && !Number.isNaN(parseForeignMoment(cell('t'), UTC))
        if (isLocal) throw new UnreadableFile(message, row)
        report(message, row)
      } else if (fields.slice(1, 5).every(text => text === '')) tally.count('blank', 1)
      else if (/^(?:0|false)$/i.test(cell('over'))) tally.count('unfinished', 1)
      else if (isPossible(bar)) {
        read.push({ ...bar, v: volumeOf(bar, cell, tally), file: path, row })
        if (cell('symbol') !== '') symbols.add(cell('symbol'))
      } else if (rules.drop_impossible && isRange(bar)) tally.count('impossible', 1)
      else for (const message of explainImpossible(fields, bar, row)) report(message, row)
    },
  )
  if (file === null) return []
  // A last line without a line break may be cut off in the middle of a number.
  if (file.openRow !== null) {
    tally.count('cut_off', 1)
    if (read.at(-1)?.row === file.openRow && read.at(-1)?.file === path) read.pop()
  }
  return [file]
}

/** What pandas, JSON and old files of Yahoo write for a price that is not there. */
const BLANK = /^(?:null|nan|none)$/i

/** Whether only the order of the prices can be wrong. */
const isRange = ({ o, h, l, c, v }: Bar): boolean => Math.min(o, h, l, c) > 0 && !(v < 0)

function explainImpossible(fields: readonly string[], bar: Bar, row: number): string[] {
  // In one row means in all of them: a sentence for the file.
  const comma = fields.findIndex((text, i) => i > 0 && i < 5 && text.includes(','))
  if (comma >= 0)
    throw new UnreadableFile(
      `${BAR_COLUMNS[comma]}: expected decimals with a point, got ${got(fields[comma])}: export the file so`,
      row,
    )
  const columns = bar.h < bar.l ? ' --column (columns:) states the right ones,' : ''
  const remedy = `;${columns} --drop-impossible (drop_impossible: true) leaves such bars out`
  return explainPrices(fields, bar).map(message => message + (isRange(bar) ? remedy : ''))
}

/**
 * Some rows of CryptoDataDownload have the volumes of base and quote asset in each other's column. Their quotient is a
 * price inside the bar, or the inverse of one; where it is neither, the row stays as it is.
 */
function volumeOf({ h, l, v }: Bar, cell: Cell, tally: Tally): number {
  const quote = parseDecimal(cell('q'))
  const isInside = (price: number): boolean => price >= l * 0.99 && price <= h * 1.01
  if (!(quote > 0 && v > 0) || isInside(quote / v) || !isInside(v / quote)) return v
  tally.count('swapped_volume', 1)
  return quote
}

/** The smallest and the usual distance of bars; if they are the same, it may be that of a timeframe. */
function distancesOf(bars: readonly Bar[]) {
  const counts = new Map<number, number>()
  for (let i = 1; i < bars.length; i++) {
    const distance = bars[i]!.t - bars[i - 1]!.t
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  const smallest = [...counts.keys()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const [usual] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])
  const timeframe = TIMEFRAMES.find(name => TIMEFRAME_MS[name] === usual && usual === smallest) ?? null
  return { smallest, usual, timeframe }
}

function explainTimeframe(
  count: number,
  stated: Timeframe | null,
  { smallest, usual }: ReturnType<typeof distancesOf>,
): string {
  if (count === 0) return 'expected bars, got none'
  if (count < 3) return 'expected a timeframe for so few bars, got none: state it with --timeframe'
  if (stated === null && usual !== smallest)
    return `expected bars of one timeframe, got most of them ${spellSpan(usual)} and some ${spellSpan(smallest)} apart`
  return `expected bars of ${stated ?? TIMEFRAMES.join(', ')}, got bars that are ${spellSpan(usual)} apart`
}

const spellSpan = (ms: number): string =>
  TIMEFRAMES.find(name => TIMEFRAME_MS[name] === ms) ?? `${ms / 1000} seconds`

function explainStray(ms: number, timeframe: Timeframe): string {
  const expected = `t: expected the open of a ${timeframe} bar, counted from midnight UTC, got ${spellMoment(ms)}`
  return timeframe === '1d'
    ? `${expected}: days of another zone are not days of UTC; bring bars of a shorter timeframe`
    : `${expected}: state the right zone with --tz (tz:), if times have none`
}
