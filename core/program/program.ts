// The accumulation program as an operator plans it, and the bars that it runs on. Inside the program
// everything that could be a percent is a fraction, and money is a fraction of the equity; both become
// percents and dollars at the wire.
import { z } from 'zod'
import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
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
const programPlan = z.object({
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

/** Figures over many windows, because a single window may be a lucky choice. */
const rolling = z.object({
  windows: z.int(),
  /** Fraction of the windows in which the average cost was below that of dca. */
  win_rate: z.number(),
  /** Median over the windows of 1 - average cost / dca, a fraction. */
  median_cheaper: z.number(),
})
export type Rolling = Readonly<z.infer<typeof rolling>>

const prices = z.array(z.number()).transform((values): Float64Array => Float64Array.from(values))

/** JSON has no NaN: a blank volume is null. */
const volumes = z
  .array(z.number().nullable())
  .transform((values): Float64Array => Float64Array.from(values, volume => volume ?? Number.NaN))

/** As JSON without loss, so that a service computes on exactly the data of the build. */
const programDataFile = z
  .object({
    plan: programPlan,
    /** The warm-up and the past part of the window, of which no bar is missing. */
    bars: z.object({
      timeframeMs: z.int(),
      t: prices,
      o: prices,
      h: prices,
      l: prices,
      c: prices,
      v: volumes,
    }),
    /** Index of the first bar of the window in `bars`; equal to their number before the window begins. */
    first: z.int().min(0),
    /** Number of bars of the whole window, future ones included. */
    bars_planned: z.int().min(1),
    /** The newest close of the market, after the window too, and its instant; null without bars. */
    mark: z.object({ at: z.int(), price: z.number() }).nullable(),
    /** The tiers against dca on windows all over the history, or null if it is shorter than one window. */
    rolling: rolling.nullable(),
  })
  .refine(({ bars, first }) => hasEqualColumns(bars) && first <= bars.t.length)

/** A plan and the market so far: every figure of a program is a function of this. */
export type ProgramData = Readonly<z.infer<typeof programDataFile>>

/** The data as a JSON value. */
export const toProgramDataFile = ({ bars, ...rest }: ProgramData): object => ({
  ...rest,
  bars: {
    timeframeMs: bars.timeframeMs,
    ...{ t: [...bars.t], o: [...bars.o], h: [...bars.h], l: [...bars.l], c: [...bars.c] },
    v: Array.from(bars.v, volume => (Number.isNaN(volume) ? null : volume)),
  },
})

/** The data in a JSON value, or null if it has another form. */
export const parseProgramDataFile = (value: unknown): ProgramData | null =>
  programDataFile.safeParse(value).data ?? null

const hasEqualColumns = ({ t, o, h, l, c, v }: Bars): boolean =>
  [o, h, l, c, v].every(({ length }) => length === t.length)

/** Fraction of a purchase that fee and slippage take. */
export const costFraction = ({ fee_bps, slippage_bps }: ProgramPlan['costs']): number =>
  (fee_bps + slippage_bps) / 10_000

/** Bars of a day, an integer for every timeframe that divides the day. */
export const barsPerDay = (timeframeMs: number): number => DAY_MS / timeframeMs

/** Whether the operator has paused the program on this day; a bar belongs to the UTC day of its open. */
export const isPausedOn = (spans: ProgramPlan['paused'], day: EpochDay): boolean =>
  spans.some(({ from, to }) => from <= day && (to === null || day <= to))

export const DEPLOYMENT_STATES = ['not_started', 'accumulating', 'paused', 'complete'] as const
type DeploymentState = (typeof DEPLOYMENT_STATES)[number]

/**
 * `not_started` before the first bar of the window has closed, `complete` once its last has, `paused` while
 * the newest bar is in a paused span, else `accumulating`.
 */
export function deploymentState({ plan, bars, first, bars_planned }: ProgramData): DeploymentState {
  const happened = bars.t.length - first
  if (happened === 0) return 'not_started'
  if (happened >= bars_planned) return 'complete'
  return isPausedOn(plan.paused, toEpochDay(bars.t.at(-1)!)) ? 'paused' : 'accumulating'
}
