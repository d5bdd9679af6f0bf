/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the pulses are felt. */
const LOOK_MS = 500

/** A strategy that stopped making progress. */
export class StalledError extends Error {
  constructor(id: string, stallMs: number) {
    super(
      `strategy ${id} made no progress for ${stallMs / 1000} s and was ended: look for a loop without end in its module`,
    )
    this.name = 'StalledError'
  }
}

/**
 * Watches the pulses of tasks: a promise that rejects with a StalledError as soon as one that has begun stands still
 * for `stallMs`, and a function that ends the watch. A pulse of 0 has not begun; a task that is over is deleted.
 */
export function watchPulses(
  pulses: ReadonlyMap<string, Int32Array>,
  stallMs: number,
  elapsedMs: () => number,
): { readonly stalled: Promise<never>; readonly end: () => void } {
  const last = new Map<string, { beats: number; sinceMs: number }>()
  let timer: NodeJS.Timeout | undefined
  const stalled = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const now = elapsedMs()
      for (const [id, pulse] of pulses) {
        const beats = Atomics.load(pulse, 0)
        const before = last.get(id)
        if (beats === 0 || before?.beats !== beats) last.set(id, { beats, sinceMs: now })
        else if (now - before.sinceMs >= stallMs) reject(new StalledError(id, stallMs))
      }
    }, LOOK_MS)
  })
  return { stalled, end: () => clearInterval(timer) }
}
