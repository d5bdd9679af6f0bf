// The accumulation program as an operator plans it, and the bars that it runs on. Inside the program everything that
// could be a percent is a fraction, and money is a fraction of the equity; both become percents and dollars at the wire.
import type { EpochDay } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'

export const TIER_NAMES = ['core', 'cyclical', 'tactical'] as const
export type TierName = (typeof TIER_NAMES)[number]

/**
 * When a tier spends, and what fraction of its own cash. A rule sees the closes up to and including the bar it decides
 * on, and buys at the close of that bar.
 */
export type TierRule =
  /** All of its cash, on each contribution bar. */
  | { readonly kind: 'always' }
  /**
   * On each contribution bar by the Mayer multiple: close / mean of the last `mean_days` days of closes. The first band
   * that the multiple lies below decides; above all bands, and where the bars are too few for a mean, it holds its cash.
   */
  | {
      readonly kind: 'mayer'
      readonly mean_days: number
      /** Ascending. */
      readonly bands: readonly { readonly below: number; readonly spend: number }[]
    }
  /**
   * On the first touch of each step below the running high of the closes, on whatever bar that is. Where one bar touches
   * several steps at once the deepest decides. A new high arms all steps again.
   */
  | {
      readonly kind: 'dips'
      /** Ascending by depth. */
      readonly steps: readonly { readonly drawdown: number; readonly spend: number }[]
    }

/** `weight` is the fraction of every contribution that the tier gets; the weights of a program sum to 1. */
export type Tier = { readonly tier: TierName; readonly weight: number; readonly rule: TierRule }

/** `program.yaml`, read and sound. */
export type ProgramPlan = {
  readonly alias: string
  readonly instrument: string
  /** Spelled as in the book: `1d`. */
  readonly timeframe: string
  /** Both days belong to it. */
  readonly window: { readonly from: EpochDay; readonly to: EpochDay }
  /** In the order of `TIER_NAMES`. */
  readonly tiers: readonly Tier[]
  readonly contribution_cadence_bars: number
  readonly costs: { readonly fee_bps: number; readonly slippage_bps: number }
  readonly reference_equity_usd: number
  /** Ascending, without overlap; both days belong to a span, and one without an end goes on. */
  readonly paused: readonly { readonly from: EpochDay; readonly to: EpochDay | null }[]
  readonly tv_status: 'provisional' | 'confirmed' | 'diverged' | 'not_applicable'
}

/** A plan and what has happened so far: every figure of a program is a function of this. */
export type ProgramData = {
  readonly plan: ProgramPlan
  /** The warm-up and what has happened of the window; of the window no bar is missing. */
  readonly bars: Bars
  /** Index of the first bar of the window in `bars`; equal to their number as long as the window has not begun. */
  readonly first: number
  /** How many bars the window has from its first day to its last, happened or not. */
  readonly bars_planned: number
  /** The tiers against dca on windows that begin all over the history, or null where it is shorter than one. */
  readonly rolling: Rolling | null
}

/** The honesty figures: what one window, which may be a cherry-pick, cannot show. */
export type Rolling = {
  readonly windows: number
  /** Fraction of the windows in which the average cost was below that of dca. */
  readonly win_rate: number
  /** Median over the windows of 1 - average cost / dca, a fraction. */
  readonly median_cheaper: number
}

/** Fraction of a purchase that fee and slippage take. */
export const costFraction = ({ fee_bps, slippage_bps }: ProgramPlan['costs']): number =>
  (fee_bps + slippage_bps) / 10_000
