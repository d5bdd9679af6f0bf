import { DAY_MS, type EpochDay, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import { type AccountPath, cagr, dailyPath } from './account-path.ts'
import { benchmarkOver } from './benchmark.ts'
import { calendarPeriods } from './calendar-periods.ts'
import { maxDrawdown } from './drawdown.ts'
import { worstDrawdowns } from './drawdown-figures.ts'
import { type Figure, isUndefined, percent, undefinedBecause } from './figure.ts'
import { dayOf, type Series, sliceSeries } from './series.ts'
import { type Position, positionTime } from './trade-statistics.ts'
import { YEAR_AHEAD, yearAheadFigures } from './year-ahead.ts'

/** Days that a reader may ask about by a name; both ISO dates, inclusive. */
export type StressPeriod = { readonly name: string; readonly from: string; readonly to: string }

/** What the block is computed from; the trades are closed, and they and `open_since` do not depend on the risk level. */
export type RiskInput = {
  /** Base returns. */
  readonly daily: Series
  readonly k: number
  /** Daily returns of the instrument; null if there are none. */
  readonly benchmark: Series | null
  readonly trades: readonly Position[]
  /** The day since when a position is open at the end, an ISO date, or null. */
  readonly open_since: string | null
  readonly stress_periods: readonly StressPeriod[]
}

/** The data of `/v1/strategies/{sid}/risk`, in percent and not rounded. */
export const riskFigures = ({ daily, k, benchmark, trades, open_since, stress_periods }: RiskInput) => ({
  year_ahead: { n_days: daily.values.length, ...YEAR_AHEAD, ...yearAheadFigures(daily, k) },
  start_dates: startDates(daily, k),
  days: dayFigures(dailyPath(daily, k)),
  exposure: exposureByMonth(daily, trades, open_since),
  stress: stressFigures(daily, k, benchmark, stress_periods),
})

/**
 * The result of an account that begins with equity 1 on the first day of the series or of a later month, up to the last day:
 * each as the figure of the same name is defined for a whole series (`cagr_pct` is null below 365 days).
 */
export const startDates = (daily: Series, k: number) =>
  calendarPeriods(daily.first, daily.values.length, 1).map(({ from }) => {
    const path = dailyPath(sliceSeries(daily, daily.first + from, null), k)
    const annual = cagr(path.curve)
    return {
      t: toIsoDate(daily.first + from),
      days: path.daily.values.length,
      ...pathFigures(path),
      cagr_pct: isUndefined(annual) ? null : percent(annual),
    }
  })

const pathFigures = ({ curve, depths }: AccountPath) => ({
  net_return_pct: percent(curve.at(-1)! - 1),
  max_drawdown_pct: percent(maxDrawdown(depths)),
})

/** Most bins of the histogram, days listed, and the narrowest bin in percent, which six decimals can show. */
export const MOST_BINS = 40
const LISTED_DAYS = 5
const NARROWEST = -4

/**
 * The distribution of the daily returns of the account: `k * r`, up to the day of its ruin, on which it is -100 %. A bin is `from <= return < to`,
 * its borders multiples of the width, which is the smallest of 1, 2 or 5 times a power of ten, at least 0.0001 percent, that
 * needs at most 40 bins. Bins are consecutive from the lowest to the highest day. Days of exactly 0 are flat and in none.
 * The best days are the five largest gains, the worst the five largest losses; equal ones by date.
 */
export function dayFigures({ daily: { first, values }, k, ruinDay }: AccountPath) {
  const lived = ruinDay === null ? values : values.subarray(0, ruinDay + 1)
  const returnOf = (value: number, i: number) => (i === ruinDay ? -1 : k * value)
  const days = Array.from(lived, (value, i) => ({ t: first + i, return_pct: percent(returnOf(value, i)) }))
  const moved = days.filter(({ return_pct }) => return_pct !== 0)
  const signed = (sign: 1 | -1) => moved.filter(({ return_pct }) => sign * return_pct > 0)
  const listed = (sign: 1 | -1) =>
    signed(sign)
      .toSorted((a, b) => sign * (b.return_pct - a.return_pct) || a.t - b.t)
      .slice(0, LISTED_DAYS)
      .map(({ t, return_pct }) => ({ t: toIsoDate(t), return_pct }))
  return {
    gain_days: signed(1).length,
    loss_days: signed(-1).length,
    flat_days: days.length - moved.length,
    ...histogram(moved.map(({ return_pct }) => return_pct)),
    best: listed(1),
    worst: listed(-1),
  }
}

function histogram(moved: readonly number[]) {
  if (moved.length === 0) return { bin_width_pct: undefinedBecause('too_few_points'), bins: [] }
  const [lowest, highest] = [Math.min(...moved), Math.max(...moved)]
  const border = bordersFor(lowest, highest)
  const first = binOf(lowest, border)
  const counts = new Array<number>(binOf(highest, border) - first + 1).fill(0)
  for (const value of moved) counts[binOf(value, border) - first]!++
  return {
    bin_width_pct: border(1),
    bins: counts.map((days, i) => ({ from_pct: border(first + i), to_pct: border(first + i + 1), days })),
  }
}

/** The lower border of a bin: the double that its decimal text reads as, so that 0.3 is in the bin that begins at 0.3. */
type Borders = (bin: number) => number

function bordersFor(lowest: number, highest: number): Borders {
  for (let power = NARROWEST; ; power++) {
    for (const digit of [1, 2, 5]) {
      const border = (bin: number) => Number(`${bin * digit}e${power}`)
      if (binOf(highest, border) - binOf(lowest, border) < MOST_BINS) return border
    }
  }
}

function binOf(value: number, border: Borders): number {
  const near = Math.floor(value / border(1)) // which rounding may put one beside
  return value < border(near) ? near - 1 : value < border(near + 1) ? near : near + 1
}

/**
 * The share of each UTC month, as far as the series covers it, in which closed trades were long, short, and in which none was
 * open (flat); a trade is open over `[entry, exit)`. Long and short trades may overlap, so the three may add up to more than
 * 100. A position that is still open is in none of the trades: from the month on in which it was opened the shares are null.
 * Undefined without closed trades and open positions (`no_trades`), because one that reports only returns has positions too.
 */
export function exposureByMonth(daily: Series, trades: readonly Position[], openSince: string | null) {
  if (trades.length === 0 && openSince === null) return { months: undefinedBecause('no_trades') }
  const open = openSince === null ? Infinity : parseIsoDate(openSince)!
  const months = calendarPeriods(daily.first, daily.values.length, 1).map(({ year, month, from, days }) => {
    const begin = (daily.first + from) * DAY_MS
    const end = begin + days * DAY_MS
    const isOpen = open * DAY_MS < end
    const inside = trades.filter(trade => trade.entry_time < end && trade.exit_time > begin)
    const sharePct = (some: readonly Position[]) =>
      isOpen ? null : percent(positionTime(some, begin, end).unionMs / (end - begin))
    const inMarket = sharePct(inside)
    return {
      year,
      month,
      long_pct: sharePct(inside.filter(({ side }) => side === 'long')),
      short_pct: sharePct(inside.filter(({ side }) => side === 'short')),
      flat_pct: inMarket === null ? null : 100 - inMarket,
      has_open_position: isOpen,
    }
  })
  return { months }
}

const FALLS = ['Deepest', 'Second', 'Third', 'Fourth', 'Fifth'] as const

/**
 * The account in named periods, each from equity 1 over the days from `from` to `to`. First the five deepest falls of the
 * instrument over the days of the series, from the day after the peak to the trough, which nobody chooses; their number is
 * undefined without its returns on each of these days (`no_benchmark`). Then the periods that the publisher names. A figure is
 * null if the series, or that of the instrument, does not have each day of the period: `days_covered` of its `days` are in
 * the series.
 */
export function stressFigures(
  daily: Series,
  k: number,
  benchmark: Series | null,
  named: readonly StressPeriod[],
) {
  const market = benchmarkOver(daily, benchmark)
  const falls = market === null ? null : worstDrawdowns(dailyPath(market))
  const periods = [
    ...(falls ?? []).map(({ peak_t, trough_t }, i) => ({
      name: `${FALLS[i]} fall of the instrument`,
      from: toIsoDate(parseIsoDate(peak_t)! + 1),
      to: trough_t,
      by: 'instrument' as const,
    })),
    ...named.map(({ name, from, to }) => ({ name, from, to, by: 'publisher' as const })),
  ]
  const fallCount: Figure = falls === null ? undefinedBecause('no_benchmark') : falls.length
  return { instrument_falls: fallCount, rows: periods.map(period => ({ ...period, ...within(period) })) }

  function within(period: Pick<StressPeriod, 'from' | 'to'>) {
    const [from, to] = [parseIsoDate(period.from)!, parseIsoDate(period.to)!]
    const days = to - from + 1
    const own = sliceSeries(daily, from, to)
    const its = benchmark === null ? null : sliceSeries(benchmark, from, to)
    const isWhole = (part: Series, first: EpochDay) => dayOf(part, 0) === first && part.values.length === days
    const figures = isWhole(own, from) ? pathFigures(dailyPath(own, k)) : null
    const held = its !== null && isWhole(its, from) ? pathFigures(dailyPath(its)) : null
    return {
      days,
      days_covered: own.values.length,
      return_pct: figures?.net_return_pct ?? null,
      max_drawdown_pct: figures?.max_drawdown_pct ?? null,
      instrument_return_pct: held?.net_return_pct ?? null,
    }
  }
}
