import type { Bar } from '#core/replay/strategy.ts'
import { FeedError } from '../known-bars.ts'

/** Where bars come from, each once it has closed, in ascending order. */
export type Feed = {
  /** As the operator named it. */
  readonly name: string
  /**
   * Whether it tells again what it told before, as a poll does: then a bar that fills a gap is ignored. In a feed where
   * every bar comes once, such a bar is out of order.
   */
  readonly repeats: boolean
  /** Ends when the feed does or when it is asked to stop. Throws a FeedError for what is no bar. */
  readonly bars: (stop: AbortSignal) => AsyncIterable<Bar>
}

/** What a line of a table of bars is; `why` is a sentence. */
export type BarRow =
  | { readonly kind: 'header' }
  | { readonly kind: 'bar'; readonly bar: Bar }
  | { readonly kind: 'fault'; readonly why: string }

/** Makes a reader of one table of bars in the format of the book: its first line is the header. */
export type NewBarReader = () => (line: string) => BarRow

/** Resolves after so many milliseconds, or at once when it is asked to stop. */
export type Pause = (ms: number, stop: AbortSignal) => Promise<void>

/** A line of a feed as a bar; null for its header. */
export function toBar(name: string, row: BarRow, line: number): Bar | null {
  if (row.kind === 'fault') throw new FeedError(name, `line ${line}: ${row.why}`)
  return row.kind === 'bar' ? row.bar : null
}
