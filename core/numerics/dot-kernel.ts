// A WebAssembly module that is written out here byte by byte: the dot products of four columns with eight at a time, two
// sums in each of its registers. WebAssembly has one arithmetic on all machines, so the bytes that are published do not
// depend on where they were made; fused products, which would be quicker, differ from machine to machine and are not used.
// Opcodes: WebAssembly Core Specification 2.0, section 5.4.

/** Columns that lie interleaved, point by point: a point of the eight fills a line of the cache. */
export const PANEL_COLUMNS = 8

/**
 * A tile is four columns of a panel by a whole panel. A point of it needs eight loads for 32 products, so that the two
 * arithmetic units of a core never wait for memory.
 */
export const TILE_ROWS = 4

/** Points of a turn of the loop. Panels are filled up with zeros to a multiple of it, which alter no sum. */
export const TURN_POINTS = 4

/** Sums of a tile, row by row. */
export const TILE_SUMS = TILE_ROWS * PANEL_COLUMNS

/**
 * Adds the products of the points from address `rows` to before `end` to the sums at `sums`, in the order of the points.
 * `rows` is the first of four neighbours in a panel, `panel` the same point of another, or of the same.
 */
export type DotTile = (rows: number, panel: number, end: number, sums: number) => void

/** The kernel on a memory. */
export function createDotTile(memory: WebAssembly.Memory): DotTile {
  compiled ??= new WebAssembly.Module(moduleBytes())
  return new WebAssembly.Instance<{ readonly t: DotTile }>(compiled, { m: { m: memory } }).exports.t
}

let compiled: WebAssembly.Module | null = null

const NUMBER_BYTES = 8
const REGISTER_BYTES = 16
const POINT_BYTES = PANEL_COLUMNS * NUMBER_BYTES

/** Registers that a point of a panel, and that the sums of a tile fill. */
const PANEL_REGISTERS = POINT_BYTES / REGISTER_BYTES
const SUM_REGISTERS = TILE_ROWS * PANEL_REGISTERS

const I32 = 0x7f
const V128 = 0x7b
const END = 0x0b

/** Numbers of the locals: four parameters, and registers. */
const ROWS = 0
const PANEL = 1
const STOP = 2
const SUMS = 3
const FIRST_SUM = 4
const FIRST_FACTOR = FIRST_SUM + SUM_REGISTERS
const ROW = FIRST_FACTOR + PANEL_REGISTERS

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const body = [...locals(), ...loadSums(), ...loop(), ...storeSums(), END]
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

/** LEB128 of a positive number below 8192: bit 6 of its last byte is the sign. */
const signed = (value: number): number[] => [(value & 0x7f) | 0x80, value >>> 7]

const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]

const locals = (): number[] => [1, ROW + 1 - FIRST_SUM, V128]

const loadSums = (): number[] =>
  range(SUM_REGISTERS).flatMap(i => [...load(SUMS, i * REGISTER_BYTES), ...set(FIRST_SUM + i)])

const storeSums = (): number[] =>
  range(SUM_REGISTERS).flatMap(i => [
    ...[...get(SUMS), ...get(FIRST_SUM + i)],
    ...[0xfd, 0x0b, 3, ...unsigned(i * REGISTER_BYTES)], // v128.store
  ])

const loop = (): number[] => [
  ...[0x03, 0x40],
  ...range(TURN_POINTS).flatMap(point => addProducts(point * POINT_BYTES)),
  ...[...advance(PANEL), ...advance(ROWS)],
  ...[...get(ROWS), ...get(STOP), 0x49, 0x0d, 0, END], // again while rows < stop
]

const advance = (pointer: number): number[] => [
  ...[...get(pointer), 0x41, ...signed(TURN_POINTS * POINT_BYTES), 0x6a, ...set(pointer)],
]

/** The products of one point: the panel's eight numbers are loaded once, and each of the four meets them all. */
const addProducts = (offset: number): number[] => [
  ...range(PANEL_REGISTERS).flatMap(i => [
    ...[...load(PANEL, offset + i * REGISTER_BYTES), ...set(FIRST_FACTOR + i)],
  ]),
  ...range(TILE_ROWS).flatMap(row => [
    ...[...loadTwice(ROWS, offset + row * NUMBER_BYTES), ...set(ROW)],
    ...range(PANEL_REGISTERS).flatMap(i =>
      addProduct(FIRST_SUM + row * PANEL_REGISTERS + i, FIRST_FACTOR + i),
    ),
  ]),
]

/** v128.load. */
const load = (pointer: number, offset: number): number[] => [
  ...get(pointer),
  0xfd,
  0x00,
  3,
  ...unsigned(offset),
]

/** v128.load64_splat: one number into both halves of a register. */
const loadTwice = (pointer: number, offset: number): number[] => [
  ...[...get(pointer), 0xfd, 0x0a, 3, ...unsigned(offset)],
]

const addProduct = (sum: number, factor: number): number[] => [
  ...[...get(sum), ...get(ROW), ...get(factor)],
  ...[0xfd, 0xf2, 0x01, 0xfd, 0xf0, 0x01, ...set(sum)], // f64x2.mul, f64x2.add
]
