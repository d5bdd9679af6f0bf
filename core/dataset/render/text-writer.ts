// A growing run of UTF-8 bytes. Answers are mostly ASCII digits, which are written as character codes; a string per
// number would cost more than the number.

import type { EpochDay } from '#core/calendar.ts'
import { toText } from '#core/contract/decimal.ts'
import {
  DIGITS,
  decimalPlaces,
  isNearTie,
  LARGEST,
  POWER,
  SMALLEST,
  toSignificant,
} from '#core/contract/rounding.ts'

export type ByteWriter = {
  bytes: Uint8Array<ArrayBuffer>
  /** The same memory, for stores of several bytes. */
  view: DataView<ArrayBuffer>
  length: number
}

const encoder = new TextEncoder()

export function createWriter(capacity: number): ByteWriter {
  const bytes = new Uint8Array(capacity)
  return { bytes, view: new DataView(bytes.buffer), length: 0 }
}

/** What was written, in a buffer of just its size: caches count bytes, and must not keep unused capacity. */
export const finish = (writer: ByteWriter): Uint8Array<ArrayBuffer> => writer.bytes.slice(0, writer.length)

/** Makes room for `count` more bytes. Every writing function calls it once for the most that it may write. */
export function reserve(writer: ByteWriter, count: number): void {
  const needed = writer.length + count
  if (needed <= writer.bytes.length) return
  const grown = createWriter(Math.max(needed, writer.bytes.length * 2))
  grown.bytes.set(writer.bytes.subarray(0, writer.length))
  writer.bytes = grown.bytes
  writer.view = grown.view
}

export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  reserve(writer, bytes.length)
  writer.bytes.set(bytes, writer.length)
  writer.length += bytes.length
}

export function writeText(writer: ByteWriter, text: string): void {
  reserve(writer, text.length * 3) // a UTF-16 unit is at most three bytes
  writer.length += encoder.encodeInto(text, writer.bytes.subarray(writer.length)).written
}

/** Writes text that holds ASCII only, such as the digits of a number. */
export function writeAscii(writer: ByteWriter, text: string): void {
  reserve(writer, text.length)
  for (let i = 0; i < text.length; i++) writer.bytes[writer.length++] = text.charCodeAt(i)
}

export const toBytes = (text: string): Uint8Array => encoder.encode(text)

// Text that can be made at once or block by block: one function writes it, and pauses where a block is full.

/** Writes a text. It yields wherever `out` holds `blockBytes` and more, and may be emptied before it goes on. */
export type Writing = (out: ByteWriter, blockBytes: number) => Steps

export type Steps = Generator<void, void, void>

/** A block takes some 5 ms to write, during which no other request is answered; a thousand strategies make 500 blocks. */
export const BLOCK_BYTES = 1 << 17

/** The row that fills a block goes past its size; a longer one takes more memory. */
const LAST_ROW_BYTES = 1 << 15

/** Enough for nearly every answer; allocating memory each time costs as much as writing to it. */
const SCRATCH_BYTES = 1 << 20

const scratch = createWriter(SCRATCH_BYTES)

/** The buffer is shared, because writing is never interrupted; a longer answer takes memory of its own. */
export function writeWhole(writing: Writing): Uint8Array<ArrayBuffer> {
  const out = { ...scratch, length: 0 }
  writing(out, Number.POSITIVE_INFINITY).next() // without a size it never pauses
  return finish(out)
}

/**
 * The same bytes in blocks of `blockBytes` and a row at the most, each made on demand. A text of nothing has
 * no block. Throws, at the block that holds it, what writing the whole would throw.
 */
export function* writeBlocks(writing: Writing, blockBytes: number): Generator<Uint8Array<ArrayBuffer>> {
  const out = createWriter(blockBytes + LAST_ROW_BYTES)
  for (const _ of writing(out, blockBytes)) {
    yield finish(out)
    out.length = 0
  }
  if (out.length > 0) yield finish(out)
}

const ZERO = 48
const HYPHEN = 45
const POINT = 46

/** The longest text of the fast path: sign, `0.`, 11 zeros and 10 digits. */
const LONGEST = 25

/**
 * Writes `value` rounded to 10 significant digits as a plain decimal: no exponent, no trailing zeros, no minus on
 * zero; byte for byte the shortest text of `Number(value.toPrecision(10))`. This is the hot loop of every computed
 * answer: it scales the number to a ten-digit integer and writes that, about four times as fast as going through
 * text.
 */
export function writeSignificant(writer: ByteWriter, value: number): void {
  const magnitude = Math.abs(value)
  if (magnitude >= SMALLEST && magnitude < LARGEST) {
    const places = decimalPlaces(magnitude)
    const scaled = magnitude * POWER[places]!
    const digits = Math.round(scaled)
    if (!isNearTie(scaled) && digits < 1e10) {
      writeDigits(writer, value < 0, digits, places)
      return
    }
  }
  writeAscii(writer, toText(toSignificant(value)))
}

