import { toText } from '#core/contract/decimal.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { type ByteWriter, reserve, writeAscii } from './byte-writer.ts'

const DIGITS = 10
const HALF = 5
const ZERO = 48
const MINUS = 45
const POINT = 46

/** Powers of ten that a double holds exactly. */
const POWER = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))

/** The smallest and largest magnitudes of the fast path: beyond them scaling by an exact power is impossible. */
const SMALLEST = 1e-12
const LARGEST = 1e9

/**
 * The scaled value carries an error of half a unit in its last place, under 1e-6 for numbers below 1e10. Closer than
 * this to a tie the fast path cannot know which way to round, and hands over to the exact one.
 */
const TIE_MARGIN = 1e-5

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
    const isTie = Math.abs(scaled - Math.floor(scaled) - 0.5) < TIE_MARGIN
    if (!isTie && digits < 1e10) {
      writeDigits(writer, value < 0, digits, places)
      return
    }
  }
  writeAscii(writer, toText(toSignificant(value)))
}

/** How many decimals leave ten significant digits: 9 for 1.5, 11 for 0.015. */
function decimalPlaces(magnitude: number): number {
  let places = DIGITS - 1
  if (magnitude >= 1) while (magnitude >= POWER[DIGITS - places]!) places--
  else while (magnitude * POWER[places - DIGITS + 1]! < 1) places++
  return places
}

/** The ten digits of the number being written. One scratch for all: nothing here is ever interrupted. */
const scratch = new Uint8Array(DIGITS)

/** Writes `digits / 10^places`, `digits` having ten of them, without trailing zeros after the point. */
function writeDigits(writer: ByteWriter, isNegative: boolean, digits: number, places: number): void {
  const high = Math.floor(digits / 1e5)
  spread(high, 0)
  spread(digits - high * 1e5, HALF)
  const whole = DIGITS - places
  let end = DIGITS
  while (end > whole && end > 1 && scratch[end - 1] === 0) end--
  reserve(writer, LONGEST)
  if (isNegative) writer.bytes[writer.length++] = MINUS
  if (whole <= 0) writer.bytes[writer.length++] = ZERO
  else writeScratch(writer, 0, whole)
  if (end <= whole) return
  writer.bytes[writer.length++] = POINT
  for (let i = whole; i < 0; i++) writer.bytes[writer.length++] = ZERO
  writeScratch(writer, Math.max(whole, 0), end)
}

/** Five digits into the scratch; five, because they fit the integers that the machine divides quickly. */
function spread(value: number, at: number): void {
  let rest = value | 0
  for (let i = at + HALF - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0
    scratch[i] = rest - tenth * 10
    rest = tenth
  }
}

function writeScratch(writer: ByteWriter, from: number, to: number): void {
  const { bytes } = writer
  let at = writer.length
  for (let i = from; i < to; i++) bytes[at++] = ZERO + scratch[i]!
  writer.length = at
}
