import type { Bar } from '#core/replay/strategy.ts'
import { UnreadableFile } from '../table/lines.ts'
import { type MappedFile, readMapped } from '../table/mapped.ts'
import { BARS_TABLE } from './bars-table.ts'
import type { BarsFile } from './book.ts'
import { explainForeignMoment, parseDecimal, parseForeignMoment, spellMoment } from './cell.ts'
import { got, listed } from './field.ts'
import type { BarsSpec } from './file-spec.ts'
import { addBar, type BarColumns, explainPrices, isPossible, newBarColumns, toBarsFile } from './read-bars.ts'
import type { Reading } from './reading.ts'
import { createTally, type Repair, type Tally } from './repair.ts'
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from './timeframe.ts'
import { parseZone, UTC, type Zone } from './zone.ts'

/** Bars of files from elsewhere, and what was found in them. */
export type ImportedBars = BarsFile & {
  /** The format of each file. */
  readonly formats: readonly string[]
  /** Columns that were not read. */
  readonly ignored: readonly string[]
  readonly findings: readonly Repair[]
}

type BarsRules = BarsSpec & {
  /** Null: found by the distance of the bars. */
  readonly timeframe: Timeframe | null
}

/** What is collected from all files of an instrument, in the order of the files. */
type Collected = BarColumns & {
  readonly symbols: Set<string>
  /** The place of each bar in the files. */
  readonly places: { readonly file: string; readonly row: number }[]
}

/**
 * Reads bars of one instrument from files of any known format. Rows may be in any order and repeated; every repair is
 * a finding, and nothing is made up. Null if there is a problem, all of which are reported.
 */
export async function importBars(reading: Reading, rules: BarsRules): Promise<ImportedBars | null> {
  const tally = createTally()
  const collected: Collected = { ...newBarColumns(), symbols: new Set(), places: [] }
  const files: MappedFile[] = []
  for (const path of rules.path) files.push(...(await readFile(reading, path, rules, collected, tally)))
  const subject = rules.path[0]!
  if (rules.path.some(path => reading.problems.has(path))) return null
  const { symbols } = collected
  const refuse = (message: string, place: { readonly row?: number } = {}): null => {
    reading.problems.add({ file: subject, ...place, message })
    return null
  }
  if (symbols.size > 1) return refuse(`expected one instrument, got ${listed([...symbols])}: split the file`)

  const order = inOrder(collected, tally)
  const timeframe = toTimeframe(
    order.map(i => collected.t[i]!),
    rules.timeframe,
  )
  if (typeof timeframe !== 'object') return refuse(timeframe)
  const stray = order.find(i => collected.t[i]! % timeframe.ms !== 0)
  if (stray !== undefined)
    return refuse(explainStray(collected.t[stray]!, timeframe.name), collected.places[stray])

  const early = order.find(i => collected.t[i]! > reading.nowMs)
  if (early !== undefined)
    return refuse(
      `t: expected a bar of the past, got ${spellMoment(collected.t[early]!)}: correct the zone or the file`,
      collected.places[early],
    )
  const end = rules.drop_last ? order.length - 1 : order.length
  const whole = order.slice(0, end).filter(i => collected.t[i]! + timeframe.ms <= reading.nowMs)
  tally.count('unfinished', order.length - whole.length)
  if (whole.length === 0) return refuse('expected bars that are over, got none')
  const bars = toBarsFile(subject, timeframe.name, pickRows(collected, whole))
  tally.count(
    'gaps',
    bars.gaps.reduce((sum, gap) => sum + gap.bars_missing, 0),
  )
  return {
    ...bars,
    formats: files.map(({ format }) => format),
    ignored: [...new Set(files.flatMap(({ ignored }) => ignored))],
    findings: tally.findings(listed(rules.path)),
  }
}

/** The roles of a table of bars, in their order. */
const [T, O, H, L, C, V, Q, SYMBOL] = Object.keys(BARS_TABLE.roles).keys()

