import { type EpochDay, parseIsoDate } from '#core/calendar.ts'
import { dayOf, type Series, STEP_DAYS } from '#core/figures/series.ts'
import { AT, createWriteRows, DECADES, SMALLEST_EXPONENT } from '#core/kernels/rows-kernel.ts'
import { type ByteWriter, FOUR, toBytes, writeBytes, writeDate, writeSignificant } from './text-writer.ts'

type RowShape = ReturnType<typeof toRowShape>

/**
 * The text around the date and the number of a row; `next` ends a row and begins another. Throws if it is
 * longer than the kernel can move.
 */
export function toRowShape(before: string, between: string, after: string, separator: string) {
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
 * Writes a row for every point of a series: its date and its value to 10 significant digits. The same bytes
 * as the two columns of such a table would write; most computed answers are this. The kernel writes whole
 * blocks, and stops at a number that it cannot round with certainty, then written by the exact method.
 */
export function writeDatedRows(out: ByteWriter, series: Series, shape: RowShape): void {
  const { length } = series.values
  if (length === 0) return
  made ??= makeRowKernel()
  const kernel = made
  kernel.bytes.set(shape.between, AT.between)
  kernel.bytes.set(shape.next, AT.next)
  writeBytes(out, shape.before)
  for (let begin = 0; begin < length; begin += BLOCK_ROWS) {
    const end = Math.min(begin + BLOCK_ROWS, length)
    kernel.values.set(series.values.subarray(begin, end))
    for (let row = begin; row < end; row++) {
      row += writeKnown(out, kernel, series, begin, row, end, shape)
      if (row < end) writeRow(out, series, row, shape)
    }
  }
  out.length -= shape.next.length
  writeBytes(out, shape.after)
}

/** Writes rows from `row` on with the kernel, whose values begin at `begin`; returns how many it wrote. */
function writeKnown(
  out: ByteWriter,
  { writeRows, bytes, end: textEnd }: RowKernel,
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

/** Rows that are written at a time: ten years of days, whose values and text fit in the cache of a core. */
const BLOCK_ROWS = 4096

/** The longest text before or between numbers: the kernel moves it in one register. */
const LONGEST_TEXT = 16

/** The first day that is not in the list of texts; the first one that is has the number 0. */
const DAYS_END: EpochDay = parseIsoDate('2100-01-01') ?? 0

/** Bytes of the text of a day, filled up to a register. */
const DAY_BYTES = 16

const VALUE_BYTES = 8
const VALUES_AT = AT.days + DAYS_END * DAY_BYTES
const TEXT_AT = VALUES_AT + BLOCK_ROWS * VALUE_BYTES

/** A date, a sign, `0.`, 11 zeros, 10 digits, and the texts around them. */
const LONGEST_ROW = 10 + 24 + 2 * LONGEST_TEXT

const PAGE_BYTES = 1 << 16

type RowKernel = ReturnType<typeof makeRowKernel>

/** Shared, because writing is never interrupted; 1.1 MB, made at the first call in some 15 ms. */
let made: RowKernel | undefined

function makeRowKernel() {
  const most = TEXT_AT + BLOCK_ROWS * LONGEST_ROW + LONGEST_TEXT // the last register reaches over the end
  const memory = new WebAssembly.Memory({ initial: Math.ceil(most / PAGE_BYTES) })
  const { buffer } = memory
  const bytes = new Uint8Array(buffer)
  bytes.set(new Uint8Array(FOUR.buffer), AT.four)
  layOutDecades(buffer)
  layOutDays(bytes)
  return {
    writeRows: createWriteRows(memory),
    bytes,
    end: new Uint32Array(buffer, AT.end, 1), // where the text of the last rows ends
    values: new Float64Array(buffer, VALUES_AT, BLOCK_ROWS),
  }
}

/** The scales are powers of ten that a double holds exactly. */
function layOutDecades(buffer: ArrayBuffer): void {
  const borders = new Float64Array(buffer, AT.borders, DECADES + 1)
  const scales = new Float64Array(buffer, AT.scales, DECADES)
  for (let i = 0; i < DECADES; i++) {
    borders[i] = Number(`1e${SMALLEST_EXPONENT + i}`)
    scales[i] = Number(`1e${9 - SMALLEST_EXPONENT - i}`)
  }
  borders[0] = Number.NaN
  borders[DECADES] = Number.NaN
}

function layOutDays(bytes: Uint8Array<ArrayBuffer>): void {
  const out: ByteWriter = { bytes, view: new DataView(bytes.buffer), length: 0 }
  for (let day = 0; day < DAYS_END; day++) {
    out.length = AT.days + day * DAY_BYTES
    writeDate(out, day)
  }
}
