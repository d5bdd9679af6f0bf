// Writes rows of a date and a number. JavaScript checks the bounds of every store, and allocates a heap
// number if a function returns a double; a WebAssembly kernel does neither.
//
// Why a kernel: 4 000 rows take 94 us of processor time; the same bytes written column by column in
// TypeScript take 785 us (2026-11-22, bench/results.md, "Kernels"). Nearly every answer at a risk level is
// such rows. Measure it again with `make bench PART=kernels`.
//
// `rows.wat` is the source, and says what each step is for. `make kernel` assembles it into `rows.json`.
import assembled from './rows.json' with { type: 'json' }

/** Addresses in the memory of the kernel, which its user fills; `rows.wat` has the same numbers. */
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

export function createWriteRows(memory: WebAssembly.Memory): WriteRows {
  const bytes = Uint8Array.from(atob(assembled.wasm_base64), letter => letter.charCodeAt(0))
  const { f } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: memory } }).exports
  return f as WriteRows // the only export
}
