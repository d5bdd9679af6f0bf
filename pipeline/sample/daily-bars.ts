import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import type { Bar } from '#core/replay/strategy.ts'

/**
 * Bars of a day each from shorter ones: the first open, the extremes, the last close, all volume to three decimals. An
 * outage that is shorter than a day leaves no day out.
 */
export const dailyBars = (bars: readonly Bar[]): Bar[] =>
  [...Map.groupBy(bars, ({ t }) => toEpochDay(t))].map(([day, ofDay]) => toDay(day, ofDay))

const toDay = (day: number, bars: readonly Bar[]): Bar => ({
  t: day * DAY_MS,
  o: bars[0]!.o,
  h: Math.max(...bars.map(({ h }) => h)),
  l: Math.min(...bars.map(({ l }) => l)),
  c: bars.at(-1)!.c,
  v: Math.round(bars.reduce((sum, { v }) => sum + v, 0) * 1000) / 1000,
})
