// What a client sees of the log: every signal of the aliases that it is entitled to now, and the tests for it alone.
import type { Redis } from 'ioredis'
import { type LoggedSignal, newestOf, readAfter } from './read-log.ts'

/** Who reads: all of a client that matters here. */
export type Viewer = { readonly id: string; readonly aliases: readonly string[] }

/** Signals that are read at once: some 200 kB, which is what a reader holds however long the log is. */
export const BLOCK_SIGNALS = 512

/** Tells whether a client sees a signal. */
export function viewOf({ id, aliases }: Viewer): (signal: LoggedSignal) => boolean {
  const seen = new Set(aliases)
  return ({ alias, onlyFor }) => (onlyFor === null ? seen.has(alias) : onlyFor === id)
}

/** The number of the newest signal that a client sees, 0 where there is none. */
export const newestVisible = (redis: Redis, { id, aliases }: Viewer): Promise<number> =>
  newestOf(redis, aliases, id)

/** What a client sees after `since` and up to `until`, ascending, block by block; none of them is empty. */
export async function* readVisible(
  redis: Redis,
  viewer: Viewer,
  since: number,
  until: number,
): AsyncGenerator<readonly LoggedSignal[], void> {
  const isVisible = viewOf(viewer)
  for (let at = since; at < until; ) {
    const block = await readAfter(redis, at, BLOCK_SIGNALS)
    const seen = block.filter(signal => signal.seq <= until && isVisible(signal))
    if (seen.length > 0) yield seen
    at = block.length < BLOCK_SIGNALS ? until : block.at(-1)!.seq
  }
}
