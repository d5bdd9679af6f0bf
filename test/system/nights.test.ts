// Five nights in a row, one of them without its last bar, with an injected change before most of them.
import { parseIsoDate } from '#core/calendar.ts'
import { testNights } from '../support/books/growing-sample.ts'

testNights({
  from: parseIsoDate('2023-01-01')!,
  last: parseIsoDate('2024-03-06')!,
  nights: 5,
  pastDay: '2023-10-31',
})
