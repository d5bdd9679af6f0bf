// The script of the page of the book: its table, the range of its charts, and the numbers behind them.
import { BOOK_COLUMN } from '#core/dataset/equal-weight-book.ts'
import { lastDay } from '#core/figures/series.ts'
import { type BookFacts, bookCharts, bookModel } from '../book-charts.ts'
import { namedLineChart } from '../charts/line-chart.ts'
import { ADDRESS, startCharts } from './chart-page.ts'
import { pageFacts, startPage } from './dom.ts'
import { loadReturns } from './load-returns.ts'
import { startTables } from './sortable.ts'

const facts = pageFacts<BookFacts>()

startPage()
startTables()
startCharts({
  parameters: { from: ADDRESS.from, to: ADDRESS.to },
  async load() {
    const held = new Map(await loadReturns('benchmark.csv', 'daily'))
    const book = held.get(BOOK_COLUMN)!
    held.delete(BOOK_COLUMN)
    return { book, held }
  },
  modelOf: ({ book, held }) => bookModel(book, held),
  allDays: ({ book }) => ({ from: book.first, to: lastDay(book) }),
  sections: {
    equity: (model, days) => namedLineChart(bookCharts(facts, model, days).equity),
    underwater: (model, days) => namedLineChart(bookCharts(facts, model, days).underwater),
  },
  charts: {
    equity: (model, days) => [bookCharts(facts, model, days).equity],
    underwater: (model, days) => [bookCharts(facts, model, days).underwater],
  },
  name: 'equal-weight-book',
  onAddress() {},
})
