// Writes rows of a date and a number. JavaScript checks the bounds of every store, and allocates a heap
// number if a function returns a double; a WebAssembly kernel does neither.
//
// Why a kernel: 4 000 rows take 94 us of processor time; the same bytes written column by column in
// TypeScript take 785 us (2026-11-22, bench/results.md, "Kernels"). Nearly every answer at a risk level is
// such rows. Measure it again with `make bench PART=kernels`.
import * as wasm from './wasm-code.ts'
import { advance, f64, i32, i64, local, v128 } from './wasm-code.ts'

/** Addresses in the memory of the kernel, which its user fills. */
export const AT = {
  /** The text of every number below 10 000, in four bytes. */
  four: 0,
  /** Where each decade but the first begins, between two NaN, which no number is beyond. */
  borders: 40_000,
  /** The power of ten for each decade. */
  scales: 40_192,
  /** The text between date and number, and the one between rows: sixteen bytes each. */
  between: 40_384,
  next: 40_400,
  /** The end of the text. */
  end: 40_416,
  /** The text of every day in sixteen bytes, from 1970-01-01 on. */
  days: 40_448,
} as const

/** The decades of the kernel: from 1e-12 up to 1e9. Beyond them no exact power of ten can scale a number. */
export const SMALLEST_EXPONENT = -12
export const DECADES = 21

/**
 * The scaled number carries an error of half a unit in its last place, under 1e-6 for numbers below 1e10.
 * Closer than this to a tie the kernel cannot decide which way to round.
 */
const TIE_MARGIN = 1e-5

/**
 * Writes rows to `out` for the values from address `from` to before `to`. The text of the first day is at
 * `day`, that of the next `stride` bytes later. A row is a date, `between`, a number and `next`. Returns the
 * address of the first value that was not written: `to`, or that of a number that needs exact rounding.
 */
export type WriteRows = (
  from: number,
  to: number,
  day: number,
  stride: number,
  out: number,
  betweenBytes: number,
  nextBytes: number,
) => number

/** The kernel, on a memory. */
export const createWriteRows = (memory: WebAssembly.Memory): WriteRows =>
  wasm.functionOn(wasm.compile({ parameters: 7, results: 1, locals: LOCALS, code: rows() }), memory)

// Parameters, in their order, and the variables after them.
const [from, to, day, stride, out] = [local(0), local(1), local(2), local(3), local(4)]
const [betweenBytes, nextBytes] = [local(5), local(6)]
const [decade, rest, middle, low, first] = [local(7), local(8), local(9), local(10), local(11)]
const [digits, top] = [local(12), local(13)]
const [value, scaled, rounded] = [local(14), local(15), local(16)]
const [between, next] = [local(17), local(18)]

const LOCALS = [
  [5, wasm.I32],
  [2, wasm.I64],
  [3, wasm.F64],
  [2, wasm.V128],
] as const

const ENTRY_BYTES = 8
const DATE_BYTES = 10
const DIGITS = 10
const [MINUS, POINT, ZERO] = [45, 46, 48]

/** The decade of 1, as the offset of its entries. */
const OF_ONE = -SMALLEST_EXPONENT * ENTRY_BYTES

const rows = (): number[] => [
  ...between.set(v128.load(i32.constant(0), AT.between)),
  ...next.set(v128.load(i32.constant(0), AT.next)),
  ...decade.set(i32.constant(OF_ONE)),
  ...wasm.block([
    ...wasm.loop([...wasm.breakIf(1, i32.atLeast(from.get, to.get)), ...row(), ...wasm.repeat(0)]),
  ]),
  ...i32.store(i32.constant(0), out.get, AT.end),
  ...from.get,
]

/** Nothing of a row is written before it is certain that all of it can be. */
const row = (): number[] => [
  ...value.set(f64.load(from.get, 0)),
  ...findDecade(),
  ...scaled.set(f64.multiply(f64.magnitude(value.get), f64.load(decade.get, AT.scales))),
  ...rounded.set(f64.nearest(scaled.get)),
  ...wasm.breakIf(1, i32.isZero(f64.atMost(f64.magnitude(f64.subtract(scaled.get, rounded.get)), MARGIN))),
  ...wasm.breakIf(1, i32.isZero(i32.or(hasTenDigits(), isZero()))),
  ...v128.store(out.get, v128.load(day.get, 0), 0),
  ...advance(out, i32.constant(DATE_BYTES)),
  ...v128.store(out.get, between.get, 0),
  ...advance(out, betweenBytes.get),
  ...wasm.either(isZero(), zero(), number()),
  ...v128.store(out.get, next.get, 0),
  ...advance(out, nextBytes.get),
  ...advance(day, stride.get),
  ...advance(from, i32.constant(ENTRY_BYTES)),
]

