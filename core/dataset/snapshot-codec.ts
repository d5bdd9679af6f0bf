import {
  columnFromArray,
  dateDay,
  float64,
  int32,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  uint8,
} from '@uwdata/flechette'
import { DAY_MS, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { FigureValues } from '#core/figures/figure.ts'
import { dayOf, type Period, type Series } from '#core/figures/series.ts'
import { EXIT_REASONS } from '#core/replay/trade.ts'
import {
  type DatasetRecord,
  NO_MATRIX,
  SNAPSHOT_FORMAT,
  type Snapshot,
  type StrategyData,
  TRADE_FLOATS,
  type TradeColumns,
} from './snapshot.ts'
import {
  type DatedRows,
  type Rows,
  SIDES,
  type SnapshotBytes,
  type SnapshotDocument,
} from './snapshot-files.ts'

/** The bytes of a snapshot. Equal snapshots give equal bytes. */
export function encodeSnapshot(snapshot: Snapshot): SnapshotBytes {
  return {
    document: new TextEncoder().encode(JSON.stringify(toDocument(snapshot))),
    daily: seriesTable(snapshot.strategies.map(({ daily }) => daily)),
    weekly: seriesTable(snapshot.strategies.map(({ weekly }) => weekly)),
    trades: tradeTable(snapshot.strategies),
    correlation: correlationTable(snapshot),
    benchmarks: seriesTable(
      snapshot.benchmarks.map(({ daily }) => daily),
      'benchmark',
    ),
  }
}

function toDocument(snapshot: Snapshot): SnapshotDocument {
  const { dataset, strategies, book, diversification, benchmarks } = snapshot
  const rows = {
    daily: rowsOf(strategies.map(({ daily }) => daily.values.length)),
    weekly: rowsOf(strategies.map(({ weekly }) => weekly.values.length)),
    trades: rowsOf(strategies.map(({ trades }) => trades.entry_time.length)),
    benchmarks: rowsOf(benchmarks.map(({ daily }) => daily.values.length)),
  }
  return {
    format_version: SNAPSHOT_FORMAT,
    dataset,
    strategies: strategies.map(({ daily, weekly, trades: _, ...record }, i) => ({
      ...record,
      daily: { ...rows.daily[i]!, first: toIsoDate(daily.first) },
      weekly: { ...rows.weekly[i]!, first: toIsoDate(weekly.first) },
      trades: rows.trades[i]!,
    })),
    book,
    diversification,
    benchmarks: benchmarks.map(({ instrument, daily }, i) => ({
      instrument,
      ...rows.benchmarks[i]!,
      first: toIsoDate(daily.first),
    })),
    words: { side: SIDES, exit_reason: EXIT_REASONS },
  }
}

function rowsOf(lengths: readonly number[]): Rows[] {
  let offset = 0
  return lengths.map(length => {
    const rows = { offset, length }
    offset += length
    return rows
  })
}

/** `strategy` or `benchmark` (position in the document), `t`, `ret`: one row a point. */
function seriesTable(all: readonly Series[], of = 'strategy'): Uint8Array {
  const lengths = all.map(({ values }) => values.length)
  const daysOf = (i: number) => new Int32Array(lengths[i]!).map((_, row) => dayOf(all[i]!, row))
  return toArrow(
    {
      [of]: positions(lengths),
      t: columnOf(Int32Array, lengths, daysOf),
      ret: columnOf(Float64Array, lengths, i => all[i]!.values),
    },
    ['t'],
  )
}

function tradeTable(strategies: readonly StrategyData[]): Uint8Array {
  const all = strategies.map(({ trades }) => trades)
  const lengths = all.map(({ entry_time }) => entry_time.length)
  const codesOf = (name: 'side' | 'exit_reason') => columnOf(Uint8Array, lengths, i => all[i]![name].codes)
  const floats = TRADE_FLOATS.map(
    name => [name, columnOf(Float64Array, lengths, i => all[i]![name])] as const,
  )
  return toArrow({
    strategy: positions(lengths),
    side: codesOf('side'),
    exit_reason: codesOf('exit_reason'),
    ...Object.fromEntries(floats),
  })
}

/** The cells of both matrices, row by row; NaN if undefined. */
const correlationTable = ({ correlation: { daily, weekly } }: Snapshot): Uint8Array =>
  toArrow({
    daily_rho: daily.rho,
    daily_overlap: daily.overlap,
    weekly_rho: weekly.rho,
    weekly_overlap: weekly.overlap,
  })

const positions = (lengths: readonly number[]): Int32Array =>
  columnOf(Int32Array, lengths, i => new Int32Array(lengths[i]!).fill(i))

/** A column of as many rows for each; `partOf` gives those of one. */
function columnOf<Values extends ColumnValues>(
  type: ColumnType<Values>,
  lengths: readonly number[],
  partOf: (i: number) => Values,
): Values {
  const all = new type(lengths.reduce((sum, length) => sum + length, 0))
  for (const [i, { offset }] of rowsOf(lengths).entries()) all.set(partOf(i), offset)
  return all
}

/**
 * Reads a snapshot. The series are views on `bytes`, so the caller must not change them. The bytes are
 * trusted, because the caller has checked their checksums; another format is refused with the fix.
 */
export function decodeSnapshot(bytes: SnapshotBytes): Snapshot {
  const document = JSON.parse(new TextDecoder().decode(bytes.document)) as SnapshotDocument // written by our encoder
  assertReadable(document)
  const dailyOf = seriesReader('daily', bytes.daily)
  const weeklyOf = seriesReader('weekly', bytes.weekly)
  const tradesOf = tradeReader(bytes.trades)
  const heldOf = seriesReader('daily', bytes.benchmarks)
  const { book, diversification, benchmarks } = document
  return {
    dataset: readDataset(document.dataset),
    strategies: document.strategies.map(
      (record): StrategyData => ({
        ...withLater(record, LATER),
        figures: { ...record.figures, values: withField(record.figures.values, OPEN_SINCE) },
        daily: dailyOf(record.daily),
        weekly: weeklyOf(record.weekly),
        trades: tradesOf(record.trades),
      }),
    ),
    correlation: readCorrelation(bytes.correlation, document.strategies.length),
    book,
    diversification,
    benchmarks: benchmarks.map(({ instrument, ...rows }) => ({ instrument, daily: heldOf(rows) })),
  }
}

/** Fields that snapshots of the first release lack. */
const LATER = {
  ...{ measured: null, rules_sha256: null, rules_since: null, ended: null, idle_since: null },
  ...{ time_stamp: null, max_leverage: null, live: null },
}
const LATER_OF_DATASET = {
  ...{ public_url: null, program_url: null, entered: null, licence: null, seals: null },
  ...{ lineage: [], removed: [], stress_periods: [], synthetic: false },
}
const LATER_OF_ANCESTOR = { entered: null, changed: null, declared: [] }

/** The record, and behind its own fields those that it lacks. */
const withLater = <Stored extends object>(stored: Stored, later: Partial<Stored>): Stored => ({
  ...stored,
  ...later,
  ...stored,
})

function readDataset(stored: DatasetRecord): DatasetRecord {
  const dataset = withLater(stored, LATER_OF_DATASET)
  return {
    ...dataset,
    // In the order of their published bytes.
    funding: dataset.funding.map(({ payments_missing, interval_basis, intervals, ...coverage }) => ({
      ...{ payments_missing, interval_basis, intervals },
      ...coverage,
    })),
    lineage: dataset.lineage.map(ancestor => withLater(ancestor, LATER_OF_ANCESTOR)),
  }
}

/** The day since when a position is open, which the first release did not have. */
const OPEN_SINCE = ['fund_dd', 'exposure', 'open_since']

/** The same values if they have the field, or else with null for it: a build asks for every strategy. */
function withField(values: FigureValues, [field = '', ...rest]: readonly string[]): FigureValues {
  const value = values[field]
  const found = rest.length === 0 ? (value ?? null) : withField((value ?? {}) as FigureValues, rest) // a group
  return found === value ? values : { ...values, [field]: found }
}

function assertReadable({ format_version, words }: SnapshotDocument): void {
  if (format_version !== SNAPSHOT_FORMAT) {
    throw new Error(
      `this snapshot has format ${format_version}, and this program reads format ${SNAPSHOT_FORMAT}: ` +
        (format_version > SNAPSHOT_FORMAT ? 'update the program' : 'use the program that made it'),
    )
  }
  if (words.side.join() !== SIDES.join() || words.exit_reason.join() !== EXIT_REASONS.join()) {
    throw new Error(
      'this snapshot names its sides or exit reasons in another order: use the program that made it',
    )
  }
}

function seriesReader(period: Period, bytes: Uint8Array): (rows: DatedRows) => Series {
  const all = columnReader(bytes)('ret', Float64Array)
  return rows => {
    const first = parseIsoDate(rows.first)
    if (first === null) throw new Error(`not a date in the snapshot: ${rows.first}`)
    return { period, first, values: cut(all, rows) }
  }
}

type TradeFloats = Pick<TradeColumns, (typeof TRADE_FLOATS)[number]>

function tradeReader(bytes: Uint8Array): (rows: Rows) => TradeColumns {
  const read = columnReader(bytes)
  const [side, exit_reason] = [read('side', Uint8Array), read('exit_reason', Uint8Array)]
  const floats = TRADE_FLOATS.map(name => [name, read(name, Float64Array)] as const)
  return rows => ({
    side: { codes: cut(side, rows), words: SIDES },
    exit_reason: { codes: cut(exit_reason, rows), words: EXIT_REASONS },
    ...(Object.fromEntries(floats.map(([name, all]) => [name, cut(all, rows)])) as TradeFloats), // the same names
  })
}

function readCorrelation(bytes: Uint8Array, size: number): Snapshot['correlation'] {
  if (bytes.length === 0) return { daily: NO_MATRIX, weekly: NO_MATRIX } // it was not read
  const read = columnReader(bytes)
  const matrix = (period: Period) => ({
    size,
    rho: read(`${period}_rho`, Float64Array),
    overlap: read(`${period}_overlap`, Int32Array),
  })
  return { daily: matrix('daily'), weekly: matrix('weekly') }
}

const cut = <Values extends ColumnValues>(all: Values, { offset, length }: Rows): Values =>
  all.subarray(offset, offset + length) as Values // subarray of a typed array is one of the same type

// Columns as Arrow IPC files: one record batch, no nulls, so that reading them back copies nothing.

/** Columns are stored in the type of the array that holds them. */
type ColumnValues = Float64Array | Int32Array | Uint8Array
type ColumnType<Values extends ColumnValues> = { new (length: number): Values; readonly name: string }

/**
 * The bytes of an Arrow IPC file with these columns, all of one length. An Int32Array named in `dates` holds
 * epoch days and is stored as date32, which other tools read as dates.
 */
function toArrow(columns: Readonly<Record<string, ColumnValues>>, dates: readonly string[] = []): Uint8Array {
  const built = Object.entries(columns).map(([name, values]) => {
    const column = dates.includes(name) ? toDateColumn(values) : toColumn(values)
    return [name, column] as [string, typeof column]
  })
  const bytes = tableToIPC(tableFromColumns(built), { format: 'file' })
  if (bytes === null) throw new Error('the Arrow writer gave no bytes')
  return bytes
}

/** The writer takes milliseconds. */
const toDateColumn = (days: ColumnValues) =>
  columnFromArray(
    new Float64Array(days).map(day => day * DAY_MS),
    dateDay(),
  )

/** The writer takes the type of a column from its values, and must be given it if there are none. */
const toColumn = (values: ColumnValues) =>
  values.length > 0
    ? columnFromArray(values)
    : columnFromArray(
        [],
        values instanceof Float64Array ? float64() : values instanceof Int32Array ? int32() : uint8(),
      )

/** Reads columns of an Arrow file by name, as views on `bytes` if the file is aligned. */
function columnReader(bytes: Uint8Array) {
  // The reader makes its views at multiples of 8; bytes at another offset of their buffer are copied.
  const isAligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0
  const table = tableFromIPC(isAligned ? bytes : new Uint8Array(bytes))
  return <Values extends ColumnValues>(name: string, type: ColumnType<Values>): Values => {
    const column = table.getChild(name)
    if (column === undefined) throw new Error(`the Arrow file has no column '${name}'`)
    if (column.length === 0) return new type(0)
    const values = column.toArray()
    if (!(values instanceof type)) throw new Error(`the column '${name}' is not a ${type.name}`)
    return cut(values, { offset: 0, length: column.length })
  }
}
