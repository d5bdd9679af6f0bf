import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { type Bars, describeInstant, endOfBars } from '#core/replay/bars.ts'
import type { ProgramPlan } from './program.ts'
import { type Range, windowRange } from './program-window.ts'

/** Largest deviation of the sum of the weights from 1: rounding of decimals, not a mistake. */
export const WEIGHT_TOLERANCE = 1e-9

/**
 * Every reason why the program cannot be computed on these bars, as a sentence with its fix; empty if it can.
 *
 * @param bars the whole history of the instrument so far
 */
export function programProblems(plan: ProgramPlan, bars: Bars): readonly string[] {
  const ofThePlan = [...windowProblems(plan), ...weightProblems(plan)]
  if (DAY_MS % bars.timeframeMs !== 0) return [...ofThePlan, describeTimeframe(bars.timeframeMs)]
  const prices = priceProblems(bars)
  // No bar can be missing in a window that ends before it begins.
  if (plan.window.to < plan.window.from) return [...ofThePlan, ...prices]
  const range = windowRange(plan.window, bars)
  return [...ofThePlan, ...prices, ...volumeProblems(bars, range), ...gapProblems(plan.window, bars, range)]
}

function windowProblems({ window: { from, to } }: ProgramPlan): string[] {
  if (from <= to) return []
  return [
    `the window ends on ${toIsoDate(to)}, before it begins on ${toIsoDate(from)}: swap the two dates, or correct one`,
  ]
}

function weightProblems({ tiers }: ProgramPlan): string[] {
  const sum = tiers.reduce((total, { weight }) => total + weight, 0)
  if (Math.abs(sum - 1) <= WEIGHT_TOLERANCE) return []
  return [
    `the weights of the tiers must sum to 1, within ${WEIGHT_TOLERANCE}; they sum to ${sum}: correct them`,
  ]
}

const describeTimeframe = (timeframeMs: number): string =>
  `a timeframe must divide the day of ${DAY_MS} ms; this one is ${timeframeMs} ms: provide bars of 1d or of a part of it`

/** Of the whole history, because it includes the warm-up and every rolling window. */
function priceProblems({ t, o, h, l, c }: Bars): string[] {
  for (const [name, prices] of [
    ['open', o],
    ['high', h],
    ['low', l],
    ['close', c],
  ] as const) {
    const bad = prices.findIndex(price => !(price > 0 && price < Number.POSITIVE_INFINITY))
    if (bad < 0) continue
    return [
      `the bar at ${describeInstant(t[bad]!)} must have prices above 0; its ${name} is ${prices[bad]}: correct the bars`,
    ]
  }
  return []
}

/** The vwap needs the volumes of the whole window, and one above zero. */
function volumeProblems({ t, v }: Bars, { from, to }: Range): string[] {
  let isTraded = from === to
  for (let i = from; i < to; i++) {
    if (!(v[i]! >= 0 && v[i]! < Number.POSITIVE_INFINITY)) {
      return [
        `the bar at ${describeInstant(t[i]!)} must have a volume of 0 or more; ${describeVolume(v[i]!)}: correct the bars`,
      ]
    }
    if (v[i]! > 0) isTraded = true
  }
  return isTraded
    ? []
    : ['no bar of the window has any volume, so there is no vwap: provide bars with volumes']
}

const describeVolume = (volume: number): string => (Number.isNaN(volume) ? 'it is blank' : `it is ${volume}`)

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
