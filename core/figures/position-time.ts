/** A position over `[entry, exit)`, epoch milliseconds. */
export type Interval = { readonly entry_time: number; readonly exit_time: number }

export type PositionTime = {
  /** Time with at least one position. */
  readonly unionMs: number
  /** Time of all positions added up: two at once count twice. */
  readonly totalMs: number
  readonly maxConcurrent: number
}

/**
 * The time that positions take of the window `[beginMs, endMs)`; what lies outside is cut off. At equal instants exits
 * come before entries, so a reversal is never two positions at once.
 */
export function positionTime(positions: readonly Interval[], beginMs: number, endMs: number): PositionTime {
  const inside = positions.filter(p => Math.max(p.entry_time, beginMs) < Math.min(p.exit_time, endMs))
  const entries = Float64Array.from(inside, p => Math.max(p.entry_time, beginMs)).sort()
  const exits = Float64Array.from(inside, p => Math.min(p.exit_time, endMs)).sort()
  const result = { unionMs: 0, totalMs: 0, maxConcurrent: 0 }
  let open = 0
  let entered = 0
  let now = beginMs
  for (const exit of exits) {
    for (; entered < entries.length && entries[entered]! < exit; entered++) {
      advanceTo(entries[entered]!)
      open++
      result.maxConcurrent = Math.max(result.maxConcurrent, open)
    }
    advanceTo(exit)
    open--
  }
  return result

  function advanceTo(instant: number): void {
    if (open > 0) result.unionMs += instant - now
    result.totalMs += open * (instant - now)
    now = instant
  }
}
