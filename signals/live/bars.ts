// The bars of a market: what a feed brings, what is stored of it, and all that are known.
import { mkdir, open, readFile, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { bisector } from 'd3-array'
import { toIsoInstant } from '#core/calendar.ts'
import {
  type Bars,
  barAt,
  describeBarFault,
  describeInstant,
  lastAtOrBefore,
  toBars,
  toShared,
} from '#core/replay/bars.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { ifThere } from '#storage/error-code.ts'
import { flushFolder } from '#storage/placing.ts'
import type { Gap } from './live-record.ts'

/** A source of bars, each once it has closed, in ascending order. */
export type Feed = {
  /** As the operator named it. */
  readonly name: string
  /**
   * Whether bars are repeated, as in a poll: then a bar that fills a gap is ignored; otherwise it is out of order.
   */
  readonly repeats: boolean
  /** Ends with the feed or when stopped. Throws a FeedError for malformed bars. */
  readonly bars: (stop: AbortSignal) => AsyncIterable<Bar>
}

/**
 * Creates a reader of one table of bars in the format of the book. Of a line it returns the bar, or why it is none; null for the
 * first, the header.
 */
export type NewBarReader = () => (line: string) => Bar | string | null

/** Resolves after so many milliseconds, or when stopped. */
export type Pause = (ms: number, stop: AbortSignal) => Promise<void>

/** A bar of a feed is unusable, so what follows is not trusted either: the runner stops. */
export class FeedError extends Error {
  constructor(feed: string, why: string) {
    super(`the feed ${feed}: ${why}`)
    this.name = 'FeedError'
  }
}

/** The bars that came live, in an append-only file: the first final bar wins. */
export type BarStore = Awaited<ReturnType<typeof openBarStore>>

const HEADER = 't,o,h,l,c,v\n'

/**
 * Opens or creates the file. An incomplete last line was never acknowledged and is cut off. A repeated bar was
 * written by a runner that paused while another took over: the first one counts. Throws if the file has anything but
 * ascending bars.
 */
export async function openBarStore(path: string, newReader: NewBarReader) {
  await mkdir(dirname(path), { recursive: true })
  const whole = await readWholeLines(path)
  const bars = parseBars(path, whole, newReader)
  const file = await open(path, 'a')
  if (whole === '') {
    await file.appendFile(HEADER)
    await file.datasync()
    await flushFolder(dirname(path)) // a new file can vanish in a power failure until then
  }
  let last = bars.at(-1)?.t ?? Number.NEGATIVE_INFINITY
  return {
    /** The bars at the time of opening, ascending. */
    bars: bars as readonly Bar[],
    /** Appends a bar; once this resolves it is on disk. Bars come in ascending order. */
    async append(bar: Bar): Promise<void> {
      if (bar.t <= last) return
      await file.appendFile(toLine(bar))
      await file.datasync()
      last = bar.t
    },
    close: () => file.close(),
  }
}

async function readWholeLines(path: string): Promise<string> {
  const bytes = await ifThere(readFile(path), Buffer.alloc(0))
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < bytes.length) await truncate(path, end)
  return bytes.toString('utf8', 0, end)
}

function parseBars(path: string, text: string, newReader: NewBarReader): Bar[] {
  const read = newReader()
  const bars: Bar[] = []
  const known = new Set<number>()
  for (const [i, line] of text.split('\n').slice(0, -1).entries()) {
    const row = read(line)
    if (row === null || (typeof row === 'object' && known.has(row.t))) continue
    const bar = typeof row === 'object' ? inOrder(bars.at(-1), row) : row
    if (typeof bar === 'string')
      throw new Error(`${path}:${i + 1}: ${bar}; restore this file, nothing else writes it`)
    bars.push(bar)
    known.add(bar.t)
  }
  return bars
}

const inOrder = (before: Bar | undefined, bar: Bar): Bar | string =>
  before === undefined || bar.t > before.t
    ? bar
    : `expected a bar later than the one before, got ${toIsoInstant(bar.t)}`

const toLine = ({ t, o, h, l, c, v }: Bar): string =>
  `${toIsoInstant(t)},${o},${h},${l},${c},${Number.isNaN(v) ? '' : v}\n`

export type KnownBars = ReturnType<typeof createKnownBars>

/**
 * The bars of a market, ascending: those of the book and those that came live. If both have a bar, the stored one
 * counts: the first final bar wins, whatever a vendor revises later.
 */
export function createKnownBars(book: Bars, stored: readonly Bar[]) {
  const bars = mergeBars(book, stored)
  let columns: Bars | null = null
  const place = (t: number) => BY_OPEN.left(bars, t)
  return {
    timeframeMs: book.timeframeMs,
    /** The bar that opened at `t`, or null. */
    at: (t: number): Bar | null => {
      const bar = bars[place(t)]
      return bar?.t === t ? bar : null
    },
    first: () => bars[0] ?? null,
    last: () => bars.at(-1) ?? null,
    /** Where bars are missing, which a vendor may bring later. */
    gaps: (): Gap[] =>
      bars.flatMap(({ t }, i) => {
        const missing = (t - (bars[i - 1]?.t ?? t)) / book.timeframeMs - 1
        return missing > 0 ? [{ missing, before_ms: t, found_ms: 0 }] : []
      }),
    /** Every bar that opened at `t` or later. */
    from: (t: number): readonly Bar[] => bars.slice(place(t)),
    /** Adds a bar later than the last. */
    add(bar: Bar): void {
      bars.push(bar)
      columns = null
    },
    /** All bars, in shared memory. */
    columns(): Bars {
      columns ??= toBars(book.timeframeMs, name => toShared(bars.map(bar => bar[name])))
      return columns
    },
  }
}

function mergeBars(book: Bars, stored: readonly Bar[]): Bar[] {
  const live = new Set(stored.map(({ t }) => t))
  const others = Array.from(book.t, (_, i) => barAt(book, i)).filter(({ t }) => !live.has(t))
  return [...others, ...stored].sort((a, b) => a.t - b.t)
}

const BY_OPEN = bisector(({ t }: Bar) => t)

/** Bars that differ between book and store: revised by a vendor after they were traded on. */
export const revisedBars = (book: Bars, stored: readonly Bar[]): readonly Bar[] =>
  stored.filter(bar => {
    const i = lastAtOrBefore(book.t, bar.t)
    return i >= 0 && book.t[i] === bar.t && !isSameBar(barAt(book, i), bar)
  })

/** Compares prices only: volumes are often settled later. */
const isSameBar = (a: Bar, b: Bar): boolean =>
  a.t === b.t && a.o === b.o && a.h === b.h && a.l === b.l && a.c === b.c

/**
 * A bar of a feed compared with the known ones: the next one, a repetition, a revision with other prices, or one in a
 * hole that counts as a gap. Throws a FeedError if it is off the grid or impossible.
 */
export function admitBar(feed: string, known: KnownBars, bar: Bar): 'next' | 'repeated' | 'revised' | 'gap' {
  const fault = describeBarFault(bar, known.timeframeMs)
  if (fault !== null) throw new FeedError(feed, `the bar at ${describeInstant(bar.t)} ${fault}: fix the feed`)
  const last = known.last()
  if (last === null || bar.t > last.t) return 'next'
  const there = known.at(bar.t)
  if (there !== null) return isSameBar(there, bar) ? 'repeated' : 'revised'
  return bar.t < known.first()!.t ? 'repeated' : 'gap' // older than the history
}
