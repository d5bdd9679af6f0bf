import { DAY_MS, toEpochDay } from '#core/calendar.ts'
import type { Bars, Funding } from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { spellMoment } from '../book/cell.ts'
import type { TextFiles } from '../starter/new-book.ts'
import { BAR_MS, type Market } from './market.ts'

/** A CSV text: numbers as the shortest decimal that reads back to them. */
export const toCsv = (columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [columns, ...rows].map(row => `${row.join(',')}\n`).join('')

/** The market as files of a book. Plain text: what gzip makes differs from machine to machine. */
export const marketFiles = (instrument: string, { bars, funding }: Market): TextFiles => ({
  [`bars/${instrument}/4h.csv`]: barsText(bars),
  [`funding/${instrument}.csv`]: toCsv(
    ['t', 'rate'],
    funding.map(({ t, rate }) => [spellMoment(t), rate.toFixed(8)]),
  ),
})

/** The same prices as a spot market by the day: in this market perpetual and spot have one price. */
export const spotFiles = (instrument: string, { bars }: Market): TextFiles => ({
  [`bars/${instrument}/1d.csv`]: barsText(dailyBars(bars)),
})

/**
 * Bars of a day each from shorter ones: the first open, the extremes, the last close, all volume to three
 * decimals. An outage that is shorter than a day leaves no day out.
 */
const dailyBars = (bars: readonly Bar[]): Bar[] =>
  [...Map.groupBy(bars, ({ t }) => toEpochDay(t))].map(([day, ofDay]) => toDay(day, ofDay))

const toDay = (day: number, bars: readonly Bar[]): Bar => ({
  t: day * DAY_MS,
  o: bars[0]!.o,
  h: Math.max(...bars.map(({ h }) => h)),
  l: Math.min(...bars.map(({ l }) => l)),
  c: bars.at(-1)!.c,
  v: Math.round(bars.reduce((sum, { v }) => sum + v, 0) * 1000) / 1000,
})

const barsText = (bars: readonly Bar[]): string =>
  toCsv(
    ['t', 'o', 'h', 'l', 'c', 'v'],
    bars.map(({ t, o, h, l, c, v }) => [spellMoment(t), o, h, l, c, v]),
  )

/** The market as the engine takes it. */
export const marketColumns = ({ bars, funding }: Market): { bars: Bars; funding: Funding } => ({
  bars: {
    timeframeMs: BAR_MS,
    t: Float64Array.from(bars, ({ t }) => t),
    o: Float64Array.from(bars, ({ o }) => o),
    h: Float64Array.from(bars, ({ h }) => h),
    l: Float64Array.from(bars, ({ l }) => l),
    c: Float64Array.from(bars, ({ c }) => c),
    v: Float64Array.from(bars, ({ v }) => v),
  },
  funding: {
    t: Float64Array.from(funding, ({ t }) => t),
    rate: Float64Array.from(funding, ({ rate }) => rate),
  },
})
