import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the pulses are read. */
const LOOK_MS = 500

/**
 * Watches the pulses of tasks and calls `onStall` with the name of each that has begun and makes no progress for `stallMs`.
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

/**
 * The environment of a thread that runs strategy modules, which have no business with our secrets. It names only the folder of
 * compiled modules, which halves the start of a thread; the fence removes it.
 */
export function threadEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir() // of this version of Node, below the one that is kept for all
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
