// The accumulation program as an operator plans it, and the bars that it runs on. Inside the program
// everything that could be a percent is a fraction, and money is a fraction of the equity; both become
// percents and dollars at the wire.
import { z } from 'zod'
import type { Bars } from '#core/replay/bars.ts'

export const TIER_NAMES = ['core', 'cyclical', 'tactical'] as const
export type TierName = (typeof TIER_NAMES)[number]

/** An epoch day. */
const day = z.int()

/**
 * When a tier spends, and what fraction of its own cash. A rule sees the closes up to and including the
 * current bar, and buys at the close of that bar.
 */
const tierRule = z.discriminatedUnion('kind', [
  /** All of its cash, on each contribution bar. */
  z.object({ kind: z.literal('always') }),
  /**
   * On each contribution bar by the Mayer multiple: close / mean of the last `mean_days` days of closes. The
   * first of the ascending bands that the multiple lies below decides; above all bands, and if the bars
   * are too few for a mean, it holds its cash.
   */
  z.object({
    kind: z.literal('mayer'),
    mean_days: z.int(),
    bands: z.array(z.object({ below: z.number(), spend: z.number() })).readonly(),
  }),
  /**
   * On the first touch of each step below the running high of the closes, on whatever bar that is. Steps
   * ascend by depth; if a bar touches several the deepest decides. A new high arms all steps again.
   */
  z.object({
    kind: z.literal('dips'),
    steps: z.array(z.object({ drawdown: z.number(), spend: z.number() })).readonly(),
  }),
])
export type TierRule = z.infer<typeof tierRule>

/** `weight` is the fraction of every contribution that the tier gets; the weights of a program sum to 1. */
const tier = z.object({ tier: z.enum(TIER_NAMES), weight: z.number(), rule: tierRule })
export type Tier = z.infer<typeof tier>

/** `program.yaml`, validated. */
export const programPlan = z.object({
  alias: z.string(),
  instrument: z.string(),
  /** As in the book: `1d`. */
  timeframe: z.string(),
  /** Both days belong to it. */
  window: z.object({ from: day, to: day }),
  /** In the order of `TIER_NAMES`. */
  tiers: z.array(tier).readonly(),
  contribution_cadence_bars: z.int(),
  costs: z.object({ fee_bps: z.number(), slippage_bps: z.number() }),
  reference_equity_usd: z.number(),
  /** Ascending, without overlap; both days belong to a span, and a span without an end is still open. */
  paused: z.array(z.object({ from: day, to: day.nullable() })).readonly(),
  tv_status: z.enum(['provisional', 'confirmed', 'diverged', 'not_applicable']),
})
export type ProgramPlan = Readonly<z.infer<typeof programPlan>>

/** A plan and the market so far: every figure of a program is a function of this. */
export type ProgramData = {
  readonly plan: ProgramPlan
  /** The warm-up and the past part of the window, of which no bar is missing. */
  readonly bars: Bars
  /** Index of the first bar of the window in `bars`; equal to their number before the window begins. */
  readonly first: number
  /** Number of bars of the whole window, future ones included. */
  readonly bars_planned: number
  /** The newest close of the market, after the window too, and its instant; null without bars. */
  readonly mark: Mark | null
  /** The tiers against dca on windows all over the history, or null if it is shorter than one window. */
  readonly rolling: Rolling | null
}

export const mark = z.object({ at: z.int(), price: z.number() })
type Mark = Readonly<z.infer<typeof mark>>

/** Figures over many windows, because a single window may be a lucky choice. */
export const rolling = z.object({
  windows: z.int(),
  /** Fraction of the windows in which the average cost was below that of dca. */
  win_rate: z.number(),
  /** Median over the windows of 1 - average cost / dca, a fraction. */
  median_cheaper: z.number(),
})
export type Rolling = Readonly<z.infer<typeof rolling>>

/** Fraction of a purchase that fee and slippage take. */
export const costFraction = ({ fee_bps, slippage_bps }: ProgramPlan['costs']): number =>
  (fee_bps + slippage_bps) / 10_000
