import { min, modeFast, sum } from 'simple-statistics'
import { barAt } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from '../book/cell.ts'
import { got, listed } from '../book/field.ts'
import {
  addBar,
  BAR_COLUMNS,
  explainPrices,
  isPossible,
  newBarColumns,
  toBar,
  toBarsFile,
} from '../book/read-bars.ts'
import { createReading, type Reading, reporterOf } from '../book/reading.ts'
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '../book/timeframe.ts'
import { parseZone, UTC, type Zone } from '../book/zone.ts'
import { BARS, isInside, isTimeNear } from './bar-formats.ts'
import { type Cell, toName } from './format.ts'
import { originOf, type ReadTable, readForeign } from './read-table.ts'
import { createTally, inOrder, type Tally } from './repair.ts'
import type { Statement } from './statement.ts'
import { explainDecimal, toFlag } from './values.ts'

/** One import: what is asked, the files as they are read, and what is found in them. */
type Import = {
  readonly reading: Reading
  readonly rules: Rules
  readonly zone: Zone | null
  readonly tally: Tally
  readonly files: ReadTable[]
}

type Rules = Statement & {
  readonly times?: 'open' | 'close' | undefined
  /** Which of the rows of one time counts. */
  readonly duplicates?: 'first' | 'last' | 'largest-volume' | undefined
  /** Whether the last bar is left out, because it was not over when the file was made. */
  readonly drop_last?: boolean | undefined
  /** Whether bars whose prices contradict each other are left out, which leaves gaps. */
  readonly drop_impossible?: boolean | undefined
  /** The files of one instrument. */
  readonly paths: readonly string[]
  /** Null: found by the distance of the bars. */
  readonly timeframe: Timeframe | null
  /** Strategy modules that are replayed on the bars, and may read the volume. */
  readonly readers: readonly string[]
}

/** A bar as a row of a file has it: `end` is its close time, `q` its quote volume, NaN if the file has none. */
type ReadBar = Bar &
  Readonly<Record<'row' | 'end' | 'q', number>> &
  Readonly<Record<'file' | 'symbol', string>>

/**
 * Reads bars of one instrument from files of any known format. Rows may be in any order and repeated; every repair is
 * a finding, and nothing is made up. Null if there is a problem, all of which are reported.
 */
export async function importBars(reading: Reading, rules: Rules) {
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const own: Import = { reading, rules, zone, tally: createTally(), files: [] }
  const read: (readonly ReadBar[])[] = []
  for (const path of rules.paths) read.push(await readBarRows(own, path))
  const placed = isRefused(own) ? null : atOpens(own, read.flat())
  if (placed === null) return null
  const { opens, timeframe } = placed
  const once = onePerTime(own, opens)
  for (const bar of once) refuse(own, bar, explainTime(bar, timeframe, reading.nowMs))
  const whole = withoutRunning(own, withVolume(own, once), TIMEFRAME_MS[timeframe])
  if (isRefused(own)) return null
  const [path, columns] = [rules.paths[0]!, newBarColumns()]
  if (whole.length === 0) return reporterOf(reading, path)('expected bars that are over, got none')
  for (const bar of whole) addBar(columns, bar)
  const file = toBarsFile(path, timeframe, columns)
  own.tally.count('gaps', path, sum(file.gaps.map(gap => gap.bars_missing)))
  return { ...file, ...originOf(own.files, own.tally, rules) }
}

function refuse({ reading }: Import, { file, row }: ReadBar, why: string | null): void {
  if (why !== null) reporterOf(reading, file)(why, row)
}

const isRefused = ({ reading, rules }: Import): boolean =>
  rules.paths.some(path => reading.problems.has(path))

