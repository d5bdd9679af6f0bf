import type { Bar } from '#core/replay/strategy.ts'
import type { BarsFile } from '../book/book.ts'
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
import { UnreadableFile } from '../table/lines.ts'
import { BARS, isInside, isTimeNear } from './bar-formats.ts'
import { type Cell, toName } from './format.ts'
import { explainDecimal } from './number.ts'
import { type Origin, originOf, type ReadTable, readForeign } from './read-table.ts'
import { createTally, inOrder, type Tally } from './repair.ts'
import type { BarsSpec } from './statement.ts'
import { toFlag } from './word.ts'

/** Bars of files from elsewhere, and what was found in them. */
export type ImportedBars = BarsFile & Origin

type Rules = BarsSpec & {
  /** Null: found by the distance of the bars. */
  readonly timeframe: Timeframe | null
  /** Strategy modules that are replayed on the bars, and may read the volume. */
  readonly readers: readonly string[]
}

/** A bar as a row of a file has it: `end` is its close time, `q` its quote volume, NaN if the file has none. */
type ReadBar = Bar & Readonly<Record<'row' | 'end' | 'q', number>> & { readonly file: string }

/** One import: what is asked, the files as they are read, and what is found in them. */
type Import = {
  readonly reading: Reading
  readonly rules: Rules
  readonly tally: Tally
  readonly files: ReadTable[]
}

/** Reports what is wrong with a bar. */
const refuse = ({ reading }: Import, { file, row }: Pick<ReadBar, 'file' | 'row'>, message: string): null =>
  reporterOf(reading, file)(message, row)

/**
 * Reads bars of one instrument from files of any known format. Rows may be in any order and repeated; every repair is
 * a finding, and nothing is made up. Null if there is a problem, all of which are reported.
 */
export async function importBars(reading: Reading, rules: Rules): Promise<ImportedBars | null> {
  const own: Import = { reading, rules, tally: createTally(), files: [] }
  const [read, symbols]: [ReadBar[], Set<string>] = [[], new Set()]
  for (const path of rules.path) await readFile(own, path, read, symbols)
  if (rules.path.some(path => reading.problems.has(path))) return null
  const report = reporterOf(reading, rules.path[0]!)
  if (symbols.size > 1) return report(`expected one instrument, got ${listed([...symbols])}: split the file`)
  const opens = atOpens(own, read)
  const once = opens && onePerTime(own, opens)
  if (once === null) return null
  const timeframe = timeframeOf(once, rules.timeframe)
  if (!isTimeframe(timeframe)) return report(timeframe)
  if (!areTimesSound(own, once, timeframe)) return null
  const whole = withoutRunning(own, withVolume(own, once), TIMEFRAME_MS[timeframe])
  if (reading.problems.has(rules.path[0]!)) return null
  if (whole.length === 0) return report('expected bars that are over, got none')
  const columns = newBarColumns()
  for (const bar of whole) addBar(columns, bar)
  const file = toBarsFile(rules.path[0]!, timeframe, columns)
  own.tally.count(
    'gaps',
    file.path,
    file.gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
  )
  return { ...file, ...originOf(reading, own.files, own.tally, rules) }
}

/**
 * Reads an answer of an exchange, as an import does: its bars, those that are not over among them; or why it is none, as a whole
 * or because of a row.
 */
