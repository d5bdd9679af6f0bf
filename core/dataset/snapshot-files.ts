// The dataset as bytes. This file and its two siblings own the format; `docs/publishing.md` describes it to
// readers in other languages.

import type { FigureBlock } from '#core/figures/figure.ts'
import type { Period } from '#core/figures/series.ts'
import type { DatasetRecord, Others, StrategyRecord } from './snapshot.ts'

export const SNAPSHOT_FILES = {
  document: 'snapshot.json',
  daily: 'snapshot.daily.arrow',
  weekly: 'snapshot.weekly.arrow',
  trades: 'snapshot.trades.arrow',
  correlation: 'snapshot.correlation.arrow',
  benchmarks: 'snapshot.benchmarks.arrow',
} as const

export type SnapshotFile = keyof typeof SNAPSHOT_FILES

export type SnapshotBytes = Readonly<Record<SnapshotFile, Uint8Array>>

/** Words behind the codes of sides; those of exits are `EXIT_REASONS`. */
export const SIDES = ['long', 'short'] as const

export const TRADE_FLOATS = [
  'entry_time',
  'entry_price',
  'exit_time',
  'exit_price',
  'notional_return',
  'account_return',
  'leverage',
  'stop',
] as const

/** The rows of a strategy in a table, and for a series the day of its first point. */
export type Rows = { readonly offset: number; readonly length: number }
export type DatedRows = Rows & { readonly first: string }

/** `snapshot.json`: everything but the long columns. */
export type SnapshotDocument = {
  readonly format_version: number
  readonly dataset: DatasetRecord
  readonly strategies: readonly (StrategyRecord &
    Readonly<Record<Period, DatedRows>> & { readonly trades: Rows })[]
  readonly book: FigureBlock
  readonly diversification: FigureBlock
  readonly benchmarks: readonly (DatedRows & { readonly instrument: string })[]
  readonly others?: Pick<Others, 'nearest'> & {
    /** The first day, and of each day the return and how many strategies are alive. */
    readonly book: {
      readonly first: string
      readonly ret: readonly number[]
      readonly alive: readonly number[]
    }
  }
  readonly words: { readonly side: readonly string[]; readonly exit_reason: readonly string[] }
}

/** Fields of a strategy that snapshots of the first release do not have. */
export const LATER_FIELDS = [
  ...(['measured', 'rules_sha256', 'rules_since', 'ended', 'idle_since'] as const),
  ...(['time_stamp', 'max_leverage', 'live'] as const),
]

/** The record with null for each of the fields that it lacks. */
export const withNulls = <Stored extends object>(
  stored: Stored,
  fields: readonly (keyof Stored)[],
): Stored => ({
  ...stored,
  ...Object.fromEntries(fields.filter(field => !(field in stored)).map(field => [field, null])),
})
