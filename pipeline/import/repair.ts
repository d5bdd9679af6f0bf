import { counted } from '../book/field.ts'

/** What an import found in the form of a file, and what it did about it; kind and count are for programs. */
export type Repair = {
  /** Path as it was given to the import. */
  readonly file: string
  readonly kind: RepairKind | 'stated'
  /** Rows, bars or trades, whatever the message counts. */
  readonly count: number
  /** The rows, such as `3, 17-20`; blank if it concerns none or all of them. */
  readonly rows: string
  readonly message: string
}

type RepairKind = keyof typeof SENTENCES

/** Kinds of rows that are not read. */
const DROPPED = ['banner', 'duplicates', 'chosen', 'cut_off', 'unfinished', 'blank', 'impossible'] as const

const SENTENCES = {
  banner: (n: number) => `${counted(n, 'row')} above the header skipped`,
  duplicates: (n: number) => `${counted(n, 'repeated row')} dropped`,
  chosen: (n: number) =>
    `${counted(n, 'row')} with another row of the same time and other values dropped, as stated`,
  cut_off: (_: number) => 'the last line has no line break and may be cut off: dropped',
  unfinished: (n: number) => `${counted(n, 'bar')} dropped, because not over`,
  blank: (n: number) => `${counted(n, 'row')} without values dropped`,
  impossible: (n: number) => `${counted(n, 'bar')} whose prices contradict each other dropped, as stated`,
  newest_first: (_: number) => 'the rows are newest first: reversed',
  sorted: (n: number) => `${counted(n, 'row')} earlier than the row before: sorted by time`,
  last_bar: (_: number) =>
    'the last bar may not have been over when the file was made, which the file does not show: compare its volume with the bars before it; --drop-last leaves it out',
  swapped_volume: (n: number) =>
    `${counted(n, 'row')} with base and quote volume in each other's column: exchanged`,
  no_volume: (n: number) => `${counted(n, 'row')} whose volume contradicts the other columns: left blank`,
  shifted: (_: number) => 'the times are those of closes: each bar begins one timeframe earlier',
  open_at_end: (n: number) => `${counted(n, 'trade')} closed by the tool at the end of its test`,
  rounded: (n: number) =>
    `${counted(n, 'result')} further from prices and costs than 1 bp of the position, as by rounding: the build accepts them if result_tolerance_bps of the strategy states how far`,
  gaps: (n: number) => `${counted(n, 'bar')} missing; nothing is filled in`,
}

export const spellStated = (stated: string): string => `read as its publisher states: ${stated}`

export function createTally() {
  const found = new Map<string, { file: string; kind: RepairKind; count: number; rows: number[] }>()
  const count = (kind: RepairKind, file: string, by: number, ...rows: number[]): void => {
    const entry = found.get(`${file}\n${kind}`) ?? { file, kind, count: 0, rows: [] }
    entry.count += by
    entry.rows.push(...rows)
    if (by > 0) found.set(`${file}\n${kind}`, entry)
  }
  return {
    count,
    /** A row that is not read, or was changed. */
    drop: (kind: RepairKind, file: string, row: number): void => count(kind, file, 1, row),
    findings: (): Repair[] =>
      [...found.values()].map(({ file, kind, count, rows }) => {
        const spelled = spellRows(rows)
        const where = spelled === '' ? '' : ` (row${rows.length === 1 ? '' : 's'} ${spelled})`
        return { file, kind, count, rows: spelled, message: `${SENTENCES[kind](count)}${where}` }
      }),
    dropped: (file: string): number =>
      DROPPED.reduce((sum, kind) => sum + (found.get(`${file}\n${kind}`)?.count ?? 0), 0),
  }
}

export type Tally = ReturnType<typeof createTally>

/** `3, 17-20`: rows that follow one another are equally far from their indices. */
function spellRows(rows: readonly number[]): string {
  const spans = Map.groupBy(rows.toSorted((a, b) => a - b).entries(), ([i, row]) => row - i)
  const ends = [...spans.values()].map(span => new Set([span[0]![1], span.at(-1)![1]]))
  return ends.map(each => [...each].join('-')).join(', ')
}

/** Rows by time; the order of each file is a repair. */
export function inOrder<Item extends { t: number; file: string }>(rows: readonly Item[], tally: Tally) {
  for (const [file, own] of Map.groupBy(rows, row => row.file)) {
    const late = own.filter(({ t }, i) => i > 0 && t < own[i - 1]!.t).length
    tally.count(late > 1 && late === own.length - 1 ? 'newest_first' : 'sorted', file, late)
  }
  return rows.toSorted((a, b) => a.t - b.t)
}
