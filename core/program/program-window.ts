import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
import { type Bars, lastAtOrBefore } from '#core/replay/bars.ts'
import type { ProgramData, ProgramPlan } from './program.ts'

/** A range of bars as indices: the first, and the one after the last. */
export type Range = { readonly from: number; readonly to: number }

/** The bars that open inside the window; before it begins, an empty range at the end of the bars. */
export const windowRange = ({ from, to }: ProgramPlan['window'], { t }: Bars): Range => ({
  from: countBefore(t, from * DAY_MS),
  to: countBefore(t, (to + 1) * DAY_MS),
})

/** Number of the ascending times before the instant; times are whole milliseconds. */
const countBefore = (times: Float64Array, ms: number): number => lastAtOrBefore(times, ms - 1) + 1

/** Days of bars that a program keeps from before its window: the Mayer multiple uses 200. */
const WARM_UP_DAYS = 200

/** Bars of a day, an integer for every timeframe that divides the day. */
export const barsPerDay = (timeframeMs: number): number => DAY_MS / timeframeMs

/**
 * Number of bars of the window from its first day to its last, both inclusive, future ones included. It is
 * known from the first day on, so a new bar never changes a contribution.
 */
export const plannedBars = ({ from, to }: ProgramPlan['window'], timeframeMs: number): number =>
  (to - from + 1) * barsPerDay(timeframeMs)

/** Number of bars before a window that its rules use: 200 days of bars, or more if a mean is longer. */
export function warmUpBars({ tiers }: ProgramPlan, timeframeMs: number): number {
  const meanDays = tiers.map(({ rule }) => (rule.kind === 'mayer' ? rule.mean_days : 0))
  return Math.max(WARM_UP_DAYS, ...meanDays) * barsPerDay(timeframeMs)
}

/**
 * The number of contributions, `ceil(planned bars / cadence)`: one at bar 0 and at each multiple of the
 * cadence inside the window. If the cadence is longer than the window, there is only the one at bar 0.
 */
export const contributionCount = (planned: number, cadenceBars: number): number =>
  Math.ceil(planned / cadenceBars)

type Spans = ProgramPlan['paused']

/** Whether the operator has paused the program on this day; a bar belongs to the UTC day of its open. */
export const isPausedOn = (spans: Spans, day: EpochDay): boolean =>
  spans.some(({ from, to }) => from <= day && (to === null || day <= to))

/** For each bar from `first` on: 1 if the program is paused, otherwise 0. */
export function pausedBars(spans: Spans, { t }: Bars, first: number): Uint8Array {
  const paused = new Uint8Array(t.length - first)
  if (spans.length === 0) return paused
  for (let i = 0; i < paused.length; i++) paused[i] = isPausedOn(spans, toEpochDay(t[first + i]!)) ? 1 : 0
  return paused
}

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
