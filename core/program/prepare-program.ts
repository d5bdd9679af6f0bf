import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { plannedBars, warmUpBars } from './planned-bars.ts'
import type { ProgramData, ProgramPlan } from './program.ts'
import { programProblems } from './program-problems.ts'
import { rollingFigures } from './rolling.ts'
import { windowRange } from './window-range.ts'

/**
 * A plan and the bars of its instrument as the data that every figure of the program is made from: the warm-up (as much of
 * it as there is), what has happened of the window, and the rolling figures over everything.
 *
 * Throws, naming every problem of `programProblems`; who wants them as sentences asks that first.
 *
 * @param bars the whole history, ascending, up to what has happened
 */
export function prepareProgram(plan: ProgramPlan, bars: Bars): ProgramData {
  const problems = programProblems(plan, bars)
  if (problems.length > 0) throw new Error(`program ${plan.alias}: ${problems.join('; ')}`)
  const { from, to } = windowRange(plan.window, bars)
  const start = Math.max(0, from - warmUpBars(plan, bars.timeframeMs))
  return {
    plan,
    bars: sliceBars(bars, start, to),
    first: from - start,
    bars_planned: plannedBars(plan.window, bars.timeframeMs),
    rolling: rollingFigures(plan, bars),
  }
}