/** Reads the rows of one file into `into`; the mapping of its columns, or none if it cannot be read. */
async function readFile(
  reading: Reading,
  path: string,
  rules: BarsRules,
  into: Collected,
  tally: Tally,
): Promise<MappedFile[]> {
  const zone = rules.tz === undefined ? null : parseZone(rules.tz)
  const request = { as: rules.as, columns: rules.columns }
  const file = await readMapped(
    reading,
    path,
    () => BARS_TABLE,
    request,
    (fields, row) => {
      const texts = fields.map(field => field.trim())
      const bar = toBar(texts, zone)
      if (Number.isNaN(bar.t)) reportMoment(reading, path, row, texts[T!] ?? '', zone)
      else if ([O, H, L, C].every(role => BLANK.test(texts[role!] ?? ''))) tally.count('blank', 1)
      else if (isPossible(bar)) add(into, withRightVolume(bar, texts, tally), texts, path, row)
      else if (rules.drop_impossible && bar.l > 0 && bar.v >= 0) tally.count('impossible', 1)
      else reportImpossible(reading, texts, bar, path, row)
    },
  )
  if (file === null) return []
  tally.count('banner', file.bannerRows)
  // A last line without a line break may be cut off in the middle of a number.
  if (file.openRow !== null) {
    tally.count('cut_off', 1)
    if (into.places.at(-1)?.row === file.openRow && into.places.at(-1)?.file === path) removeLast(into)
  }
  return [file]
}

/** A zone that is missing is missing in every row: that ends the reading of the file. */
function reportMoment(reading: Reading, path: string, row: number, text: string, zone: Zone | null): void {
  const message = `t: ${explainForeignMoment(text, zone)}`
  if (zone === null && !Number.isNaN(parseForeignMoment(text, UTC))) throw new UnreadableFile(message, row)
  reading.problems.add({ file: path, row, message })
}

/** What pandas, JSON and old files of Yahoo write for a price that is not there. */
const BLANK = /^(?:|null|nan|none)$/i

function toBar(texts: readonly string[], zone: Zone | null): Bar {
  const price = (role = 0): number => parseDecimal(texts[role] ?? '')
  const volume = texts[V!] ?? ''
  return {
    ...{ t: parseForeignMoment(texts[T!] ?? '', zone), o: price(O), h: price(H), l: price(L), c: price(C) },
    v: BLANK.test(volume) ? 0 : parseDecimal(volume),
  }
}

function reportImpossible(
  reading: Reading,
  texts: readonly string[],
  bar: Bar,
  path: string,
  row: number,
): void {
  // In one row means in all of them: a sentence for the file.
  const comma = texts.findIndex((text, role) => role > T! && role <= C! && text.includes(','))
  if (comma >= 0) {
    const role = Object.keys(BARS_TABLE.roles)[comma]
    throw new UnreadableFile(
      `${role}: expected decimals with a point, got ${got(texts[comma])}: export the file so`,
      row,
    )
  }
  const isRange = Math.min(bar.o, bar.h, bar.l, bar.c) > 0 && bar.v >= 0
  const remedy = isRange ? '; --drop-impossible (drop_impossible: true) leaves such bars out' : ''
  for (const message of explainPrices(texts, bar))
    reading.problems.add({ file: path, row, message: message + remedy })
}

function add(into: Collected, bar: Bar, texts: readonly string[], file: string, row: number): void {
  addBar(into, BLANK.test(texts[V!] ?? '') ? { ...bar, v: Number.NaN } : bar)
  into.places.push({ file, row })
  const symbol = texts[SYMBOL!] ?? ''
  if (symbol !== '') into.symbols.add(symbol)
}

function removeLast({ places, t, o, h, l, c, v }: Collected): void {
  for (const column of [places, t, o, h, l, c, v]) column.pop()
}

