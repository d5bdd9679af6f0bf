// The dataset as bytes. This file and its two siblings own the format; `docs/publishing.md` describes it to
// readers in other languages.

import type { FigureBlock } from '#core/figures/figure.ts'
import type { Period } from '#core/figures/series.ts'
import type { DatasetRecord, StrategyRecord } from './snapshot.ts'

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
  readonly words: { readonly side: readonly string[]; readonly exit_reason: readonly string[] }
}
