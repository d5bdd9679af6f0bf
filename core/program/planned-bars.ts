import { DAY_MS } from '#core/calendar.ts'
import type { ProgramPlan } from './program.ts'

/** How many days of bars a program keeps from before its window: the Mayer multiple asks for that many. */
export const WARM_UP_DAYS = 200

/** Bars of a day; whole for every timeframe that divides the day. */
export const barsPerDay = (timeframeMs: number): number => DAY_MS / timeframeMs

/**
 * How many bars the window has from its first day to its last, both inclusive, happened or not. It is known from the first
 * day on, so no contribution ever changes when a new bar arrives.
 */
export const plannedBars = ({ from, to }: ProgramPlan['window'], timeframeMs: number): number =>
  (to - from + 1) * barsPerDay(timeframeMs)

/** How many bars before a window its rules look at: 200 days of them, or more where a mean is longer than that. */
export function warmUpBars({ tiers }: ProgramPlan, timeframeMs: number): number {
  const meanDays = tiers.map(({ rule }) => (rule.kind === 'mayer' ? rule.mean_days : 0))
  return Math.max(WARM_UP_DAYS, ...meanDays) * barsPerDay(timeframeMs)
}

/**
 * The number of contributions, `ceil(planned bars / cadence)`: one at bar 0 and at each multiple of the cadence that the
 * window still holds. A cadence longer than the window leaves the one at bar 0.
 */
export const contributionCount = (planned: number, cadenceBars: number): number =>
  Math.ceil(planned / cadenceBars)