/** Reads an answer of an exchange as an import does, with bars that are not over; or why it is none, as a whole or by a row. */
export async function readBarsAnswer(answer: Buffer, timeframe: Timeframe, nowMs: number) {
  const isJson = /^\s*[[{]/.test(answer.toString('latin1', 0, 20))
  // An answer is whole: its last line needs no break.
  const held = isJson ? answer : Buffer.concat([answer, Buffer.from('\n')])
  const reading = createReading('', { held, nowMs: nowMs + 2 * TIMEFRAME_MS[timeframe] })
  const paths = [isJson ? 'answer.json' : 'answer.csv']
  const imported = await importBars(reading, { paths, timeframe, readers: paths })
  if (imported !== null) return Array.from(imported.bars.t, (_, i) => barAt(imported.bars, i))
  const { message, row = 0 } = reading.problems.sorted()[0]!
  // What is wrong with columns is wrong from the first row on.
  return { why: row > 1 ? `row ${row}: ${message}` : message, isOneRow: row > 1 }
}

/** The bars by their opens, and their timeframe; null if they are not those of one instrument and timeframe, which is reported. */
function atOpens(own: Import, bars: readonly ReadBar[]) {
  const { reading, rules, tally, files } = own
  const report = reporterOf(reading, rules.paths[0]!)
  const symbols = [...new Set(bars.map(({ symbol }) => symbol))].filter(symbol => symbol !== '')
  if (symbols.length > 1) return report(`expected one instrument, got ${listed(symbols)}: split the file`)
  const closes = new Set(files.filter(file => labelOf(own, file) !== 'open').map(({ path }) => path))
  if (isRefused(own)) return null
  for (const path of closes) tally.count('shifted', path, 1)
  const times = bars.map(({ t, file }) => (closes.has(file) ? endOf(t) : t))
  const timeframe = timeframeOf(times, rules.timeframe)
  if (!isTimeframe(timeframe)) return report(timeframe)
  const ms = TIMEFRAME_MS[timeframe]
  const opens = bars.map((bar, i) => (closes.has(bar.file) ? { ...bar, t: times[i]! - ms } : bar))
  return { opens, timeframe }
}

/** What the times of a file are: as stated, by its format, or by the name of their column. Null if nothing says it, which is reported. */
function labelOf({ reading, rules }: Import, { path, names, places, format }: ReadTable): string | null {
  const column = names[places.get('t')![0]!]!
  const label = rules.times ?? format?.times ?? /^(?:open|close|end)/.exec(toName(column))?.[0]
  const unknown = `t: expected to know whether ${got(column)} is the open or the close of a bar, which a plain table does not say: state --times open or --times close`
  return label ?? reporterOf(reading, path)(unknown)
}

/** Some closes are the last millisecond or second of the bar. */
const endOf = (t: number): number => t + (t % 1000 === 999 ? 1 : t % 60_000 === 59_000 ? 1000 : 0)

/** Bars of a market without trades are missing in runs, too, and seldom in so long a run of equal distances. */
const LEAST_RUN = 8

const isTimeframe = (text: string): text is Timeframe => TIMEFRAMES.some(name => name === text)

/** The timeframe of bars, which all of them are apart, with gaps; or why there is none. */
function timeframeOf(times: readonly number[], stated: Timeframe | null): string {
  if (times.length === 0) return 'expected bars, got none'
  const sorted = Float64Array.from(times).sort()
  const steps = Array.from(sorted.subarray(1), (t, i) => t - sorted[i]!).filter(ms => ms > 0)
  if (steps.length < 2)
    return stated ?? 'expected a timeframe for so few bars, got none: state it with --timeframe'
  const spelled = (ms: number): string =>
    TIMEFRAMES.find(name => TIMEFRAME_MS[name] === ms) ?? `${ms / 1000} seconds`
  const usual = modeFast(steps)!
  const isOther = (ms: number, i: number): boolean =>
    ms !== usual &&
    isTimeframe(spelled(ms)) &&
    steps.slice(i, i + LEAST_RUN).filter(each => each === ms).length === LEAST_RUN
  const other = steps.find(isOther) ?? min(steps)
  const found = spelled(usual)
  if (other !== usual)
    return `expected bars of one timeframe, got most of them ${found} and some ${spelled(other)} apart`
  return isTimeframe(found) && (stated ?? found) === found
    ? found
    : `expected bars of ${stated ?? TIMEFRAMES.join(', ')}, got bars that are ${found} apart`
}

/** One row for each time: equal ones are dropped, and of others the one that is stated counts. */
function onePerTime(own: Import, bars: readonly ReadBar[]): readonly ReadBar[] {
  const { tally, rules } = own
  const kept: ReadBar[] = []
  for (const bar of inOrder(bars, tally)) {
    const before = kept.at(-1)
    if (before?.t !== bar.t) {
      kept.push(bar)
      continue
    }
    const isSame = BAR_COLUMNS.every(name => Object.is(before[name], bar[name]))
    if (!isSame && rules.duplicates === undefined) refuse(own, bar, explainRival(own, before, bar))
    const isLarger = rules.duplicates === 'largest-volume' && bar.v > before.v
    const lost = !isSame && (rules.duplicates === 'last' || isLarger) ? before : bar
    tally.drop(isSame ? 'duplicates' : 'chosen', lost.file, lost.row)
    if (lost === before) kept[kept.length - 1] = bar
  }
  return kept
}

function explainRival({ files }: Import, before: ReadBar, bar: ReadBar): string {
  const name = BAR_COLUMNS.find(each => !Object.is(before[each], bar[each]))!
  const clock = files.flatMap(({ unread }) => unread).find(({ column }) => /time|hour/i.test(column))?.column
  return (
    `${name}: expected one bar of ${spellMoment(bar.t)}, got ${before[name]} (row ${before.row} of ${before.file}) and ${bar[name]}: ` +
    `if they are of one source, --duplicates first, last or largest-volume states which counts; otherwise bring each source alone${clock === undefined ? '' : `; if ${got(clock)} is the time of day, join both with --column t=DATE+TIME`}`
  )
}

/** Why a bar cannot begin when it does, or end when its file says so; null if it can. */
function explainTime({ t, end }: ReadBar, timeframe: Timeframe, nowMs: number): string | null {
  const ms = TIMEFRAME_MS[timeframe]
  if (t % ms !== 0)
    return `t: expected the open of a ${timeframe} bar, counted from midnight UTC, got ${spellMoment(t)}: days of another zone are not days of UTC; state the right zone with --tz if times have none, or bring bars of a shorter timeframe`
  if (t > nowMs) return `t: expected a bar of the past, got ${spellMoment(t)}: correct the zone or the file`
  return end <= t || end > t + ms
    ? `expected a close at most ${timeframe} after ${spellMoment(t)}, got ${spellMoment(end)}: state what the times are with --times`
    : null
}

/**
 * Tests the volume: a number of milliseconds is none, and the quote volume is volume times price. Some rows of
 * CryptoDataDownload have both in each other's column. What contradicts is left blank, or refused if a module may read it.
 */
function withVolume(own: Import, bars: readonly ReadBar[]): readonly ReadBar[] {
  const { tally, rules } = own
  const isEpoch = ({ v, t }: ReadBar): boolean => isTimeNear(v, t)
  const isWrong = (bar: ReadBar): boolean => volumeFault(bar) === 'no_volume'
  // A column that is wrong in most rows is another thing in all of them.
  const isLost = [isEpoch, isWrong].some(test => bars.filter(test).length * 2 > bars.length)
  const refusal = `expected a volume that fits the other columns, because ${listed(rules.readers)} may read it`
  return bars.map(bar => {
    const fault = isLost ? 'no_volume' : volumeFault(bar)
    if (fault === null) return bar
    if (fault === 'no_volume' && rules.readers.length > 0)
      refuse(own, bar, `v: ${refusal}, got ${bar.v}: state the column with --column v=NAME`)
    tally.drop(fault, bar.file, bar.row)
    return { ...bar, v: fault === 'swapped_volume' ? bar.q : Number.NaN }
  })
}

function volumeFault(bar: ReadBar): 'swapped_volume' | 'no_volume' | null {
  const { v, q } = bar
  if (!(v > 0 && q > 0) || isInside(q / v, bar)) return null
  return isInside(v / q, bar) ? 'swapped_volume' : 'no_volume'
}

/** The bars that are over; a last one of which nobody knows is noted. */
function withoutRunning({ reading, rules, tally, files }: Import, bars: readonly ReadBar[], ms: number) {
  const whole = (rules.drop_last ? bars.slice(0, -1) : bars).filter(({ t }) => t + ms <= reading.nowMs)
  for (const { file, row } of bars.slice(whole.length)) tally.drop('unfinished', file, row)
  const last = whole.at(-1)
  const file = files.find(({ path }) => path === last?.file)
  if (last && file && bars.length === whole.length && !showsEnd(file, last.t + ms))
    tally.count('last_bar', last.file, 1)
  return whole
}

/** Whether a file shows that its last bar, which ends at an instant, was over when the file was made. */
function showsEnd({ name, places, path }: ReadTable, endMs: number): boolean {
  // An archive of a month or a day, `BTCUSDT-1h-2024-12.zip`, is made when it is over.
  const [period] = /\d{4}-\d\d(?:-\d\d)?(?=\.\w+(?:\.gz)?$)/.exec(path) ?? []
  const isArchive = period !== undefined && !spellMoment(endMs).startsWith(period)
  return places.has('over') || name === 'highwater' || (name === 'binance' && isArchive)
}

/** Reads the bars of a file, in its order and with its times. What is wrong is reported. */
async function readBarRows(own: Import, path: string): Promise<readonly ReadBar[]> {
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
