import { DAY_MS } from '#core/calendar.ts'
import { type Bars, lastAtOrBefore } from '#core/replay/bars.ts'
import type { ProgramPlan } from './program.ts'

/** Bars as indices: the first, and the one after the last. */
export type Range = { readonly from: number; readonly to: number }

/** The bars that open inside the window; an empty range at the end of the bars as long as it has not begun. */
export const windowRange = ({ from, to }: ProgramPlan['window'], { t }: Bars): Range => ({
  from: countBefore(t, from * DAY_MS),
  to: countBefore(t, (to + 1) * DAY_MS),
})

/** How many of the ascending times lie strictly before the instant; times are whole milliseconds. */
const countBefore = (times: Float64Array, ms: number): number => lastAtOrBefore(times, ms - 1) + 1
