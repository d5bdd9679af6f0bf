import type { EpochDay } from '#core/calendar.ts'
import { type Series, STEP_DAYS } from '#core/numerics/series.ts'
import { type ByteWriter, reserve, toWords, WORD_SLACK, type Words, writeWords } from './byte-writer.ts'
import { writeDate } from './calendar-date.ts'
import { DAY_LENGTH, DAYS_END, dayWords } from './day-text.ts'
import { writeSignificant } from './significant-digits.ts'

/** The text around the date and the number of a row; `next` ends a row and begins another. */
export type RowShape = {
  readonly before: Words
  readonly between: Words
  readonly next: Words
  readonly after: Words
}

/** The text of rows by its three places. */
export const toRowShape = (before: string, between: string, after: string, separator: string): RowShape => ({
  before: toWords(before),
  between: toWords(between),
  next: toWords(after + separator + before),
  after: toWords(after),
})

/**
 * Writes a row for every point of a series: its date and its value to 10 significant digits. The same bytes as the two
 * columns of such a table would write, in a loop that knows that there are just these two; most computed answers are
 * this.
 */
export function writeDatedRows(out: ByteWriter, series: Series, shape: RowShape): void {
  const { values, first } = series
  const { before, between, next, after } = shape
  if (values.length === 0) return
  const step = STEP_DAYS[series.period]
  const days = dayWords()
  const fixed = next.length + DAY_LENGTH + between.length + WORD_SLACK
  reserve(out, before.length + WORD_SLACK)
  writeWords(out, before)
  for (let row = 0; row < values.length; row++) {
    reserve(out, fixed)
    if (row > 0) writeWords(out, next)
    writeDay(out, days, first + row * step)
    writeWords(out, between)
    writeSignificant(out, values[row]!)
  }
  reserve(out, after.length + WORD_SLACK)
  writeWords(out, after)
}

function writeDay(out: ByteWriter, days: Float64Array, day: EpochDay): void {
  if (day < 0 || day >= DAYS_END) {
    writeDate(out, day)
    return
  }
  out.view.setFloat64(out.length, days[day * 2]!, true)
  out.view.setFloat64(out.length + 8, days[day * 2 + 1]!, true)
  out.length += DAY_LENGTH
}
