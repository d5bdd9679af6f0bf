import type { Bar } from '#core/replay/strategy.ts'

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

/** A line of a table of bars. */
export type BarRow =
  | { readonly kind: 'header' }
  | { readonly kind: 'bar'; readonly bar: Bar }
  | { readonly kind: 'fault'; readonly why: string }

/** Creates a reader of one table of bars in the format of the book; its first line is the header. */
export type NewBarReader = () => (line: string) => BarRow

/** Resolves after so many milliseconds, or when stopped. */
export type Pause = (ms: number, stop: AbortSignal) => Promise<void>
