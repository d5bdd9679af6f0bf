import { describeInstant } from './bars.ts'
import type { Turn } from './engine.ts'

/**
 * Step 0: throws unless the bar is later than the last one, on the grid of the timeframe, and possible:
 * `0 < l <= min(o, c) <= max(o, c) <= h`, all finite. A bad bar stops the run, because a bar that is skipped
 * moves every decision after it. A gap is legal: it is time without bars.
 */
export function checkBar<State>(turn: Turn<State>): void {
  const { engine, state, bar } = turn
  const { t, o, h, l, c } = bar
  if (state.bars > 0 && !(t > state.last_t)) {
    refuse(turn, `must be later than the last bar, ${describeInstant(state.last_t)}: sort the bars`)
  }
  if (t % engine.strategy.timeframeMs !== 0) {
    refuse(turn, `must open on a multiple of the timeframe, ${engine.strategy.timeframeMs} ms: mend the bars`)
  }
  if (!(l > 0 && l <= o && l <= c && o <= h && c <= h && h < Number.POSITIVE_INFINITY)) {
    refuse(
      turn,
      `must have 0 < low <= open, close <= high; it has o ${o}, h ${h}, l ${l}, c ${c}: mend the bars`,
    )
  }
}

function refuse<State>({ engine, bar }: Turn<State>, why: string): never {
  throw new Error(`strategy ${engine.strategy.id}: the bar at ${describeInstant(bar.t)} ${why}`)
}
