import { counted } from './field.ts'

/**
 * What a reader found in the form of a file, and what it did about it. A repair is no problem: the data were read. The
 * data report prints repairs as notes; kind and count are for programs.
 */
export type Repair = {
  /** Path inside the book, or as it was given to an import; a list if the data are in several files. */
  readonly file: string
  readonly kind: RepairKind
  /** Rows, bars or trades, whatever the message counts. */
  readonly count: number
  readonly message: string
}

type RepairKind = keyof typeof SENTENCES

const SENTENCES = {
  banner: (n: number) => `${counted(n, 'banner line')} before the rows skipped`,
  newest_first: (_: number) => 'the rows are newest first: reversed',
  sorted: (n: number) => `${counted(n, 'row')} earlier than the row before: sorted by time`,
  duplicates: (n: number) => `${counted(n, 'repeated row')} dropped`,
  conflicts: (n: number) =>
    `${counted(n, 'row')} with another row of the same time and other values: the last one counts`,
  rounded: (n: number) =>
    `${counted(n, 'row')} with another row of the same time and the same values in another rounding: the last one counts`,
  cut_off: (_: number) => 'the last line has no line break and may be cut off: dropped',
  unfinished: (n: number) => `${counted(n, 'bar')} dropped, because not over`,
  last_bar: (_: number) =>
    'the last bar may not have been over when the file was made, which the file does not show: compare its volume with the bars before it; --drop-last (drop_last: true) leaves it out',
  blank: (n: number) => `${counted(n, 'row')} without prices dropped`,
  impossible: (n: number) => `${counted(n, 'bar')} whose prices contradict each other dropped, as asked`,
  swapped_volume: (n: number) =>
    `${counted(n, 'row')} with base and quote volume in each other's column: exchanged`,
  open_at_end: (n: number) => `${counted(n, 'trade')} closed by the tool at the end of its test`,
  gaps: (n: number) => `${counted(n, 'bar')} missing; nothing is filled in`,
}

/** Counts what a reader finds. */
export function createTally() {
  const counts = new Map<RepairKind, number>()
  return {
    count(kind: RepairKind, by: number): void {
      if (by > 0) counts.set(kind, (counts.get(kind) ?? 0) + by)
    },
    findings: (file: string): Repair[] =>
      [...counts].map(([kind, count]) => ({ file, kind, count, message: SENTENCES[kind](count) })),
  }
}

export type Tally = ReturnType<typeof createTally>

/**
 * Rows by time, equal ones once. Of rows of one time with different values the last one is kept, and `onConflict`, which
 * counts them, sees both; without it all are kept.
 */
export function putInOrder<Row extends { readonly t: number }>(
  rows: readonly Row[],
  tally: Tally,
  isSame: (a: Row, b: Row) => boolean,
  onConflict?: (earlier: Row, later: Row) => void,
): Row[] {
  const late = rows.filter(({ t }, i) => i > 0 && t < rows[i - 1]!.t).length
  tally.count(late > 1 && late === rows.length - 1 ? 'newest_first' : 'sorted', late)
  return rows
    .toSorted((a, b) => a.t - b.t)
    .filter((row, i, sorted) => {
      const next = sorted[i + 1]
      if (next === undefined || next.t !== row.t) return true
      const isCopy = isSame(row, next)
      if (!isCopy && onConflict === undefined) return true
      if (isCopy) tally.count('duplicates', 1)
      else onConflict?.(row, next)
      return false
    })
}
