import { checkBar } from './check-bar.ts'
import { decide } from './decide.ts'
import type { Engine, Turn } from './engine.ts'
import type { StepEvent } from './events.ts'
import { fillOrders, fillStop, markClose } from './fills.ts'
import { chargeFunding } from './funding.ts'
import type { EngineState } from './state.ts'
import type { Bar } from './strategy.ts'

/**
 * One step of the engine over one closed bar: the same for the nightly replay and for the live runner. It
 * depends on its arguments alone and changes only `state` (in place, as a strategy changes its own), so a
 * state that went through JSON goes on as if nothing had happened. Returns what happened, in order.
 *
 * The order: check the bar; funding up to the bar's open hits the position carried in; the orders of the last
 * close fill at the open, exit before entry; the protective stop, on the entry bar too; equity at the close;
 * the decision. Equity of 0 or below, after a fill or at the close, is a liquidation: the trade returns -1,
 * the account stays at 0, and the strategy is not asked again. Throws on an impossible bar and on a decision
 * that makes no sense.
 */
export function step<State>(
  engine: Engine<State>,
  state: EngineState<State>,
  bar: Bar,
): readonly StepEvent[] {
  const turn: Turn<State> = { engine, state, bar, events: [] }
  checkBar(turn)
  if (!state.dead) {
    chargeFunding(turn)
    fillOrders(turn)
    fillStop(turn)
    markClose(turn)
  }
  if (!state.dead) decide(turn)
  remember(turn)
  return turn.events
}

function remember<State>({ state, bar }: Turn<State>): void {
  state.prior_close = state.last_close
  state.last_close = bar.c
  state.last_t = bar.t
  state.bars += 1
}
