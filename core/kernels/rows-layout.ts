/** Where the kernel finds what it reads; row-desk.ts lays it out. */
export const AT = {
  /** The text of every number below 10 000, in four bytes. */
  four: 0,
  /** Where each decade but the first begins, between two NaN: no number is beyond them. */
  borders: 40_000,
  /** The power of ten for each decade. */
  scales: 40_192,
  /** The text between date and number, and the one between rows: sixteen bytes each. */
  between: 40_384,
  next: 40_400,
  /** Where the text ended. */
  end: 40_416,
  /** The text of every day in sixteen bytes, from 1970-01-01 on. */
  days: 40_448,
} as const

/** The decades of the kernel: from 1e-12 up to 1e9. Beyond them scaling by an exact power of ten is impossible. */
export const SMALLEST_EXPONENT = -12
export const DECADES = 21
