import { DAY_MS } from '#core/calendar.ts'
import { type Bars, describeInstant, endOfBars } from '#core/replay/bars.ts'
import type { ProgramPlan } from './program.ts'
import { type Range, windowRange } from './program-window.ts'

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
  let isTraded = from === to
  for (let i = from; i < to; i++) {
    if (Number.isNaN(v[i])) {
      return [
        `the bar at ${describeInstant(t[i]!)} must have a volume of 0 or more; it is blank: correct the bars`,
      ]
    }
    if (v[i]! > 0) isTraded = true
  }
  return isTraded
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
