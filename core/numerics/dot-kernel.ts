// A WebAssembly module that is written out here byte by byte: eight dot products at a time, two sums in each of its
// registers. WebAssembly has one arithmetic on all machines, so the bytes that are published do not depend on where they
// were made; fused products, which would be quicker, differ from machine to machine and are not used.
// Opcodes: WebAssembly Core Specification 2.0, section 5.4.

/** Rows and columns of a tile: eight sums and three factors stay in the 16 registers of a core. */
export const TILE_ROWS = 2
export const TILE_COLUMNS = 4

/** Points of a turn of the loop. Columns are filled up with zeros to a multiple of it, which alter no sum. */
export const TURN_POINTS = 8

const POINT_BYTES = 8
const REGISTER_BYTES = 16

/** The products of two rows with four columns, all one `stride` of bytes apart, go to `out` row by row. */
export type DotTile = (rows: number, columns: number, stride: number, out: number) => void

/** The kernel on a memory. */
export function createDotTile(memory: WebAssembly.Memory): DotTile {
  compiled ??= new WebAssembly.Module(moduleBytes())
  return new WebAssembly.Instance<{ readonly t: DotTile }>(compiled, { m: { m: memory } }).exports.t
}

let compiled: WebAssembly.Module | null = null

const I32 = 0x7f
const V128 = 0x7b
const END = 0x0b

/** Numbers of the locals: four parameters, five integers, and registers. */
const ROWS = 0
const COLUMNS = 1
const STRIDE = 2
const OUT = 3
const STOP = 4
const FIRST_POINTER = 5
const FIRST_SUM = 10
const SUMS = TILE_ROWS * TILE_COLUMNS
const FIRST_ROW = FIRST_SUM + SUMS
const COLUMN = FIRST_ROW + TILE_ROWS

const pointerOfRow = (row: number): number => (row === 0 ? ROWS : FIRST_POINTER)
const pointerOfColumn = (column: number): number => (column === 0 ? COLUMNS : FIRST_POINTER + column)
const sumOf = (row: number, column: number): number => FIRST_SUM + row * TILE_COLUMNS + column

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const body = [...locals(), ...setPointers(), ...loop(), ...storeSums(), END]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 4, I32, I32, I32, I32, 0]), // a type: four integers to nothing
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 0x02, 0x00, 0]), // memory `m.m`
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x74, 0x00, 0]), // function `t`
    ...section(10, [1, ...sized(body)]),
  ])
}

const section = (id: number, content: readonly number[]): number[] => [id, ...sized(content)]
const sized = (content: readonly number[]): number[] => [...unsigned(content.length), ...content]

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const add = [0x6a]

const locals = (): number[] => [2, FIRST_SUM - STOP, I32, COLUMN + 1 - FIRST_SUM, V128]

/** Each row and column begins a stride after the one before. */
const setPointers = (): number[] => [
  ...[...get(ROWS), ...get(STRIDE), ...add, ...set(STOP)],
  ...[...get(STOP), ...set(pointerOfRow(1))],
  ...range(TILE_COLUMNS - 1).flatMap(i => [
    ...[...get(pointerOfColumn(i)), ...get(STRIDE), ...add, ...set(pointerOfColumn(i + 1))],
  ]),
]

const loop = (): number[] => [
  ...[0x03, 0x40],
  ...range((TURN_POINTS * POINT_BYTES) / REGISTER_BYTES).flatMap(i => addProducts(i * REGISTER_BYTES)),
  ...range(TILE_ROWS).flatMap(i => advance(pointerOfRow(i))),
  ...range(TILE_COLUMNS).flatMap(i => advance(pointerOfColumn(i))),
  ...[...get(ROWS), ...get(STOP), 0x49, 0x0d, 0, END], // again while rows < stop
]

const advance = (pointer: number): number[] => [
  ...[...get(pointer), 0x41, ...signed(TURN_POINTS * POINT_BYTES), ...add, ...set(pointer)],
]

/** LEB128 of a small positive number: bit 6 of its last byte is the sign. */
const signed = (value: number): number[] => [(value & 0x7f) | 0x80, value >>> 7]

const addProducts = (offset: number): number[] => [
  ...range(TILE_ROWS).flatMap(row => [...load(pointerOfRow(row), offset), ...set(FIRST_ROW + row)]),
  ...range(TILE_COLUMNS).flatMap(column => [
    ...[...load(pointerOfColumn(column), offset), ...set(COLUMN)],
    ...range(TILE_ROWS).flatMap(row => addProduct(row, sumOf(row, column))),
  ]),
]

const load = (pointer: number, offset: number): number[] => [...get(pointer), 0xfd, 0x00, 3, offset]

const addProduct = (row: number, sum: number): number[] => [
  ...[...get(sum), ...get(FIRST_ROW + row), ...get(COLUMN)],
  ...[0xfd, 0xf2, 0x01, 0xfd, 0xf0, 0x01, ...set(sum)], // f64x2.mul, f64x2.add
]

/** The even and the odd points of a sum come together at last. */
const storeSums = (): number[] =>
  range(SUMS).flatMap(i => [
    ...get(OUT),
    ...[...get(FIRST_SUM + i), 0xfd, 0x21, 0, ...get(FIRST_SUM + i), 0xfd, 0x21, 1, 0xa0],
    ...[0x39, 3, i * POINT_BYTES], // f64.store
  ])
