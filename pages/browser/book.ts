// The script of the page of the book: its table, the range of its charts, and the numbers behind them.
import { BOOK_COLUMN } from '#core/dataset/equal-weight-book.ts'
import { BOOK_SECTIONS, type BookFacts, bookModel } from '../book-charts.ts'
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
  modelOf: ({ book, held }, range) => bookModel(facts, book, held, range),
  allDays: ({ all }) => all,
  sections: BOOK_SECTIONS,
  charts: { equity: ({ equity }) => [equity], underwater: ({ underwater }) => [underwater] },
  name: 'equal-weight-book',
  onAddress() {},
})
