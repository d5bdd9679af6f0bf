import { DAY_MS } from '#core/calendar.ts'
import { NEGLIGIBLE } from '#core/figures/figure.ts'
import { quantile } from '#core/figures/quantile.ts'
import { type Bars, describeInstant, endOfBars, lastAtOrBefore, sliceBars } from '#core/replay/bars.ts'
import { dca } from './benchmarks.ts'
import { barsPerDay, type ProgramData, type ProgramPlan, type Rolling } from './program.ts'
import { averageCost, simulate } from './simulate.ts'

/**
 * The data that every figure of the program is computed from, made from a plan and the bars of its
 * instrument, without `programProblems`: the available warm-up, the past part of the window, and rolling figures over the whole history.
 *
 * @param bars the whole history so far, ascending
 */
export function prepareProgram(plan: ProgramPlan, bars: Bars): ProgramData {
  const { from, to } = windowRange(plan.window, bars)
  const start = Math.max(0, from - warmUpBars(plan, bars.timeframeMs))
  return {
    plan,
    bars: sliceBars(bars, start, to),
    first: from - start,
    // With those to come: it is known from the first day on, so a new bar never changes a contribution.
    bars_planned: (plan.window.to - plan.window.from + 1) * barsPerDay(bars.timeframeMs),
    // At the newest close, whatever the window.
    mark: bars.t.length === 0 ? null : { at: endOfBars(bars), price: bars.c.at(-1)! },
    rolling: rollingFigures(plan, bars),
  }
}

/** A range of bars as indices: the first, and the one after the last. */
type Range = { readonly from: number; readonly to: number }

/** The bars that open inside the window; before it begins, an empty range at the end of the bars. */
const windowRange = ({ from, to }: ProgramPlan['window'], { t }: Bars): Range => ({
  from: countBefore(t, from * DAY_MS),
  to: countBefore(t, (to + 1) * DAY_MS),
})

/** Number of the ascending times before the instant; times are whole milliseconds. */
const countBefore = (times: Float64Array, ms: number): number => lastAtOrBefore(times, ms - 1) + 1

/** Days of bars that a program keeps from before its window: the Mayer multiple uses 200. */
const WARM_UP_DAYS = 200

/** Number of bars before a window that its rules use: 200 days of bars, or more if a mean is longer. */
function warmUpBars({ tiers }: ProgramPlan, timeframeMs: number): number {
  const meanDays = tiers.map(({ rule }) => (rule.kind === 'mayer' ? rule.mean_days : 0))
  return Math.max(WARM_UP_DAYS, ...meanDays) * barsPerDay(timeframeMs)
}

/**
 * The program against dca on windows of one year, without pauses, one starting on every day of the history
 * with a whole warm-up before it and a whole year after it; null if the history is shorter than one such
 * window. The windows overlap, so they are not independent: the figures describe and do not prove.
 *
 * A window without purchases is not a win, and 0 cheaper. O(windows x bars of a window); ten years have some
 * 3 000 windows.
 *
 * @param bars the whole history, not only that of the plan's window
 */
export function rollingFigures(plan: ProgramPlan, bars: Bars): Rolling | null {
  const warmUp = warmUpBars(plan, bars.timeframeMs)
  const day = barsPerDay(bars.timeframeMs)
  const year = 365 * day // the length of a rolling program: a year
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
      mark: null,
      rolling: null,
    })
  }
  return {
    windows,
    win_rate: cheaper.filter(value => value > 0).length / windows,
    median_cheaper: quantile(cheaper.sort(), 0.5),
  }
}

/** `1 - average cost / dca`: positive if the program bought cheaper. Rounding errors count as 0. */
function cheaperThanDca(data: ProgramData): number {
  const cadence = data.plan.contribution_cadence_bars
  const average = averageCost(simulate(data, cadence).totals)
  const value = dca(data, cadence)
  if (average === null || value === null) return 0
  const cheaper = 1 - average / value
  return Math.abs(cheaper) <= NEGLIGIBLE ? 0 : cheaper
}

/**
 * Every reason why the program cannot be computed on these bars, as a sentence with its fix; empty if it can. Whatever else a
 * plan and bars must be, the reader of the book has checked.
 *
 * @param bars the whole history of the instrument so far
 */
export function programProblems({ window }: ProgramPlan, bars: Bars): readonly string[] {
  const range = windowRange(window, bars)
  return [...volumeProblems(bars, range), ...gapProblems(window, bars, range)]
}

/** The vwap needs the volumes of the whole window, and one above zero. */
function volumeProblems({ t, v }: Bars, { from, to }: Range): string[] {
  const volumes = v.subarray(from, to)
  const blank = volumes.findIndex(Number.isNaN)
  if (blank >= 0) {
    const at = describeInstant(t[from + blank]!)
    return [`the bar at ${at} must have a volume of 0 or more; it is blank: correct the bars`]
  }
  return from === to || volumes.some(volume => volume > 0)
    ? []
    : ['no bar of the window has any volume, so there is no vwap: provide bars with volumes']
}

/**
 * The first gap. A missing bar would shift every later contribution, so the window so far must be complete.
 */
function gapProblems(window: ProgramPlan['window'], bars: Bars, { from }: Range): string[] {
  const { t, timeframeMs } = bars
  if (t.length === 0) return []
  const end = Math.min((window.to + 1) * DAY_MS, endOfBars(bars))
  let i = from
  for (let expected = window.from * DAY_MS; expected + timeframeMs <= end; expected += timeframeMs, i++) {
    if (t[i] === expected) continue
    const found = t[i] === undefined ? 'there are no more' : `the next is at ${describeInstant(t[i]!)}`
    return [
      `the bar at ${describeInstant(expected)} is missing in the part of the window that has happened, ${found}: ` +
        'provide every bar from the first day of the window on, or move the start of the window',
    ]
  }
  return []
}