/**
 * Some rows of CryptoDataDownload have the volumes of base and quote asset in each other's column. Their quotient is a
 * price inside the bar, or the inverse of one; where it is neither, the row stays as it is.
 */
function withRightVolume(bar: Bar, texts: readonly string[], tally: Tally): Bar {
  const quote = parseDecimal(texts[Q!] ?? '')
  if (!(quote > 0 && bar.v > 0) || isInside(bar, quote / bar.v) || !isInside(bar, bar.v / quote)) return bar
  tally.count('swapped_volume', 1)
  return { ...bar, v: quote }
}

const isInside = ({ l, h }: Bar, price: number): boolean => price >= l * 0.99 && price <= h * 1.01

/** The indices of the bars by time, each time once: of several the last one in the files. */
function inOrder(bars: Collected, tally: Tally): number[] {
  const { t } = bars
  const all = Array.from(t.keys())
  const late = all.filter(i => t[i]! < t[i - 1]!).length
  if (late > 0) all.sort((a, b) => t[a]! - t[b]! || a - b)
  tally.count(late > 1 && late >= t.length - 1 - countEqual(t) ? 'newest_first' : 'sorted', late)
  return all.filter((index, i) => {
    const next = all[i + 1]
    if (next === undefined || t[next] !== t[index]) return true
    const isSame = (['o', 'h', 'l', 'c', 'v'] as const).every(name =>
      Object.is(bars[name][index], bars[name][next]),
    )
    tally.count(isSame ? 'duplicates' : 'conflicts', 1)
    return false
  })
}

const countEqual = (t: readonly number[]): number => t.filter((ms, i) => ms === t[i - 1]).length

const pickRows = ({ t, o, h, l, c, v }: Collected, order: readonly number[]): BarColumns => {
  const at = (column: readonly number[]): number[] => order.map(i => column[i]!)
  return { t: at(t), o: at(o), h: at(h), l: at(l), c: at(c), v: at(v) }
}

/** The timeframe of ascending times: their smallest distance, which must be the usual one too. Otherwise why there is none. */
function toTimeframe(
  t: readonly number[],
  stated: Timeframe | null,
): { readonly name: Timeframe; readonly ms: number } | string {
  if (t.length === 0) return 'expected bars, got none'
  const counts = new Map<number, number>()
  for (let i = 1; i < t.length; i++) counts.set(t[i]! - t[i - 1]!, (counts.get(t[i]! - t[i - 1]!) ?? 0) + 1)
  const smallest = [...counts.keys()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const usual = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0]
  const found = TIMEFRAMES.find(name => TIMEFRAME_MS[name] === usual && usual === smallest)
  if (stated !== null && (found === stated || t.length < 3)) return { name: stated, ms: TIMEFRAME_MS[stated] }
  if (t.length < 3) return 'expected a timeframe for so few bars, got none: state it with --timeframe'
  if (stated !== null) return `expected bars of ${stated}, got bars that are ${spellSpan(usual)} apart`
  if (found !== undefined) return { name: found, ms: TIMEFRAME_MS[found] }
  return usual === smallest
    ? `expected bars of ${TIMEFRAMES.join(', ')}, got bars that are ${spellSpan(usual)} apart`
    : `expected bars of one timeframe, got most of them ${spellSpan(usual)} and some ${spellSpan(smallest)} apart`
}

const spellSpan = (ms: number): string =>
  TIMEFRAMES.find(name => TIMEFRAME_MS[name] === ms) ?? `${ms / 1000} seconds`

function explainStray(ms: number, timeframe: Timeframe): string {
  const expected = `t: expected the open of a ${timeframe} bar, counted from midnight UTC, got ${spellMoment(ms)}`
  return timeframe === '1d'
    ? `${expected}: days of another zone are not days of UTC; bring bars of a shorter timeframe`
    : `${expected}: state the right zone with --tz (tz:), if times have none`
}
