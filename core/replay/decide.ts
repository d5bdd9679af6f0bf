import { describeInstant } from './bars.ts'
import type { Turn } from './engine.ts'
import type { OrderedExit } from './events.ts'
import type { Bar, Decision, Position, Side } from './strategy.ts'
import { signOf } from './trade.ts'

/**
 * Step 5: asks the strategy, and turns its decision into orders for the next open. Decisions of the warm-up
 * and before `ordersFromMs` are checked, and not taken. A decision for what is already so is ignored and
 * counted.
 */
export function decide<State>(turn: Turn<State>): void {
  const { engine, state, bar } = turn
  const { strategy } = engine
  const position = state.open === null ? null : state.open.position
  const decision = strategy.onBar(state.strategy, bar, position)
  if (decision === null) return
  checkDecision(strategy.id, bar, decision)
  if (state.bars < strategy.warmupBars || bar.t + strategy.timeframeMs < engine.ordersFromMs) return
  takeDecision(turn, decision, position)
}

type Act = Exclude<Decision, null>

// A module is checked by a compiler only where its author runs one, so its words are checked here.
function checkDecision(id: string, bar: Bar, decision: Act): void {
  const fault = describeFault(bar, decision)
  if (fault === null) return
  const given = JSON.stringify(decision)
  throw new Error(`strategy ${id}: at the bar of ${describeInstant(bar.t)} it decided ${given}: ${fault}`)
}

function describeFault(bar: Bar, decision: Act): string | null {
  switch (decision?.act) {
    case 'long':
    case 'short':
      return describeStopFault(bar, decision.act, decision.stop)
    case 'flat':
      if (decision.why === 'signal' || decision.why === 'time') return null
      return '`why` of a flat must be signal or time'
    default:
      return 'a decision must be null, or have `act` long, short or flat'
  }
}

function describeStopFault(bar: Bar, side: Side, stop: number): string | null {
  if (Number.isFinite(stop) && stop > 0 && signOf(side) * (bar.c - stop) > 0) return null
  const expected = side === 'long' ? 'above 0 and below' : 'above'
  return `the stop of a ${side} must be ${expected} the close ${bar.c}, it is ${stop}`
}

function takeDecision<State>(turn: Turn<State>, decision: Act, position: Position | null): void {
  const held = position === null ? 'flat' : position.side
  if (decision.act === held) ignore(turn, held)
  else {
    if (position !== null) orderExit(turn, position, decision.act === 'flat' ? decision.why : 'signal')
    if (decision.act !== 'flat') orderEntry(turn, decision.act, decision.stop)
  }
}

function ignore<State>({ state, bar, events }: Turn<State>, act: Side | 'flat'): void {
  state.decisions_ignored += 1
  events.push({ kind: 'ignored', t: bar.t, act })
}

function orderExit<State>({ state, bar, events }: Turn<State>, { stop }: Position, why: OrderedExit): void {
  state.exit_order = why
  events.push({ kind: 'ordered', t: bar.t, act: 'flat', why, price: bar.c, stop })
}

// Sized so that the way from this close to the stop costs `baseRisk` of the equity at this close. The cap is
// judged here, at the decision; an entry over it is refused and never shrunk, because a smaller one would
// break the published identity, leverage = risk / stop distance.
function orderEntry<State>({ engine, state, bar, events }: Turn<State>, side: Side, stop: number): void {
  const { baseRisk } = engine.strategy
  const distance = signOf(side) * (bar.c - stop)
  const terms = { t: bar.t, act: side, price: bar.c, stop, leverage: (baseRisk * bar.c) / distance }
  if (terms.leverage > engine.costs.max_leverage) {
    state.entries_refused += 1
    events.push({ kind: 'refused', ...terms })
  } else {
    state.entry_order = { side, stop, qty: (state.equity * baseRisk) / distance }
    events.push({ kind: 'ordered', ...terms })
  }
}
