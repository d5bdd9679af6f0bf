import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Fine enough for a target of 20 ms, and a hundred wake-ups a second. */
const RESOLUTION_MS = 10

const NS_PER_SECOND = 1e9

export type EventLoopLag = {
  /** How late the event loop was since this was last called: seconds by quantile; 1 is the longest. */
  readonly take: () => readonly { readonly quantile: number; readonly seconds: number }[]
  readonly stop: () => void
}

/** Watches the event loop until it is stopped. */
export function watchEventLoop(): EventLoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  return {
    take() {
      const taken = [
        { quantile: 0.5, seconds: toSeconds(delay.percentile(50)) },
        { quantile: 0.99, seconds: toSeconds(delay.percentile(99)) },
        { quantile: 1, seconds: delay.count === 0 ? 0 : toSeconds(delay.max) },
      ]
      delay.reset()
      return taken
    },
    stop: () => void delay.disable(),
  }
}

/** The monitor counts the pause that it asked for itself, so that is taken off. */
const toSeconds = (ns: number): number => Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1_000)