/** Numbers of at most eight decimals and this magnitude are integers below 2^53 when they are scaled. */
const LARGEST_SHORT = 1e6
const SHORT_DECIMALS = 8

/**
 * Writes a number as `toText` has it. Most published numbers have at most eight decimals: these are written as an integer, in a
 * third of the time.
 */
export function writeNumber(writer: ByteWriter, value: number): void {
  const digits = Math.round(Math.abs(value) * 1e8)
  if (!(Math.abs(value) < LARGEST_SHORT) || digits / 1e8 !== Math.abs(value)) {
    writeAscii(writer, toText(value))
    return
  }
  reserve(writer, LONGEST)
  const { bytes, view } = writer
  if (value < 0) bytes[writer.length++] = HYPHEN
  const whole = Math.floor(digits / 1e8)
  if (whole < DIGITS) bytes[writer.length++] = ZERO + whole
  else writeAscii(writer, String(whole))
  const rest = digits - whole * 1e8
  if (rest === 0) return
  const point = writer.length
  bytes[point] = POINT
  const high = (rest / 1e4) | 0
  view.setUint32(point + 1, FOUR[high]!, true)
  view.setUint32(point + 5, FOUR[rest - high * 1e4]!, true)
  writer.length = trimmed(writer, point + 1 + SHORT_DECIMALS, point)
}

/** Writes `digits / 10^places`, `digits` having ten of them, without trailing zeros after the point. */
function writeDigits(writer: ByteWriter, isNegative: boolean, digits: number, places: number): void {
  reserve(writer, LONGEST)
  if (isNegative) writer.bytes[writer.length++] = HYPHEN
  const start = writer.length
  const whole = DIGITS - places
  if (whole > 0) {
    spread(writer, start + 1, digits) // leaves room for the point, before which the whole digits move
    for (let i = start; i < start + whole; i++) writer.bytes[i] = writer.bytes[i + 1]!
    writer.bytes[start + whole] = POINT
    writer.length = trimmed(writer, start + DIGITS + 1, start + whole)
  } else {
    writer.bytes[start] = ZERO
    writer.bytes[start + 1] = POINT
    for (let i = 0; i < -whole; i++) writer.bytes[start + 2 + i] = ZERO
    spread(writer, start + 2 - whole, digits)
    writer.length = trimmed(writer, start + 2 - whole + DIGITS, start)
  }
}

/** The end without trailing zeros, and without the point where nothing is left behind it. */
function trimmed({ bytes }: ByteWriter, end: number, point: number): number {
  let last = end
  while (last - 1 > point && bytes[last - 1] === ZERO) last--
  return last - 1 === point ? point : last
}

/** The text of every number below ten thousand in four digits, as one word: looking it up is quicker than dividing. */
export const FOUR = Uint32Array.from({ length: 10_000 }, (_, i) => {
  const digit = (power: number): number => ZERO + (Math.floor(i / power) % 10)
  return digit(1000) | (digit(100) << 8) | (digit(10) << 16) | (digit(1) << 24)
})

/** The ten digits of an integer, two and twice four. */
function spread({ view }: ByteWriter, at: number, digits: number): void {
  const first = Math.floor(digits / 1e8)
  const rest = (digits - first * 1e8) | 0
  const middle = (rest / 1e4) | 0
  view.setUint16(at, FOUR[first]! >>> 16, true)
  view.setUint32(at + 2, FOUR[middle]!, true)
  view.setUint32(at + 6, FOUR[rest - middle * 1e4]!, true)
}

/** Days from 0000-03-01, where the years of this arithmetic begin, to 1970-01-01. */
const DAYS_TO_1970 = 719_468
const DAYS_OF_400_YEARS = 146_097

/** Writes an epoch day as `YYYY-MM-DD`, for years 0 to 9999; a Date would cost ten times as much. */
export function writeDate(writer: ByteWriter, day: EpochDay): void {
  const days = day + DAYS_TO_1970
  const era = Math.floor(days / DAYS_OF_400_YEARS)
  const inEra = days - era * DAYS_OF_400_YEARS
  // Without the leap days before it, a day belongs to the year of 365 days that it falls into.
  const leaps = Math.floor(inEra / 1460) - Math.floor(inEra / 36_524) + Math.floor(inEra / 146_096)
  const year = Math.floor((inEra - leaps) / 365)
  const inYear = inEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const month = Math.floor((5 * inYear + 2) / 153) // from March on, 0 to 11
  const isNextYear = month > 9
  reserve(writer, 10)
  const { view, bytes, length } = writer
  view.setUint32(length, FOUR[era * 400 + year + (isNextYear ? 1 : 0)]!, true)
  bytes[length + 4] = HYPHEN
  view.setUint16(length + 5, FOUR[month + (isNextYear ? -9 : 3)]! >>> 16, true)
  bytes[length + 7] = HYPHEN
  view.setUint16(length + 8, FOUR[inYear - Math.floor((153 * month + 2) / 5) + 1]! >>> 16, true)
  writer.length += 10
}
