import { type Funding, lastAtOrBefore } from './bars.ts'
import type { Engine, Turn } from './engine.ts'
import { signOf } from './trade.ts'

/**
 * Step 1: charges every funding event after the last bar's open, up to and including this bar's, to the
 * position carried in. So an event at T hits exactly the positions with `entry_time < T <= exit_time`, on the
 * grid, off it and in a gap alike.
 *
 * The charge is quantity x the last close known at T x rate, paid by a long where the rate is positive. For
 * an event inside the last bar (off the grid) that is the close before it: at T the last bar had not closed
 * yet.
 */
export function chargeFunding<State>({ engine, state, bar }: Turn<State>): void {
  const { funding } = engine
  if (funding === null || state.open === null) return
  const signedQty = signOf(state.open.position.side) * state.open.qty
  const lastClosesAt = state.last_t + engine.strategy.timeframeMs
  let i = firstAfter(engine, funding, state.last_t)
  for (; i < funding.t.length && funding.t[i]! <= bar.t; i++) {
    const known = funding.t[i]! >= lastClosesAt ? state.last_close : state.prior_close
    state.cash -= signedQty * known * funding.rate[i]!
  }
  engine.fundingCursor = i
}

// Bars come in order, so the next event is where the cursor stands. A state from elsewhere (a checkpoint, a
// second replay with the same engine) may find it too far ahead; then the search starts anew.
function firstAfter<State>(engine: Engine<State>, { t }: Funding, ms: number): number {
  let i = engine.fundingCursor
  if (i > 0 && t[i - 1]! > ms) i = lastAtOrBefore(t, ms) + 1
  while (i < t.length && t[i]! <= ms) i++
  return i
}