export async function readBarsAnswer(answer: Buffer, timeframe: Timeframe, nowMs: number) {
  const isJson = /^\s*[[{]/.test(answer.toString('latin1', 0, 20))
  // An answer is whole: its last line needs no break.
  const held = isJson ? answer : Buffer.concat([answer, Buffer.from('\n')])
  const reading = createReading('', { held, nowMs: nowMs + 2 * TIMEFRAME_MS[timeframe] })
  const path = [isJson ? 'answer.json' : 'answer.csv']
  const imported = await importBars(reading, {
    path,
    timeframe,
    readers: path,
    drop_last: false,
    drop_impossible: false,
  })
  if (imported === null) {
    const { message, row = 0 } = reading.problems.sorted()[0]!
    // What is wrong with columns is wrong from the first row on.
    return { why: row > 1 ? `row ${row}: ${message}` : message, isOneRow: row > 1 }
  }
  const { t, o, h, l, c, v } = imported.bars
  return Array.from(t, (ms, i): Bar => ({ t: ms, o: o[i]!, h: h[i]!, l: l[i]!, c: c[i]!, v: v[i]! }))
}

/** Reads the rows of one file into `read`. */
async function readFile(
  { reading, rules, tally, files }: Import,
  path: string,
  read: ReadBar[],
  symbols: Set<string>,
) {
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const report = reporterOf(reading, path)
  const onRow = (cell: Cell, row: number): void => {
    const fields = BAR_COLUMNS.map(cell)
    const bar = toBar(fields, text => parseForeignMoment(text, zone))
    const over = toFlag(cell('over'))
    const lost =
      (fields.slice(1, 5).every(text => text === '') && 'blank') ||
      (over === false && 'unfinished') ||
      (rules.drop_impossible && isRange(bar) && !isPossible(bar) && 'impossible')
    if (lost) {
      tally.drop(lost, path, row)
      return
    }
    const faults = [
      ...(Number.isNaN(bar.t) ? [`t: ${explainForeignMoment(cell('t'), zone)}`] : []),
      ...(over === undefined ? [`over: expected true or false, got ${got(cell('over'))}`] : []),
      ...(isPossible(bar) ? contradictions(bar, cell, zone ?? UTC) : explainImpossible(fields, bar, row)),
    ]
    // A zone that is missing is missing in every row: that ends the reading of the file.
    const isLocal = Number.isNaN(bar.t) && zone === null && !Number.isNaN(parseForeignMoment(cell('t'), UTC))
    if (isLocal) throw new UnreadableFile(faults[0]!, row)
    for (const message of faults) report(message, row)
    if (cell('symbol') !== '') symbols.add(cell('symbol'))
    const [end, q] = [parseForeignMoment(cell('end'), zone ?? UTC), parseDecimal(cell('q'))]
    if (faults.length === 0) read.push({ ...bar, end, q, file: path, row })
  }
  const file = await readForeign(reading, path, () => BARS, { statement: rules, tally }, onRow)
  if (file === null) return
  files.push(file)
  // A last line without a line break may be cut off in the middle of a number.
  if (file.openRow === null || read.at(-1)?.row !== file.openRow || read.at(-1)?.file !== path) return
  tally.drop('cut_off', path, file.openRow)
  read.pop()
}

/** Whether only the order of the prices can be wrong. */
const isRange = ({ o, h, l, c, v }: Bar): boolean => Math.min(o, h, l, c) > 0 && !(v < 0)

function explainImpossible(fields: readonly string[], bar: Bar, row: number): string[] {
  // A number that is spelled in another way is so in all rows: a sentence for the file.
  const at = fields.findIndex((text, i) => i > 0 && text !== '' && Number.isNaN(parseDecimal(text)))
  if (at >= 0) throw new UnreadableFile(`${BAR_COLUMNS[at]}: ${explainDecimal(fields[at]!, 'a number')}`, row)
  const columns = bar.h < bar.l ? ' --column (columns:) states the right ones,' : ''
  const remedy = `;${columns} --drop-impossible (drop_impossible: true) leaves such bars out`
  return explainPrices(fields, bar).map(message => message + (isRange(bar) ? remedy : ''))
}

/** What the columns that are not read say against a bar. */
function contradictions({ t, l, h, v }: Bar, cell: Cell, zone: Zone): string[] {
  const [again, vwap] = [parseForeignMoment(cell('text'), zone), parseDecimal(cell('vwap'))]
  const isOther = !Number.isNaN(again) && !Number.isNaN(t) && again !== t
  return [
    ...(isOther
      ? [`t: expected one time in both columns, got ${spellMoment(t)} and ${spellMoment(again)}`]
      : []),
    ...(vwap > 0 && v > 0 && !isInside(vwap, l, h)
      ? [`expected a mean price from ${l} to ${h}, got ${vwap}`]
      : []),
  ]
}

/** One row for each time: equal ones are dropped, and of others the one that is stated counts. Null if none is stated. */
function onePerTime(own: Import, read: readonly ReadBar[]): readonly ReadBar[] | null {
  const { rules, tally } = own
  const isSame = (a: ReadBar, b: ReadBar): boolean => BAR_COLUMNS.every(name => Object.is(a[name], b[name]))
  const kept: ReadBar[] = []
  const rivals: (readonly [ReadBar, ReadBar])[] = []
  for (const bar of inOrder(read, tally)) {
    const before = kept.at(-1)
    if (before?.t !== bar.t) kept.push(bar)
    else if (isSame(before, bar)) tally.drop('duplicates', bar.file, bar.row)
    else if (rules.duplicates === undefined) rivals.push([before, bar])
    else {
      const takesNew =
        rules.duplicates === 'last' || (rules.duplicates === 'largest-volume' && bar.v > before.v)
      const lost = takesNew ? before : bar
      tally.drop('chosen', lost.file, lost.row)
      if (takesNew) kept[kept.length - 1] = bar
    }
  }
  const [pair] = rivals
  return pair === undefined ? kept : refuse(own, pair[1], explainRivals(own, pair, rivals.length))
}

function explainRivals({ files }: Import, [a, b]: readonly [ReadBar, ReadBar], count: number): string {
  const name = BAR_COLUMNS.find(each => a[each] !== b[each])!
  const clock = files.flatMap(({ unread }) => unread).find(({ column }) => /time|hour/i.test(column))?.column
  const join =
    clock &&
    `; if the time of day is in another column, join them with --column t=DATE+TIME (columns:), such as ${got(clock)}`
  return (
    `${name}: expected one bar of ${spellMoment(a.t)}, got ${a[name]} (row ${a.row} of ${a.file}) and ${b[name]}, as for ${count} rows: ` +
    `if they are of one source, --duplicates first, last or largest-volume (duplicates:) states which counts; otherwise bring each source alone${join ?? ''}`
  )
}

/** The bars by their opens. Null if it is not known what the times of a file are. */
function atOpens(
  { reading, rules, tally, files }: Import,
  bars: readonly ReadBar[],
): readonly ReadBar[] | null {
  const shifts = new Map<string, number>()
  for (const { path, places, names, format } of files) {
    const column = places
      .get('t')!
      .map(place => names[place])
      .join()
    const [, open, close] = /^(open)|^(close|end)/.exec(toName(column)) ?? []
    const times = rules.times ?? format?.times ?? (open ? 'open' : close ? 'close' : undefined)
    if (times === undefined) {
      const message = `t: expected to know whether ${got(column)} is the open or the close of a bar, which a plain table does not say: state --times open or --times close (times:)`
      return reporterOf(reading, path)(message)
    }
    if (times === 'open') continue
    tally.count('shifted', path, 1)
    const own = bars
      .filter(bar => bar.file === path)
      .map(({ t }) => t)
      .sort((a, b) => a - b)
    const steps = own.slice(1).flatMap((t, i) => (t > own[i]! ? [t - own[i]!] : []))
    shifts.set(
      path,
      rules.timeframe === null
        ? steps.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
        : TIMEFRAME_MS[rules.timeframe],
    )
  }
  // Some closes are the last millisecond or second of the bar.
  const openOf = (t: number, ms: number): number =>
    t - ms + (t % 1000 === 999 ? 1 : t % 60_000 === 59_000 ? 1000 : 0)
  return bars.map(bar => (shifts.has(bar.file) ? { ...bar, t: openOf(bar.t, shifts.get(bar.file)!) } : bar))
}

/** Whether every bar begins on the grid, ends where its file says so, and is of the past. */
function areTimesSound(own: Import, bars: readonly ReadBar[], timeframe: Timeframe): boolean {
  const ms = TIMEFRAME_MS[timeframe]
  const stray = bars.find(({ t, end }) => t % ms !== 0 || t > own.reading.nowMs || end <= t || end > t + ms)
  if (stray === undefined) return true
  const { t, end } = stray
  const zone =
    timeframe === '1d'
      ? 'days of another zone are not days of UTC; bring bars of a shorter timeframe'
      : 'state the right zone with --tz (tz:), if times have none'
  if (t % ms !== 0)
    refuse(
      own,
      stray,
      `t: expected the open of a ${timeframe} bar, counted from midnight UTC, got ${spellMoment(t)}: ${zone}`,
    )
  else if (t > own.reading.nowMs)
    refuse(own, stray, `t: expected a bar of the past, got ${spellMoment(t)}: correct the zone or the file`)
  else
    refuse(
      own,
      stray,
      `expected a close at most ${timeframe} after ${spellMoment(t)}, got ${spellMoment(end)}: state what the times are with --times (times:)`,
    )
  return false
}

/**
 * Tests the volume: a number of milliseconds is none, and the quote volume is volume times price. Some rows of
 * CryptoDataDownload have both in each other's column. What contradicts is left blank, or refused if a module may read it.
 */
function withVolume(own: Import, bars: readonly ReadBar[]): readonly ReadBar[] {
  const { readers } = own.rules
  const kindOf = ({ v, q, l, h }: ReadBar): 'swapped_volume' | 'no_volume' | null => {
    if (!(v > 0 && q > 0) || isInside(q / v, l, h)) return null
    return isInside(v / q, l, h) ? 'swapped_volume' : 'no_volume'
  }
  const isTime = bars.filter(({ v, t }) => isTimeNear(v, t)).length * 2 > bars.length
  const wrong = isTime ? bars : bars.filter(bar => kindOf(bar) === 'no_volume')
  if (wrong[0] !== undefined && readers.length > 0)
    refuse(
      own,
      wrong[0],
      `v: expected a volume that fits the other columns, because ${listed(readers)} may read it, got ${wrong[0].v}: state the column with --column v=NAME (columns:)`,
    )
  // A column that is wrong in most rows is another thing in all of them.
  const isLost = wrong.length * 2 > bars.length
  return bars.map(bar => {
    const kind = isLost ? 'no_volume' : kindOf(bar)
    if (kind === null) return bar
    own.tally.drop(kind, bar.file, bar.row)
    return { ...bar, v: kind === 'swapped_volume' ? bar.q : Number.NaN }
  })
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

/** Bars of a market without trades are missing in runs, too, and seldom in so long a run of equal distances. */
const LEAST_RUN = 8

const isTimeframe = (text: string): text is Timeframe => TIMEFRAMES.some(name => name === text)

/** The timeframe of bars, which all of them are apart, with gaps; or why there is none. */
function timeframeOf(bars: readonly Bar[], stated: Timeframe | null): string {
  if (bars.length === 0) return 'expected bars, got none'
  if (bars.length < 3)
    return stated ?? 'expected a timeframe for so few bars, got none: state it with --timeframe'
  const steps = bars.slice(1).map(({ t }, i) => t - bars[i]!.t)
  const distances = Map.groupBy(steps, ms => ms)
  const smallest = [...distances.keys()].reduce((a, b) => Math.min(a, b))
  const [usual] = [...distances].reduce((a, b) => (b[1].length > a[1].length ? b : a))
  const spelled = (ms: number): string =>
    TIMEFRAMES.find(name => TIMEFRAME_MS[name] === ms) ?? `${ms / 1000} seconds`
  const isRun = (ms: number, i: number): boolean =>
    i + LEAST_RUN <= steps.length && steps.slice(i, i + LEAST_RUN).every(each => each === ms)
  const other = steps.find((ms, i) => ms !== usual && isTimeframe(spelled(ms)) && isRun(ms, i))
  if (other !== undefined)
    return `expected bars of one timeframe, got most of them ${spelled(usual)} and some ${spelled(other)} apart`
  if (stated === null && usual !== smallest)
    return `expected bars of one timeframe, got most of them ${spelled(usual)} and some ${spelled(smallest)} apart`
  return usual === smallest && isTimeframe(spelled(usual)) && (stated ?? spelled(usual)) === spelled(usual)
    ? spelled(usual)
    : `expected bars of ${stated ?? TIMEFRAMES.join(', ')}, got bars that are ${spelled(usual)} apart`
}
