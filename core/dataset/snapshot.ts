import type { DatasetPayload } from '#core/contract/payloads/dataset.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import type { Basis, StrategyPayload } from '#core/contract/payloads/strategy.ts'
import type { Book } from '#core/figures/book.ts'
import type { CorrelationMatrix } from '#core/figures/correlation.ts'
import type { FigureBlock } from '#core/figures/figure.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'
import type { Period, Series } from '#core/figures/series.ts'
import type { Side } from '#core/replay/strategy.ts'
import type { ExitReason } from '#core/replay/trade.ts'
import type { Ancestor } from './lineage.ts'

// The dataset in memory: everything that the resources are functions of.

/**
 * The one format that is read. A new field of the document needs no other: `decodeSnapshot` reads a missing one as unknown.
 * Raise it only together with a reader of the format before; otherwise no night can compare its version with the last one.
 */
export const SNAPSHOT_FORMAT = 1

/** First and last day, ISO dates; nulls without days. */
export type DateWindow = { readonly from: string | null; readonly to: string | null }

/** What is published of a dataset, and what only a build and its pages need. `history_restated` is false until two versions are compared. */
export type DatasetRecord = Omit<DatasetPayload, 'generated_utc' | 'strategy_count' | 'strategies'> & {
  readonly disclaimer: string
  readonly max_modelled_risk_pct: number
  /** The definitions that its figures were computed by: see `definitions.ts`. */
  readonly method_revision: number
  /** What each version that led to this one changed, and last this one; the first that recorded it is the first here. */
  readonly lineage: readonly Ancestor[]
  /** Address of the service as its users see it, without a slash at the end; null if the catalogue does not state it. */
  readonly public_url: string | null
  /** Address of the page of the program; null if the catalogue does not state it. */
  readonly program_url: string | null
  /** Whether the data are made up: every page says so. */
  readonly synthetic: boolean
  /** Of the published data, as the catalogue declares; null if it does not, and the disclaimer is all there is of terms. */
  readonly licence: Licence | null
  /** Of the sealed signals, as far as they are opened; null without any. */
  readonly seals: SealsRecord | null
}

/** `name` is an id of a licence, such as `CC-BY-4.0`, and `path` the address of its text. */
export type Licence = { readonly name: string; readonly title: string | null; readonly path: string | null }

export type Marking = 'marked' | 'realised' | 'reported'

/** When an authority saw an entry of the log, and its name, as the time stamp says. */
export type TimeStamp = { readonly at: string; readonly by: string }

/** What is published of a strategy, and what only a build and its pages need. `published_since` is null until two versions are compared. */
export type StrategyRecord = Omit<
  StrategyPayload,
  'basis' | 'ended_on' | 'ended_reason' | 'backtest_assumptions' | 'rules_declared_same'
> &
  StrategyPayload['backtest_assumptions'] & {
    readonly ccy: string
    readonly funding: NonNullable<StrategyPayload['backtest_assumptions']['funding']>
    /** Entries above it are refused, which steers a module; null in snapshots that were made before it was recorded. */
    readonly max_leverage: number | null
    /** The risk level above which an entry would have been over the leverage cap; null if no leverage is known. */
    readonly refused_above_risk_pct: number | null
    /** As the catalogue declares; null if it does not. */
    readonly trials: number | null
    /** The last day of its history, ISO, and why it ended; null while it goes on. */
    readonly ended: { readonly on: string; readonly reason: string } | null
    /** Of the entry that first published this history; null without one, and in the version that does. */
    readonly time_stamp: TimeStamp | null
    /** What was sealed and opened of it; null if nothing was. */
    readonly live: OpenedSignals | null
    readonly figures: FigureBlock
  }

/** Numbers of closed trades; `notional_return` is the net return per unit of notional, a fraction. */
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

/**
 * The closed trades of a strategy, a column each, by entry and then exit time. `stop`, `leverage` and
 * `account_return` are not published; NaN if unknown.
 */
export type TradeColumns = Readonly<Record<(typeof TRADE_FLOATS)[number], Float64Array>> & {
  readonly side: Words<Side>
  readonly exit_reason: Words<ExitReason>
}

/** Words of a closed list as their positions in it. */
export type Words<Word extends string> = { readonly codes: Uint8Array; readonly words: readonly Word[] }

export const wordAt = <Word extends string>({ codes, words }: Words<Word>, row: number): Word =>
  words[codes[row]!]!

export type StrategyData = StrategyRecord & {
  readonly daily: Series
  readonly weekly: Series
  readonly trades: TradeColumns
}

/** Holding an instrument: its daily returns as published, from the first to the last day of the strategies on it. */
export type Benchmark = { readonly instrument: string; readonly daily: Series }

/** A strategy whose daily returns move with those of another, and their correlation. */
export type Nearest = { readonly id: string; readonly name: string; readonly rho: number }

/** What the files of one strategy need of the other strategies. */
export type Others = {
  /** First the closest. */
  readonly nearest: readonly Nearest[]
  readonly book: Book
}

export type Snapshot = {
  readonly dataset: DatasetRecord
  /** In catalogue order. */
  readonly strategies: readonly StrategyData[]
  readonly correlation: Readonly<Record<Period, CorrelationMatrix>>
  readonly book: FigureBlock
  readonly diversification: FigureBlock
  /** In the order in which the catalogue first names the instruments. */
  readonly benchmarks: readonly Benchmark[]
  /** Only of a part (`part.ts`), which has one strategy and no matrices. */
  readonly others?: Others
}

export const basisOf = ({ marking }: Pick<StrategyRecord, 'marking'>): Basis =>
  marking === 'reported' ? 'reported' : 'backtested'

export const strategyOf = (snapshot: Snapshot, id: string): StrategyData | null =>
  snapshot.strategies[positionOf(snapshot, id) ?? -1] ?? null

/** The correlations of a part, and of a snapshot that was read without them. */
export const NO_MATRIX: CorrelationMatrix = {
  size: 0,
  rho: new Float64Array(0),
  overlap: new Int32Array(0),
}

/** The position of a strategy in the catalogue, and in the correlation matrices; undefined if there is none of this id. */
export function positionOf({ strategies }: Snapshot, id: string): number | undefined {
  let positions = POSITIONS.get(strategies)
  if (positions === undefined) {
    positions = new Map(strategies.map((strategy, i) => [strategy.id, i]))
    POSITIONS.set(strategies, positions)
  }
  return positions.get(id)
}

/** Made once for each snapshot, because every request looks a strategy up. */
const POSITIONS = new WeakMap<readonly StrategyData[], ReadonlyMap<string, number>>()

/**
 * The published effect of a trade on the equity, by account return, like the win rate: if the leverage is
 * unknown, prices alone may miss a cost and the sign.
 */
export const tradeResult = (accountReturn: number): 'win' | 'loss' | 'breakeven' =>
  accountReturn > 0 ? 'win' : accountReturn < 0 ? 'loss' : 'breakeven'
