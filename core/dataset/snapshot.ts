import type {
  Basis,
  FundingAssumption,
  RemovedStrategy,
  TvStatus,
  VerificationState,
} from '#core/contract/payloads/strategy.ts'
import type { Book } from '#core/figures/book.ts'
import type { CorrelationMatrix } from '#core/figures/correlation.ts'
import type { FigureBlock } from '#core/figures/figure.ts'
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

/** How far the funding of an instrument reaches within the window; instants in ISO 8601, null without a payment. */
export type FundingCoverage = {
  readonly instrument: string
  readonly from: string | null
  readonly to: string | null
  readonly payments: number
  readonly gaps: number
  readonly longest_gap_hours: number | null
  readonly payments_missing: number
  /** Null without funding. */
  readonly interval_basis: IntervalBasis | null
  /** The first has no `from`. */
  readonly intervals: readonly { readonly from: string | null; readonly hours: number }[]
}

/** Whether the catalogue states the intervals of funding, or the payments show one. */
export const INTERVAL_BASES = ['stated', 'inferred'] as const
export type IntervalBasis = (typeof INTERVAL_BASES)[number]

/** A serious finding in the data that the operator accepts; instants in ISO 8601. */
export type AcceptedFinding = {
  readonly finding: string
  /** The bars, as instrument and timeframe, or the id of a strategy. */
  readonly of: string
  readonly from: string
  readonly to: string
  /** Bars, trades or days that it concerns. */
  readonly count: number
  readonly what: string
  readonly reason: string
  /** The strategies whose history is made from these data. */
  readonly strategies: readonly string[]
}

export type DatasetRecord = {
  /** The dataset version: `2026-11-21T00:15:00Z`. */
  readonly version: string
  /** When its build began, if the name is more than 36 hours older (`entered.ts`); null if the name is the truth. */
  readonly entered: string | null
  readonly name: string
  readonly disclaimer: string
  readonly methodology_url: string
  readonly engine: string
  readonly data_source: string
  readonly max_modelled_risk_pct: number
  readonly embargo_days: number
  readonly window: DateWindow
  /** One entry for each instrument that a strategy is replayed or marked on. */
  readonly funding: readonly FundingCoverage[]
  readonly accepted_findings: readonly AcceptedFinding[]
  /** Whether the version alters history that the one before published; false until the two are compared. */
  readonly history_restated: boolean
  /** The definitions that its figures were computed by: see `definitions.ts`. */
  readonly method_revision: number
  /** What each version that led to this one changed, and last this one; the first that recorded it is the first here. */
  readonly lineage: readonly Ancestor[]
  /** In the order in which they were removed. */
  readonly removed: readonly RemovedStrategy[]
  /** Address of the service as its users see it, without a slash at the end; null if the catalogue does not state it. */
  readonly public_url: string | null
  /** Address of the page of the program; null if the catalogue does not state it. */
  readonly program_url: string | null
  /** Whether the data are made up: every page says so. */
  readonly synthetic: boolean
}

/** The source of the daily returns of a strategy. */
export type Marking = 'marked' | 'realised' | 'reported'

/** When an authority saw an entry of the log, and its name, as the time stamp says. */
export type TimeStamp = { readonly at: string; readonly by: string }

/** What a build measured of the trades of a strategy, as it is published. */
export type Measured = Readonly<
  Record<'trades_checked' | 'trades_at_stop', number> &
    Record<'mean_deviation_bps' | 'largest_deviation_bps' | 'loss_at_stop', number | null>
> & {
  /** Of how many closed trades the ledger states a cost, and its mean, basis points of notional at entry; left out without. */
  readonly stated_costs?: readonly (Record<'trades' | 'mean_bps', number> & { cost: 'fees' | 'funding' })[]
}

export type StrategyRecord = {
  readonly id: string
  readonly name: string
  readonly blurb: string | null
  readonly tv_status: TvStatus
  readonly verification_state: VerificationState
  readonly instrument: string
  readonly ccy: string
  readonly denomination: string
  readonly engine: string
  readonly data_source: string
  readonly methodology_url: string
  readonly base_risk_pct: number
  readonly commission_bps_per_side: number
  readonly slippage_ticks: number
  readonly tick_size: number
  readonly funding: FundingAssumption
  /** Of a ledger, whose results agree within this many basis points of equity; null otherwise. */
  readonly result_tolerance_bps: number | null
  /** Entries above it are refused, which steers a module; null in snapshots that were made before it was recorded. */
  readonly max_leverage: number | null
  readonly module_version: string | null
  /** Of the files of the module; null without one, and in snapshots that were made before it was recorded. */
  readonly rules_sha256: string | null
  /** Since when a module with these rules, or rules declared the same, is published; null without one. */
  readonly rules_since: string | null
  readonly leverage_typical: number | null
  readonly leverage_max: number | null
  /** The risk level above which an entry would have been over the leverage cap; null if no leverage is known. */
  readonly refused_above_risk_pct: number | null
  readonly marking: Marking
  /** Null in snapshots that were made before it was recorded. */
  readonly measured: Measured | null
  readonly inception: string
  readonly window: DateWindow
  readonly days_without_bars: number
  /** As the catalogue declares; null if it does not. */
  readonly trials: number | null
  /** The last day of its history, ISO, and why it ended; null while it goes on. */
  readonly ended: { readonly on: string; readonly reason: string } | null
  /** The day of the last exit, if no trade has followed for unusually long. */
  readonly idle_since: string | null
  /** The first version with this history; null until the version is compared, and if none was recorded. */
  readonly published_since: string | null
  /** Of the entry that first published this history; null without one, and in the version that does. */
  readonly time_stamp: TimeStamp | null
  /** The stats block with `fund_dd` in it, at base risk. */
  readonly figures: FigureBlock
}

/**
 * The closed trades of a strategy, a column each, by entry and then exit time. `stop`, `leverage` and
 * `account_return` are not published; NaN if unknown.
 */
export type TradeColumns = {
  readonly side: Words<Side>
  readonly entry_time: Float64Array
  readonly entry_price: Float64Array
  readonly exit_time: Float64Array
  readonly exit_price: Float64Array
  readonly exit_reason: Words<ExitReason>
  /** Net return per unit of notional, a fraction. */
  readonly notional_return: Float64Array
  readonly account_return: Float64Array
  readonly leverage: Float64Array
  readonly stop: Float64Array
}

/** Words of a closed list as their positions in it. */
export type Words<Word extends string> = { readonly codes: Uint8Array; readonly words: readonly Word[] }

export const wordAt = <Word extends string>({ codes, words }: Words<Word>, row: number): Word =>
  words[codes[row]!]!

export type StrategyData = StrategyRecord & {
  readonly daily: Series
  /** Complete ISO weeks only. */
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
  /** The equal-weight book of all strategies. */
  readonly book: Book
}

export type Snapshot = {
  readonly dataset: DatasetRecord
  /** In catalogue order. */
  readonly strategies: readonly StrategyData[]
  readonly correlation: Readonly<Record<Period, CorrelationMatrix>>
  /** The equal-weight book. */
  readonly book: FigureBlock
  readonly diversification: FigureBlock
  /** In the order in which the catalogue first names the instruments. */
  readonly benchmarks: readonly Benchmark[]
  /** Only of a part (`part.ts`), which has one strategy and no matrices. */
  readonly others?: Others
}

/** How the history of a strategy came about. */
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
