// The charts of the equal-weight book: functions of published series, at night and in the browser.
import { equityCurve, equityFromBaseline } from '#core/figures/account-path.ts'
import { drawdowns } from '#core/figures/drawdown.ts'
import type { Series } from '#core/figures/series.ts'
import { drawdownChartOf, equityChartOf, type Line, type LineChart } from './charts/line-chart.ts'

/** Beside the series, what the page contains for its script. */
export type BookFacts = { readonly caveat: string | null }

/** The style sheet draws so many series differently: instruments after the first one. */
const SERIES = 12

/** What the charts draw; `held` are the returns of holding each instrument, by its name. */
export function bookModel(book: Series, held: ReadonlyMap<string, Series>) {
  const curve = equityFromBaseline(book.values)
  const lines: Line[] = [
    { name: 'Equal-weight book', kind: 'main', first: book.first - 1, values: curve },
    ...Array.from(
      [...held],
      ([instrument, { first, values }], i): Line => ({
        name: `Holding ${instrument}`,
        kind: i === 0 ? 'benchmark' : `series${(i - 1) % SERIES}`,
        first,
        values: equityCurve(values),
      }),
    ),
  ]
  return { book, lines, depths: drawdowns(curve) }
}

export function bookCharts(
  { caveat }: BookFacts,
  model: ReturnType<typeof bookModel>,
  days: LineChart['days'],
) {
  const { book, lines, depths } = model
  const underwater = { id: 'underwater', title: 'Drawdown of the equal-weight book', caveat, height: 160 }
  return {
    equity: equityChartOf({ id: 'equity', title: 'Equity of the equal-weight book', caveat, days, lines }),
    underwater: drawdownChartOf({ ...underwater, days }, 'Below the peak', book.first, depths),
  }
}
