import type { Series } from '#core/figures/series.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import type { Bars, Funding } from '#core/replay/bars.ts'
import type { ChartExport } from '#core/replay/compare-charting.ts'
import type { Trade } from '#core/replay/trade.ts'
import type { Acceptance } from '../report/accept.ts'
import type { DataReport } from '../report/finding.ts'
import type { CatalogueStrategy, Service } from './catalogue.ts'
import type { Place, Problem } from './problem.ts'
import type { Timeframe } from './timeframe.ts'

/** The parts of a book without a problem: strategies whose entry and source are sound, market data, and the program. */
export type SoundParts = {
  readonly dir: string
  readonly service: Service | null
  /** In the order of the catalogue. */
  readonly strategies: readonly StrategyEntry[]
  /** The bars that some strategy needs; each set read once. */
  readonly bars: ReadonlyMap<BarsKey, BarsFile>
  /** By instrument; an instrument of which the catalogue states that it has none has no entry. */
  readonly funding: ReadonlyMap<string, FundingFile>
  readonly program: BookProgram | null
  readonly accept: readonly Acceptance[]
  /** What was stated at the import of tables, by their paths: it is published with the dataset. */
  readonly imports: Readonly<Record<string, string>>
}

/** An operator's book, read and sound: what a build computes from. */
export type Book = SoundParts & {
  readonly service: Service
  /** Every file that was read, in reading order, for the record of the build. */
  readonly inputs: readonly Input[]
  /** What the data cover and what is wrong with them; empty if the book was read without being examined. */
  readonly report: DataReport
  /** Unusual but harmless: files that the catalogue does not name, funding with gaps or of an interval not stated. */
  readonly warnings: readonly Problem[]
}

/** `BTCUSDT-PERP/4h`: names a set of bars. */
export type BarsKey = `${string}/${Timeframe}`

export type BarsFile = {
  readonly path: string
  readonly timeframe: Timeframe
  /** Each column is a SharedArrayBuffer. */
  readonly bars: Bars
  readonly gaps: readonly Gap[]
}

export type FundingFile = Funding & { readonly path: string }

/**
 * The accumulation program and its bars, the same object as in `Book.bars` if a strategy has them too.
 * Otherwise they are not among those, because they neither end nor begin the public window.
 */
export type BookProgram = { readonly plan: ProgramPlan; readonly bars: BarsFile }

/** An outage: the opens of the first and the last missing bar, epoch milliseconds, and their number. */
export type Gap = { readonly from: number; readonly to: number; readonly bars_missing: number }

/** A strategy of the catalogue with the defaults merged under it, and what its history is made of. */
export type StrategyEntry = Omit<CatalogueStrategy, 'source'> & {
  readonly source: Source
  /** What a charting tool exported of its trades. */
  readonly charting: readonly Charting[]
  /** The bars that replay and mark the strategy: a module's own timeframe, a ledger's `mark`; null for reported returns. */
  readonly bars: BarsKey | null
  /** The place of its inception in the catalogue, or of the strategy if it has none. */
  readonly inceptionPlace: Place
}

export type Source =
  | { readonly kind: 'module' /** Absolute; exports `strategy`. */; readonly path: string }
  | ({ readonly kind: 'ledger' } & Ledger)
  | {
      readonly kind: 'returns'
      readonly path: string
      readonly daily: Series /** For the trade statistics alone. */
      readonly ledger: Ledger | null
    }

/** The file of a book that the history of a strategy is made from. */
export const sourceFile = ({ id, source }: Pick<StrategyEntry, 'id' | 'source'>): string =>
  source.kind === 'module' ? `strategies/${id}.ts` : source.path

/** An export of a charting tool; `version` is that of the module whose trades it has, null for a ledger. */
export type Charting = ChartExport & { readonly path: string; readonly version: string | null }

/** A trade of a ledger; `part` tells equal parts of one entry apart. */
export type LedgerTrade = Trade & { readonly part?: string }

/** Trades by entry, then exit time; `rows[i]` is the row of trade `i` in the file. */
export type Ledger = {
  readonly path: string
  readonly trades: readonly LedgerTrade[]
  readonly rows: readonly number[]
}

/** A file that was read. `rows` counts the data rows of a table and is null for other files. */
export type Input = {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly rows: number | null
}
