import { dayOf, type Series, STEP_DAYS } from '#core/figures/series.ts'
import { AT } from '#core/kernels/rows-kernel.ts'
import { type ByteWriter, toBytes, writeBytes } from './byte-writer.ts'
import { writeDate } from './calendar-date.ts'
import {
  BLOCK_ROWS,
  DAY_BYTES,
  DAYS_END,
  LONGEST_TEXT,
  type RowDesk,
  rowDesk,
  TEXT_AT,
  VALUE_BYTES,
  VALUES_AT,
} from './row-desk.ts'
import { writeSignificant } from './significant-digits.ts'

/** The text around the date and the number of a row; `next` ends a row and begins another. */
export type RowShape = {
  readonly before: Uint8Array
  readonly between: Uint8Array
  readonly next: Uint8Array
  readonly after: Uint8Array
}

/** The text of rows by its three places. Throws where it is longer than the kernel can move. */
export function toRowShape(before: string, between: string, after: string, separator: string): RowShape {
  return {
    before: toBytes(before),
    between: toShortBytes(between),
    next: toShortBytes(after + separator + before),
    after: toBytes(after),
  }
}

function toShortBytes(text: string): Uint8Array {
  const bytes = toBytes(text)
  if (bytes.length <= LONGEST_TEXT) return bytes
  throw new Error(
    `'${text}' in a row must have ${LONGEST_TEXT} bytes at the most; shorten the name of the column`,
  )
}

/**
 * Writes a row for every point of a series: its date and its value to 10 significant digits. The same bytes as the two
 * columns of such a table would write; most computed answers are this. The kernel writes whole blocks, and stops at a
 * number that it cannot round for sure, which is then written the exact way.
 */
export function writeDatedRows(out: ByteWriter, series: Series, shape: RowShape): void {
  const { length } = series.values
  if (length === 0) return
  const desk = rowDesk()
  desk.bytes.set(shape.between, AT.between)
  desk.bytes.set(shape.next, AT.next)
  writeBytes(out, shape.before)
  for (let begin = 0; begin < length; begin += BLOCK_ROWS) {
    writeBlock(out, desk, series, begin, Math.min(begin + BLOCK_ROWS, length), shape)
  }
  out.length -= shape.next.length
  writeBytes(out, shape.after)
}

function writeBlock(
  out: ByteWriter,
  desk: RowDesk,
  series: Series,
  begin: number,
  end: number,
  shape: RowShape,
): void {
  desk.values.set(series.values.subarray(begin, end))
  for (let row = begin; row < end; row++) {
    row += writeKnown(out, desk, series, begin, row, end, shape)
    if (row < end) writeRow(out, series, row, shape)
  }
}

/** Rows from `row` on as the kernel writes them, and how many they were; the values of the desk begin at `begin`. */
function writeKnown(
  out: ByteWriter,
  { writeRows, bytes, end: textEnd }: RowDesk,
  series: Series,
  begin: number,
  row: number,
  end: number,
  { between, next }: RowShape,
): number {
  const step = STEP_DAYS[series.period]
  const day = dayOf(series, row)
  if (day < 0 || day >= DAYS_END) return 0
  const from = VALUES_AT + (row - begin) * VALUE_BYTES
  const count = Math.min(end - row, Math.ceil((DAYS_END - day) / step))
  const to = from + count * VALUE_BYTES
  const dayAt = AT.days + day * DAY_BYTES
  const stopped = writeRows(from, to, dayAt, step * DAY_BYTES, TEXT_AT, between.length, next.length)
  writeBytes(out, bytes.subarray(TEXT_AT, textEnd[0]))
  return (stopped - from) / VALUE_BYTES
}

function writeRow(out: ByteWriter, series: Series, row: number, { between, next }: RowShape): void {
  writeDate(out, dayOf(series, row))
  writeBytes(out, between)
  writeSignificant(out, series.values[row]!)
  writeBytes(out, next)
}
