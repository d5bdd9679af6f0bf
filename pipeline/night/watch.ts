/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the pulses are felt. */
const LOOK_MS = 500

/**
 * Watches the pulses of tasks and calls `onStall` with the name of each that has begun and stands still for `stallMs`.
 * A pulse of 0 has not begun; a task that is over is deleted from the map. Returns the function that ends the watch.
 */
export function watchPulses(
  pulses: ReadonlyMap<string, Int32Array>,
  stallMs: number,
  elapsedMs: () => number,
  onStall: (id: string) => void,
): () => void {
  const last = new Map<string, { readonly beats: number; readonly sinceMs: number }>()
  const timer = setInterval(() => {
    const now = elapsedMs()
    for (const [id, pulse] of pulses) {
      const beats = Atomics.load(pulse, 0)
      const before = last.get(id)
      if (beats === 0 || before?.beats !== beats) last.set(id, { beats, sinceMs: now })
      else if (now - before.sinceMs >= stallMs) onStall(id)
    }
  }, LOOK_MS)
  return () => clearInterval(timer)
}
