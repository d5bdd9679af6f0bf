// The part of a WebAssembly assembler that the kernel of rows needs. An expression is its bytes; operands come
// first. Opcodes: WebAssembly Core Specification 2.0, section 5.4.

type Code = readonly number[]

export const I32 = 0x7f
export const I64 = 0x7e
export const F64 = 0x7c
export const V128 = 0x7b

const EMPTY = 0x40
const END = 0x0b

/** A function of 32-bit integers that returns nothing or one such integer. */
type FunctionCode = {
  readonly parameters: number
  readonly results: 0 | 1
  readonly locals: readonly (readonly [count: number, type: number])[]
  readonly code: Code
}

/** A module of one function `f` on the memory `m.m`. */
export function compile({ parameters, results, locals, code }: FunctionCode): WebAssembly.Module {
  const body = [locals.length, ...locals.flat(), ...code, END]
  const integers = (count: number): number[] => [count, ...Array.from({ length: count }, () => I32)]
  return new WebAssembly.Module(
    Uint8Array.from([
      ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      ...section(1, [1, 0x60, ...integers(parameters), ...integers(results)]),
      ...section(2, [1, 1, 0x6d, 1, 0x6d, 0x02, 0x00, 0]), // memory `m.m`
      ...section(3, [1, 0]),
      ...section(7, [1, 1, 0x66, 0x00, 0]), // function `f`
      ...section(10, [1, ...sized(body)]),
    ]),
  )
}

/** The function of a compiled module, on a memory. */
export const functionOn = <Function>(module: WebAssembly.Module, memory: WebAssembly.Memory): Function =>
  new WebAssembly.Instance(module, { m: { m: memory } }).exports.f as Function // the only export of `compile`

const section = (id: number, content: Code): number[] => [id, ...sized(content)]
const sized = (content: Code): number[] => [...unsigned(content.length), ...content]

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** Signed LEB128; the sign is bit 6 of the last byte. */
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isLast = rest === (low & 0x40 ? -1n : 0n)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}

type Local = { readonly get: Code; readonly set: (value: Code) => number[] }

export const local = (index: number): Local => ({
  get: [0x20, index],
  set: value => [...value, 0x21, index],
})

export const block = (body: Code): number[] => [0x02, EMPTY, ...body, END]
export const loop = (body: Code): number[] => [0x03, EMPTY, ...body, END]
export const either = (condition: Code, then: Code, otherwise: Code): number[] => [
  ...[...condition, 0x04, EMPTY, ...then],
  ...(otherwise.length === 0 ? [] : [0x05, ...otherwise]),
  END,
]

/** Leaves the block this many levels out. */
export const breakIf = (level: number, condition: Code): number[] => [...condition, 0x0d, level]

/** Repeats the loop this many levels out: the same instruction leaves a block and repeats a loop. */
export const repeatIf = breakIf
export const repeat = (level: number): number[] => [0x0c, level]

/** Adds a number of bytes to a pointer. */
export const advance = (pointer: Local, bytes: Code): number[] => pointer.set(i32.add(pointer.get, bytes))

type Binary = (a: Code, b: Code) => number[]
type Load = (at: Code, offset: number) => number[]
type Store = (at: Code, value: Code, offset: number) => number[]

const unary =
  (...opcode: Code) =>
  (a: Code): number[] => [...a, ...opcode]
const binary =
  (...opcode: Code): Binary =>
  (a, b) => [...a, ...b, ...opcode]
const load =
  (...opcode: Code): Load =>
  (at, offset) => [...at, ...opcode, 0, ...unsigned(offset)]
const store =
  (...opcode: Code): Store =>
  (at, value, offset) => [...at, ...value, ...opcode, 0, ...unsigned(offset)]

/** Comparisons, division and the right shift are unsigned. */
export const i32 = {
  constant: (value: number): number[] => [0x41, ...signed(BigInt(value))],
  add: binary(0x6a),
  subtract: binary(0x6b),
  multiply: binary(0x6c),
  divide: binary(0x6e),
  and: binary(0x71),
  or: binary(0x72),
  shiftLeft: binary(0x74),
  shiftRight: binary(0x76),
  equals: binary(0x46),
  below: binary(0x49),
  atLeast: binary(0x4f),
  isZero: unary(0x45),
  fromLong: unary(0xa7),
  load: load(0x28),
  load8: load(0x2d),
  store: store(0x36),
  store8: store(0x3a),
  store16: store(0x3b),
} as const

export const i64 = {
  constant: (value: number | bigint): number[] => [0x42, ...signed(BigInt(value))],
  subtract: binary(0x7d),
  multiply: binary(0x7e),
  divide: binary(0x80),
  /** Truncated. */
  fromDouble: unary(0xfc, 0x06),
  store: store(0x37),
} as const

export const f64 = {
  constant: (value: number): number[] => [0x44, ...new Uint8Array(Float64Array.of(value).buffer)],
  magnitude: unary(0x99),
  /** To the nearest integer, ties to even. */
  nearest: unary(0x9e),
  subtract: binary(0xa1),
  multiply: binary(0xa2),
  equals: binary(0x61),
  below: binary(0x63),
  atMost: binary(0x65),
  atLeast: binary(0x66),
  load: load(0x2b),
} as const

export const v128 = {
  load: load(0xfd, 0x00),
  store: store(0xfd, 0x0b),
} as const
