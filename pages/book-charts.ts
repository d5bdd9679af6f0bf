// The charts of the equal-weight book: functions of published series, at night and in the browser.
import { toIsoDate } from '#core/calendar.ts'
import { equityCurve, equityFromBaseline } from '#core/figures/account-path.ts'
import { drawdowns } from '#core/figures/drawdown.ts'
import { lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { drawdownChartOf, equityChartOf, type Line, namedLineChart } from './charts/line-chart.ts'
import { dayText } from './format.ts'
import type { Range } from './sheet/model.ts'

/** Beside the series, what the page contains for its script. */
export type BookFacts = { readonly caveat: string | null }

/** The style sheet draws so many series differently: instruments after the first one. */
const SERIES = 12

/** The charts over a range: every line is 1 before its first day. One without two days, or after a ruin, is that of all days. */
export function bookModel(
  { caveat }: BookFacts,
  whole: Series,
  /** Returns of holding each instrument, by its name. */
  held: ReadonlyMap<string, Series>,
  range: Range = { from: null, to: null },
) {
  const part = sliceSeries(whole, range.from, range.to)
  const isAlive = equityCurve(whole.values)[part.first - whole.first - 1] !== 0
  const book = part.values.length > 1 && isAlive ? part : whole
  const days = { from: book.first, to: lastDay(book) }
  const curve = equityFromBaseline(book.values)
  const lines: Line[] = [
    { name: 'Equal-weight book', kind: 'main', first: book.first - 1, values: curve },
    ...Array.from([...held], ([instrument, series], i): Line => {
      const { first, values } = sliceSeries(series, days.from, days.to)
      const kind = i === 0 ? 'benchmark' : (`series${(i - 1) % SERIES}` as const)
      return { name: `Holding ${instrument}`, kind, first, values: equityCurve(values) }
    }),
  ]
  const underwater = {
    id: 'underwater',
    title: 'Drawdown of the equal-weight book',
    caveat,
    height: 160,
    days,
  }
  return {
    all: { from: whole.first, to: lastDay(whole) },
    equity: equityChartOf({ id: 'equity', title: 'Equity of the equal-weight book', caveat, days, lines }),
    underwater: drawdownChartOf(underwater, 'Below the peak', book.first, drawdowns(curve)),
  }
}

type BookModel = ReturnType<typeof bookModel>

export const BOOK_SECTIONS = {
  equity: ({ equity }: BookModel): string => {
    const [from, to] = [equity.days.from, equity.days.to].map(day => dayText(toIsoDate(day)))
    return `<p class="note">Equity, logarithmic, 1 before the first day: ${from} to ${to}</p>${namedLineChart(equity)}`
  },
  underwater: ({ underwater }: BookModel): string =>
    `<p class="note">Drawdown over these days</p>${namedLineChart(underwater)}`,
}
