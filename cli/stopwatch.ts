import type { Progress } from '#core/progress.ts'

/** Milliseconds spent in each step, in the order in which the steps first began. */
export type Timings = Readonly<Record<string, number>>

export type Stopwatch = {
  /** Ends the step under way and begins another; one that was there before goes on. */
  readonly begin: (step: string) => void
  /** Begins the steps that are told, by the first word of each (both matrices are one `correlate`), and tells on. */
  readonly follow: (progress: Progress) => Progress
  /** Ends the last step. */
  readonly end: () => Timings
}

/** Measures steps one after the other, so that all of the time belongs to one of them. */
export function createStopwatch(elapsedMs: () => number, first: string): Stopwatch {
  const spent = new Map([[first, 0]])
  let step = first
  let since = elapsedMs()
  const begin = (next: string): void => {
    const now = elapsedMs()
    spent.set(step, spent.get(step)! + now - since)
    if (!spent.has(next)) spent.set(next, 0)
    step = next
    since = now
  }
  const follow =
    (progress: Progress): Progress =>
    event => {
      const [told = event.step] = event.step.split(' ')
      if (told !== step) begin(told)
      progress(event)
    }
  const end = (): Timings => {
    begin(step)
    return Object.fromEntries([...spent].map(([name, ms]) => [name, Math.round(ms)]))
  }
  return { begin, follow, end }
}
