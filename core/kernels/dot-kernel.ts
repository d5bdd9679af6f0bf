// A WebAssembly module that is written out here byte by byte: the dot products of eight columns with eight others, two
// sums in each of its registers. WebAssembly has one arithmetic on all machines, so the bytes that are published do not
// depend on where they were made; fused products, which would be quicker, differ from machine to machine and are not
// used. Opcodes: WebAssembly Core Specification 2.0, section 5.4.

/** Columns that lie interleaved, point by point: a point of the eight fills a line of the cache. */
export const PANEL_COLUMNS = 8

/** Sums of two panels, row by row. */
export const PANEL_SUMS = PANEL_COLUMNS * PANEL_COLUMNS

/** Points of a turn of the loop. Panels are filled up with zeros to a multiple of it, which alter no sum. */
export const TURN_POINTS = 8

/**
 * Adds the products of the columns of two panels, which may be the same, to the sums at `sums`, in the order of the
 * points. The points are those of one panel from address `rows` to before `end`, and as many of the other from `panel`.
 */
export type AddPanels = (rows: number, panel: number, end: number, sums: number) => void

/** The kernel on a memory. */
export function createAddPanels(memory: WebAssembly.Memory): AddPanels {
  compiled ??= new WebAssembly.Module(moduleBytes())
  return new WebAssembly.Instance<{ readonly a: AddPanels }>(compiled, { m: { m: memory } }).exports.a
}

let compiled: WebAssembly.Module | null = null

const NUMBER_BYTES = 8
const REGISTER_BYTES = 16
const POINT_BYTES = PANEL_COLUMNS * NUMBER_BYTES

/** Rows that meet the other panel at a time: their sums and factors stay in the 15 registers that V8 hands out. */
const TILE_ROWS = 2

/** Registers that a point of a panel, and that the sums of a tile fill. */
const PANEL_REGISTERS = POINT_BYTES / REGISTER_BYTES
const SUM_REGISTERS = TILE_ROWS * PANEL_REGISTERS

const I32 = 0x7f
const V128 = 0x7b
const END = 0x0b

/** Numbers of the locals: four parameters, three integers, and registers. */
const ROWS = 0
const PANEL = 1
const STOP = 2
const SUMS = 3
const SUMS_END = 4
const ROW_POINTER = 5
const PANEL_POINTER = 6
const FIRST_SUM = 7
const FIRST_FACTOR = FIRST_SUM + SUM_REGISTERS
const ROW = FIRST_FACTOR + PANEL_REGISTERS

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const body = [
    ...locals(),
    ...copy(SUMS, SUMS_END),
    ...advance(SUMS_END, PANEL_SUMS * NUMBER_BYTES),
    ...loopWhileBelow(SUMS, SUMS_END, addTile()),
    END,
  ]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 4, I32, I32, I32, I32, 0]), // a type: four integers to nothing
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 0x02, 0x00, 0]), // memory `m.m`
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x61, 0x00, 0]), // function `a`
    ...section(10, [1, ...sized(body)]),
  ])
}

const section = (id: number, content: readonly number[]): number[] => [id, ...sized(content)]
const sized = (content: readonly number[]): number[] => [...unsigned(content.length), ...content]

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** LEB128 of a positive number below 8192: bit 6 of its last byte is the sign. */
const signed = (value: number): number[] => [(value & 0x7f) | 0x80, value >>> 7]

const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]

const copy = (from: number, to: number): number[] => [...get(from), ...set(to)]

const advance = (pointer: number, bytes: number): number[] => [
  ...[...get(pointer), 0x41, ...signed(bytes), 0x6a, ...set(pointer)],
]

/** Once, and again while a pointer is below another. */
const loopWhileBelow = (pointer: number, end: number, body: readonly number[]): number[] => [
  ...[0x03, 0x40, ...body, ...get(pointer), ...get(end), 0x49, 0x0d, 0, END],
]

const locals = (): number[] => [2, FIRST_SUM - SUMS_END, I32, ROW + 1 - FIRST_SUM, V128]

/** Some rows with the whole panel, and on to the next rows. */
const addTile = (): number[] => [
  ...[...copy(ROWS, ROW_POINTER), ...copy(PANEL, PANEL_POINTER)],
  ...range(SUM_REGISTERS).flatMap(i => [...load(SUMS, i * REGISTER_BYTES), ...set(FIRST_SUM + i)]),
  ...loopWhileBelow(ROW_POINTER, STOP, [
    ...range(TURN_POINTS).flatMap(point => addProducts(point * POINT_BYTES)),
    ...advance(PANEL_POINTER, TURN_POINTS * POINT_BYTES),
    ...advance(ROW_POINTER, TURN_POINTS * POINT_BYTES),
  ]),
  ...range(SUM_REGISTERS).flatMap(i => store(SUMS, i * REGISTER_BYTES, FIRST_SUM + i)),
  ...advance(ROWS, TILE_ROWS * NUMBER_BYTES),
  ...advance(STOP, TILE_ROWS * NUMBER_BYTES),
  ...advance(SUMS, SUM_REGISTERS * REGISTER_BYTES),
]

/** The products of one point: the panel's eight numbers are loaded once, and each row meets them all. */
const addProducts = (offset: number): number[] => [
  ...range(PANEL_REGISTERS).flatMap(i => [
    ...[...load(PANEL_POINTER, offset + i * REGISTER_BYTES), ...set(FIRST_FACTOR + i)],
  ]),
  ...range(TILE_ROWS).flatMap(row => [
    ...[...loadTwice(ROW_POINTER, offset + row * NUMBER_BYTES), ...set(ROW)],
    ...range(PANEL_REGISTERS).flatMap(i =>
      addProduct(FIRST_SUM + row * PANEL_REGISTERS + i, FIRST_FACTOR + i),
    ),
  ]),
]

/** v128.load. */
const load = (pointer: number, offset: number): number[] => [
  ...[...get(pointer), 0xfd, 0x00, 3, ...unsigned(offset)],
]

/** v128.store. */
const store = (pointer: number, offset: number, register: number): number[] => [
  ...[...get(pointer), ...get(register), 0xfd, 0x0b, 3, ...unsigned(offset)],
]

/** v128.load64_splat: one number into both halves of a register. */
const loadTwice = (pointer: number, offset: number): number[] => [
  ...[...get(pointer), 0xfd, 0x0a, 3, ...unsigned(offset)],
]

const addProduct = (sum: number, factor: number): number[] => [
  ...[...get(sum), ...get(ROW), ...get(factor)],
  ...[0xfd, 0xf2, 0x01, 0xfd, 0xf0, 0x01, ...set(sum)], // f64x2.mul, f64x2.add
]
