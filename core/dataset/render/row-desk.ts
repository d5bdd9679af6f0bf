import { type EpochDay, parseIsoDate } from '#core/calendar.ts'
import { AT, createWriteRows, DECADES, SMALLEST_EXPONENT, type WriteRows } from '#core/kernels/rows-kernel.ts'
import { createWriter, toBytes } from './byte-writer.ts'
import { writeDate } from './calendar-date.ts'

/** The memory of the kernel of rows, and the kernel on it. */
export type RowDesk = {
  readonly writeRows: WriteRows
  /** All of it, for texts. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the text of the last rows ends. */
  readonly end: Uint32Array<ArrayBuffer>
  /** The values of a block. */
  readonly values: Float64Array<ArrayBuffer>
}

/** Rows that are written at a time: ten years of days in one go, and both sides of them stay in the cache of a core. */
export const BLOCK_ROWS = 4096

/** The longest text before or between numbers: the kernel moves it in one register. */
export const LONGEST_TEXT = 16

/** The first day that is not in the list of texts; the first one that is has the number 0. */
export const DAYS_END: EpochDay = parseIsoDate('2100-01-01') ?? 0

/** Bytes of the text of a day, filled up to a register. */
export const DAY_BYTES = 16

export const VALUE_BYTES = 8
export const VALUES_AT = AT.days + DAYS_END * DAY_BYTES
export const TEXT_AT = VALUES_AT + BLOCK_ROWS * VALUE_BYTES

/** A date, a sign, `0.`, 11 zeros, 10 digits, and the texts around them. */
const LONGEST_ROW = 10 + 24 + 2 * LONGEST_TEXT

const PAGE_BYTES = 1 << 16

let made: RowDesk | null = null

/** One desk serves all, because nothing is ever interrupted here; 1.1 MB, made at the first call in some 15 ms. */
export function rowDesk(): RowDesk {
  made ??= makeRowDesk()
  return made
}

function makeRowDesk(): RowDesk {
  const most = TEXT_AT + BLOCK_ROWS * LONGEST_ROW + LONGEST_TEXT // the last register reaches over the end
  const memory = new WebAssembly.Memory({ initial: Math.ceil(most / PAGE_BYTES) })
  const { buffer } = memory
  const bytes = new Uint8Array(buffer)
  layOutNumbers(bytes)
  layOutDecades(buffer)
  layOutDays(bytes)
  return {
    writeRows: createWriteRows(memory),
    bytes,
    end: new Uint32Array(buffer, AT.end, 1),
    values: new Float64Array(buffer, VALUES_AT, BLOCK_ROWS),
  }
}

function layOutNumbers(bytes: Uint8Array): void {
  for (let i = 0; i < 10_000; i++) bytes.set(toBytes(String(i).padStart(4, '0')), AT.four + i * 4)
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

function layOutDays(bytes: Uint8Array): void {
  const out = createWriter(DAY_BYTES)
  for (let day = 0; day < DAYS_END; day++) {
    out.length = 0
    writeDate(out, day)
    bytes.set(out.bytes, AT.days + day * DAY_BYTES)
  }
}
