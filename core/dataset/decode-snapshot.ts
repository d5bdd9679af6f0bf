import { parseIsoDate } from '#core/calendar.ts'
import type { Period, Series } from '#core/figures/series.ts'
import { readCodes, readFloats, readIntegers } from './arrow.ts'
import { SNAPSHOT_FORMAT, type Snapshot, type StrategyData, type TradeColumns } from './snapshot.ts'
import {
  type DatedRows,
  EXIT_WORDS,
  type Rows,
  SIDES,
  type SnapshotBytes,
  type SnapshotDocument,
  TRADE_FLOATS,
} from './snapshot-files.ts'

/**
 * Reads a snapshot. The series are views on `bytes`, so the caller must not change them. The bytes are trusted as
 * far as their digests were checked; a format from another age is refused with what to do about it.
 */
export function decodeSnapshot(bytes: SnapshotBytes): Snapshot {
  const document = JSON.parse(new TextDecoder().decode(bytes.document)) as SnapshotDocument // written by our encoder
  assertReadable(document)
  const returnsOf = {
    daily: readFloats(bytes.daily, ['ret']).ret,
    weekly: readFloats(bytes.weekly, ['ret']).ret,
  }
  const tradesOf = tradeReader(bytes.trades)
  return {
    dataset: document.dataset,
    strategies: document.strategies.map(
      (record): StrategyData => ({
        ...record,
        daily: toSeries('daily', record.daily, returnsOf.daily),
        weekly: toSeries('weekly', record.weekly, returnsOf.weekly),
        trades: tradesOf(record.trades),
      }),
    ),
    correlation: readCorrelation(bytes.correlation, document.strategies.length),
    book: document.book,
    diversification: document.diversification,
  }
}

function assertReadable({ format_version, words }: SnapshotDocument): void {
  if (format_version !== SNAPSHOT_FORMAT) {
    throw new Error(
      `this snapshot has format ${format_version}, and this program reads format ${SNAPSHOT_FORMAT}: ` +
        (format_version > SNAPSHOT_FORMAT ? 'update the program' : 'build the version again'),
    )
  }
  if (words.side.join() !== SIDES.join() || words.exit_reason.join() !== EXIT_WORDS.join()) {
    throw new Error('this snapshot names its sides or exit reasons in another order: build the version again')
  }
}

function toSeries(period: Period, rows: DatedRows, all: Float64Array): Series {
  const first = parseIsoDate(rows.first)
  if (first === null) throw new Error(`not a date in the snapshot: ${rows.first}`)
  return { period, first, values: cut(all, rows) }
}

function tradeReader(bytes: Uint8Array): (rows: Rows) => TradeColumns {
  const codes = readCodes(bytes, ['side', 'exit_reason'])
  const floats = readFloats(bytes, TRADE_FLOATS)
  return rows => ({
    side: { codes: cut(codes.side, rows), words: SIDES },
    exit_reason: { codes: cut(codes.exit_reason, rows), words: EXIT_WORDS },
    entry_time: cut(floats.entry_time, rows),
    entry_price: cut(floats.entry_price, rows),
    exit_time: cut(floats.exit_time, rows),
    exit_price: cut(floats.exit_price, rows),
    notional_return: cut(floats.notional_return, rows),
    account_return: cut(floats.account_return, rows),
    leverage: cut(floats.leverage, rows),
    stop: cut(floats.stop, rows),
  })
}

function readCorrelation(bytes: Uint8Array, size: number): Snapshot['correlation'] {
  const rho = readFloats(bytes, ['daily_rho', 'weekly_rho'])
  const overlap = readIntegers(bytes, ['daily_overlap', 'weekly_overlap'])
  return {
    daily: { size, rho: rho.daily_rho, overlap: overlap.daily_overlap },
    weekly: { size, rho: rho.weekly_rho, overlap: overlap.weekly_overlap },
  }
}

const cut = <Values extends Float64Array | Uint8Array>(all: Values, { offset, length }: Rows): Values =>
  all.subarray(offset, offset + length) as Values // subarray of a typed array is one of the same type
