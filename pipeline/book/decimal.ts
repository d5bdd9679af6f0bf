/** Up to this many digits the digits are an integer that a double holds exactly (10^15 < 2^53). */
const EXACT_DIGITS = 15

/** Powers of ten that a double holds exactly, as far as `EXACT_DIGITS` needs them. */
const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]

const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * A plain decimal as a number, correctly rounded, or NaN where the text is none: digits, at most one point with
 * digits on both sides, an optional minus, an optional exponent; no blanks, no `+`, no hex, no Infinity.
 *
 * The quotient of two integers that a double holds exactly is correctly rounded by IEEE 754, so a short decimal
 * needs no general conversion (W. Clinger, How to read floating point numbers accurately, 1990). That halves the
 * time of a large file; everything else takes the general way.
 */
export function parseDecimal(text: string): number {
  const start = text.charCodeAt(0) === MINUS ? 1 : 0
  const digits = text.length - start
  if (digits === 0 || digits > EXACT_DIGITS + 1) return parseGeneral(text)
  let mantissa = 0
  let point = -1
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= ZERO && code <= NINE) mantissa = mantissa * 10 + (code - ZERO)
    else if (code === POINT && point < 0) point = i
    else return parseGeneral(text)
  }
  if (point < 0 ? digits > EXACT_DIGITS : point === start || point === text.length - 1)
    return parseGeneral(text)
  const value = point < 0 ? mantissa : mantissa / POWERS[text.length - 1 - point]!
  return start === 1 ? -value : value
}

const MINUS = 45
const POINT = 46
const ZERO = 48
const NINE = 57

/** Overflow is no number either: `1e999` is refused, not read as Infinity. */
function parseGeneral(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : Number.NaN
}
