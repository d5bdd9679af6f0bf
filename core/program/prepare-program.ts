import { NEGLIGIBLE } from '#core/figures/figure.ts'
import { quantile } from '#core/figures/quantile.ts'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { dca } from './benchmarks.ts'
import type { ProgramData, ProgramPlan, Rolling } from './program.ts'
import { programProblems } from './program-problems.ts'
import { barsPerDay, plannedBars, warmUpBars, windowRange } from './program-window.ts'
import { averageCost, simulate } from './simulate.ts'

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

/** The length of a rolling program: a year. */
const ROLLING_DAYS = 365

/**
 * The program against dca on windows of one year, one beginning every day of the history that has a whole warm-up before it
 * and a whole year from it on, none of them paused; null where the history is shorter than one such window. The windows
 * overlap, so they are far from independent: the figures describe, they prove nothing.
 *
 * A window in which nothing is bought is no win, and nothing cheaper. Costs O(windows x bars of a window); ten years are
 * some 3 000 windows, whatever the bars.
 *
 * @param bars the whole history, not only that of the plan's window
 */
export function rollingFigures(plan: ProgramPlan, bars: Bars): Rolling | null {
  const warmUp = warmUpBars(plan, bars.timeframeMs)
  const day = barsPerDay(bars.timeframeMs)
  const year = ROLLING_DAYS * day
  const windows = Math.floor((bars.t.length - warmUp - year) / day) + 1
  if (windows < 1) return null
  const unpaused = { ...plan, paused: [] }
  const cheaper = new Float64Array(windows)
  for (let i = 0; i < windows; i++) {
    const from = i * day
    cheaper[i] = cheaperThanDca({
      plan: unpaused,
      bars: sliceBars(bars, from, from + warmUp + year),
      first: warmUp,
      bars_planned: year,
      rolling: null,
    })
  }
  return summary(cheaper.sort())
}

/** `1 - average cost / dca`: positive where the program bought cheaper. A difference that is rounding is none. */
function cheaperThanDca(data: ProgramData): number {
  const cadence = data.plan.contribution_cadence_bars
  const average = averageCost(simulate(data, cadence).totals)
  const value = dca(data, cadence)
  if (average === null || value === null) return 0
  const cheaper = 1 - average / value
  return Math.abs(cheaper) <= NEGLIGIBLE ? 0 : cheaper
}

function summary(ascending: Float64Array): Rolling {
  let wins = 0
  for (let i = 0; i < ascending.length; i++) if (ascending[i]! > 0) wins += 1
  return {
    windows: ascending.length,
    win_rate: wins / ascending.length,
    median_cheaper: quantile(ascending, 0.5),
  }
}