const MARGIN = f64.constant(0.5 - TIE_MARGIN)

const isZero = (): number[] => f64.equals(value.get, f64.constant(0))

/**
 * Below all decades there are nine, which must not be rounded to ten; beyond them and after rounding up,
 * eleven. False for NaN.
 */
const hasTenDigits = (): number[] =>
  i32.and(f64.atLeast(scaled.get, f64.constant(1e9)), f64.below(rounded.get, f64.constant(1e10)))

/**
 * Starts from the decade of the previous row: neighbouring numbers of a series are similar. For NaN any
 * decade will do.
 */
const findDecade = (): number[] => {
  const magnitude = f64.magnitude(value.get)
  return [
    ...walk(f64.below(magnitude, f64.load(decade.get, AT.borders)), -ENTRY_BYTES),
    ...walk(f64.atLeast(magnitude, f64.load(decade.get, AT.borders + ENTRY_BYTES)), ENTRY_BYTES),
  ]
}

/** Moves from decade to decade until it is the right one. */
const walk = (isOff: readonly number[], bytes: number): number[] =>
  wasm.block([
    ...wasm.loop([
      ...wasm.breakIf(1, i32.isZero(isOff)),
      ...advance(decade, i32.constant(bytes)),
      ...wasm.repeat(0),
    ]),
  ])

const zero = (): number[] => [...i32.store8(out.get, i32.constant(ZERO), 0), ...advance(out, i32.constant(1))]

/** Sign, digits, point, and no zeros at the end. */
const number = (): number[] => [
  ...i32.store8(out.get, i32.constant(MINUS), 0),
  ...advance(out, f64.below(value.get, f64.constant(0))),
  ...wasm.either(i32.below(decade.get, i32.constant(OF_ONE)), fraction(), mixed()),
  ...out.set(i32.add(first.get, i32.constant(DIGITS))),
  ...wasm.either(i32.equals(lastByte(), i32.constant(ZERO)), trim(), []),
]

/** `0.`, a zero for each decade below that of 0.1, and the digits. */
const fraction = (): number[] => [
  ...i64.store(out.get, i64.constant(0x3030_3030_3030_2e30n), 0),
  ...i64.store(out.get, i64.constant(0x3030_3030_3030_3030n), 8),
  ...first.set(
    i32.add(
      out.get,
      i32.shiftRight(i32.subtract(i32.constant(OF_ONE + ENTRY_BYTES), decade.get), i32.constant(3)),
    ),
  ),
  ...spread(),
]

/** Writes the digits one byte late; then those of the integer part move forward, before the point. */
const mixed = (): number[] => [
  ...first.set(i32.add(out.get, i32.constant(1))),
  ...spread(),
  ...rest.set(decade.get),
  ...wasm.loop([
    ...i32.store8(out.get, i32.load8(out.get, 1), 0),
    ...advance(out, i32.constant(1)),
    ...advance(rest, i32.constant(-ENTRY_BYTES)),
    ...wasm.repeatIf(0, i32.atLeast(rest.get, i32.constant(OF_ONE))),
  ]),
  ...i32.store8(out.get, i32.constant(POINT), 0),
]

/** Ten digits at `first`: two and twice four. */
const spread = (): number[] => [
  ...digits.set(i64.fromDouble(rounded.get)),
  ...top.set(i64.divide(digits.get, i64.constant(1e8))),
  ...rest.set(i32.fromLong(i64.subtract(digits.get, i64.multiply(top.get, i64.constant(1e8))))),
  ...middle.set(i32.divide(rest.get, i32.constant(1e4))),
  ...low.set(i32.subtract(rest.get, i32.multiply(middle.get, i32.constant(1e4)))),
  ...i32.store16(first.get, i32.shiftRight(four(i32.fromLong(top.get)), i32.constant(16)), 0),
  ...i32.store(first.get, four(middle.get), 2),
  ...i32.store(first.get, four(low.get), 6),
]

const four = (number: readonly number[]): number[] =>
  i32.load(i32.shiftLeft(number, i32.constant(2)), AT.four)

/** The byte before `out`. */
const lastByte = (): number[] => i32.load8(i32.subtract(out.get, i32.constant(1)), 0)

/** Moves `out` back over zeros, of which there is at least one, and over the point if no digit follows it. */
const trim = (): number[] => [
  ...wasm.loop([
    ...advance(out, i32.constant(-1)),
    ...wasm.repeatIf(0, i32.equals(lastByte(), i32.constant(ZERO))),
  ]),
  ...out.set(i32.subtract(out.get, i32.equals(lastByte(), i32.constant(POINT)))),
]
