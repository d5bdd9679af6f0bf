import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import { type Bars, barAt, toBars } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { spellMoment } from '../book/cell.ts'
import { barsText, tableText } from '../book/write-table.ts'
import type { Market } from './market.ts'

/** The market as files of a book. Plain text: what gzip makes differs from machine to machine. */
export const marketFiles = (instrument: string, { bars, funding }: Market) => ({
  [`bars/${instrument}/4h.csv`]: barsText(bars),
  [`funding/${instrument}.csv`]: tableText(
    't,rate',
    Array.from(funding.t, (ms, i) => [spellMoment(ms), funding.rate[i]!.toFixed(8)]),
  ),
})

/** The same prices as a spot market by the day: in this market perpetual and spot have one price. */
export const spotFiles = (instrument: string, { bars }: Market) => ({
  [`bars/${instrument}/1d.csv`]: barsText(dailyBars(bars)),
})

/**
 * Bars of a day each from shorter ones: the first open, the extremes, the last close, all volume to three
 * decimals. An outage that is shorter than a day leaves no day out.
 */
function dailyBars(bars: Bars): Bars {
  const rows = Array.from(bars.t, (_, i) => barAt(bars, i))
  const days = [...Map.groupBy(rows, ({ t }) => toEpochDay(t))].map(toDay)
  return toBars(DAY_MS, name => Float64Array.from(days, day => day[name]))
}

const toDay = ([day, bars]: readonly [number, readonly Bar[]]): Bar => ({
  t: day * DAY_MS,
  o: bars[0]!.o,
  h: Math.max(...bars.map(({ h }) => h)),
  l: Math.min(...bars.map(({ l }) => l)),
  c: bars.at(-1)!.c,
  v: Math.round(bars.reduce((sum, { v }) => sum + v, 0) * 1000) / 1000,
})
