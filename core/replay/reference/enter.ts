import type { Decision, Side } from '../strategy.ts'

/**
 * Enters with the stop `distance` from the close, on the losing side. No entry where that is no stop: in a
 * market that does not move (distance 0, or too small to change the price), and where a long's would be at or
 * below 0.
 */
export function enter(side: Side, close: number, distance: number): Decision {
  const stop = side === 'long' ? close - distance : close + distance
  return stop === close || stop <= 0 ? null : { act: side, stop }
}
