import { toIsoDate } from '#core/calendar.ts'
import { dayOf, type Series } from '#core/figures/series.ts'
import { toArrow } from './arrow.ts'
import { SNAPSHOT_FORMAT, type Snapshot, type StrategyData, type StrategyRecord } from './snapshot.ts'
import {
  EXIT_WORDS,
  type Rows,
  SIDES,
  type SnapshotBytes,
  type SnapshotDocument,
  TRADE_FLOATS,
} from './snapshot-files.ts'

/** The bytes of a snapshot. Equal snapshots give equal bytes. */
export function encodeSnapshot(snapshot: Snapshot): SnapshotBytes {
  return {
    document: new TextEncoder().encode(JSON.stringify(toDocument(snapshot))),
    daily: seriesTable(snapshot.strategies.map(({ daily }) => daily)),
    weekly: seriesTable(snapshot.strategies.map(({ weekly }) => weekly)),
    trades: tradeTable(snapshot.strategies),
    correlation: correlationTable(snapshot),
  }
}

function toDocument({ dataset, strategies, book, diversification }: Snapshot): SnapshotDocument {
  const rows = {
    daily: rowsOf(strategies.map(({ daily }) => daily.values.length)),
    weekly: rowsOf(strategies.map(({ weekly }) => weekly.values.length)),
    trades: rowsOf(strategies.map(({ trades }) => trades.entry_time.length)),
  }
  return {
    format_version: SNAPSHOT_FORMAT,
    dataset,
    strategies: strategies.map((strategy, i) => ({
      ...recordOf(strategy),
      daily: { ...rows.daily[i]!, first: toIsoDate(strategy.daily.first) },
      weekly: { ...rows.weekly[i]!, first: toIsoDate(strategy.weekly.first) },
      trades: rows.trades[i]!,
    })),
    book,
    diversification,
    words: { side: SIDES, exit_reason: EXIT_WORDS },
  }
}

function recordOf({
  daily: _daily,
  weekly: _weekly,
  trades: _trades,
  ...record
}: StrategyData): StrategyRecord {
  return record
}

/** The rows of each strategy when all are laid end to end. */
function rowsOf(lengths: readonly number[]): Rows[] {
  let offset = 0
  return lengths.map(length => {
    const rows = { offset, length }
    offset += length
    return rows
  })
}

/** `strategy` (position in the document), `t`, `ret`: one row a point. */
function seriesTable(all: readonly Series[]): Uint8Array {
  return toArrow(
    {
      strategy: positions(all.map(({ values }) => values.length)),
      t: days(all),
      ret: concatenate(all.map(({ values }) => values)),
    },
    ['t'],
  )
}

function days(all: readonly Series[]): Int32Array {
  const column = new Int32Array(all.reduce((sum, { values }) => sum + values.length, 0))
  let at = 0
  for (const series of all) {
    for (let i = 0; i < series.values.length; i++) column[at++] = dayOf(series, i)
  }
  return column
}

function tradeTable(strategies: readonly StrategyData[]): Uint8Array {
  const floats = TRADE_FLOATS.map(
    name => [name, concatenate(strategies.map(({ trades }) => trades[name]))] as const,
  )
  return toArrow({
    strategy: positions(strategies.map(({ trades }) => trades.entry_time.length)),
    side: Uint8Array.from(strategies.flatMap(({ trades }) => [...trades.side.codes])),
    exit_reason: Uint8Array.from(strategies.flatMap(({ trades }) => [...trades.exit_reason.codes])),
    ...Object.fromEntries(floats),
  })
}

/** The cells of both matrices, row by row; NaN where undefined. */
const correlationTable = ({ correlation: { daily, weekly } }: Snapshot): Uint8Array =>
  toArrow({
    daily_rho: daily.rho,
    daily_overlap: daily.overlap,
    weekly_rho: weekly.rho,
    weekly_overlap: weekly.overlap,
  })

function positions(lengths: readonly number[]): Int32Array {
  const all = new Int32Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  lengths.forEach((length, i) => {
    all.fill(i, at, at + length)
    at += length
  })
  return all
}

function concatenate(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
