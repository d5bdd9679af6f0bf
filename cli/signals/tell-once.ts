import type { Log } from '../log.ts'

/** An error that goes on is told again after so long, with how often it came meanwhile. */
const REPEAT_MS = 30_000

/** Different errors that are remembered. */
const MOST_REMEMBERED = 100

/** Logs errors; one that comes again and again, as from a Redis that is away, fills no disk. */
export function tellOnce(log: Log, now: () => number): (error: unknown) => void {
  const told = new Map<string, { atMs: number; again: number }>()
  return error => {
    const text = error instanceof Error ? error.message : String(error)
    const last = told.get(text)
    if (last !== undefined && now() - last.atMs < REPEAT_MS) {
      last.again++
      return
    }
    if (told.size >= MOST_REMEMBERED) told.clear()
    told.set(text, { atMs: now(), again: 0 })
    log.error('something went wrong', error, { repeated: last?.again ?? 0 })
  }
}
