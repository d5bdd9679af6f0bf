import type { StartTimer } from './guarded-connect.ts'

/** Runs again and again, each time so long after the last one has ended; gives a function that stops it. */
export function every(
  startTimer: StartTimer,
  ms: number,
  onError: (error: unknown) => void,
  run: () => Promise<unknown>,
): () => void {
  let isOver = false
  const tick = async (): Promise<void> => {
    try {
      await run()
    } catch (error) {
      if (!isOver) onError(error)
    }
    if (!isOver) stop = startTimer(ms, () => void tick())
  }
  let stop = startTimer(ms, () => void tick())
  return () => {
    isOver = true
    stop()
  }
}
