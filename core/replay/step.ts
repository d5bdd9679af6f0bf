import { describeBarFault, describeInstant, type Funding, lastAtOrBefore } from './bars.ts'
import type { Engine, Turn } from './engine.ts'
import type { StepEvent } from './events.ts'
import { openTrade } from './ledger.ts'
import type { EngineState, EntryOrder, OpenPosition } from './state.ts'
import type { Bar, Decision, Position, Side } from './strategy.ts'
import { type ExitReason, signOf, type Trade } from './trade.ts'

/**
 * One step of the engine over one closed bar: the same for the nightly replay and for the live runner. It
 * depends on its arguments alone and changes only `state`, in place, so a state restored from JSON continues
 * exactly. Returns the events in order.
 *
 * The order: check the bar; funding up to the bar's open hits the position carried in; the orders of the last
 * close fill at the open, exit before entry; the protective stop, on the entry bar too; equity at the close;
 * the decision. Equity of 0 or below, after a fill or at the close, is a liquidation: the trade returns -1,
 * the account stays at 0, and the strategy is not called again. Throws on an impossible bar or an invalid
 * decision.
 */
export function step(engine: Engine, state: EngineState, bar: Bar): readonly StepEvent[] {
  const turn: Turn = { engine, state, bar, events: [] }
  checkBar(turn)
  if (!state.dead) {
    chargeFunding(turn)
    fillOrders(turn)
    fillStop(turn)
    markClose(turn)
  }
  if (!state.dead) decide(turn)
  state.prior_close = state.last_close
  state.last_close = bar.c
  state.last_t = bar.t
  state.bars += 1
  return turn.events
}

/**
 * Step 0: throws unless the bar is later than the last one, on the grid of the timeframe, and possible. A bad bar stops
 * the run, because skipping it would change every later decision. A gap, a time without bars, is allowed.
 */
function checkBar({ engine, state, bar }: Turn): void {
  const { id, timeframeMs } = engine.strategy
  const isLater = state.bars === 0 || bar.t > state.last_t
  const fault = isLater
    ? describeBarFault(bar, timeframeMs)
    : `must be later than the last bar, ${describeInstant(state.last_t)}`
  if (fault === null) return
  throw new Error(`strategy ${id}: the bar at ${describeInstant(bar.t)} ${fault}: correct the bars`)
}

/**
 * Step 1: charges every funding event after the last bar's open, up to and including this bar's, to the
 * position carried in. So an event at T affects exactly the positions with `entry_time < T <= exit_time`, on
 * the grid, off it and in a gap alike.
 *
 * The charge is quantity x the last close known at T x rate, paid by a long where the rate is positive. For
 * an event inside the last bar (off the grid) that is the close before it: at T the bar had not closed yet.
 */
function chargeFunding({ engine, state, bar }: Turn): void {
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

// Bars are in order, so the next event is usually at the cursor. If the state is another (a checkpoint, a
// second replay with the same engine), the cursor may be too far ahead; then a binary search finds the event.
function firstAfter(engine: Engine, { t }: Funding, ms: number): number {
  let i = engine.fundingCursor
  if (i > 0 && t[i - 1]! > ms) i = lastAtOrBefore(t, ms) + 1
  while (i < t.length && t[i]! <= ms) i++
  return i
}

/** Step 2: the orders of the last close fill at this bar's open, the exit before the entry. */
function fillOrders(turn: Turn): void {
  const { state, bar } = turn
  const { open, exit_order } = state
  state.exit_order = null
  if (exit_order !== null && open !== null) closePosition(turn, open, bar.o, exit_order)
  const { entry_order } = state // in the unit after the exit
  state.entry_order = null
  if (entry_order !== null && !state.dead) openPosition(turn, entry_order)
}

/**
 * Step 3: the protective stop, on the entry bar too. A bar that opens at or beyond the stop fills at the
 * open, one that only touches it fills at the stop.
 */
function fillStop(turn: Turn): void {
  const { open } = turn.state
  if (open === null) return
  const price = stopPrice(open.position, turn.bar)
  if (price !== null) closePosition(turn, open, price, 'stop')
}

/** Step 4: equity at the close. At 0 or below the position is liquidated there. */
function markClose(turn: Turn): void {
  const { state, bar } = turn
  const { open } = state
  state.equity = state.cash
  if (open === null) return
  state.equity += signOf(open.position.side) * open.qty * (bar.c - open.position.entry_price)
  if (state.equity <= 0) closePosition(turn, open, bar.c, 'liquidation')
}

function stopPrice({ side, stop }: Position, bar: Bar): number | null {
  const openedBeyond = side === 'long' ? bar.o <= stop : bar.o >= stop
  if (openedBeyond) return bar.o
  const touched = side === 'long' ? bar.l <= stop : bar.h >= stop
  return touched ? stop : null
}

function openPosition(turn: Turn, { side, stop, qty }: EntryOrder): void {
  const { engine, state, bar, events } = turn
  const price = slipped(turn, bar.o, signOf(side))
  const leverage = (qty * price) / state.cash
  const position = { side, entry_time: bar.t, entry_price: price, stop }
  const open = { position, qty, equity_at_entry: state.cash, leverage }
  state.open = open
  state.cash -= qty * price * engine.feeRate
  events.push({ kind: 'opened', t: bar.t, act: side, price, stop, leverage })
  if (state.cash <= 0) closePosition(turn, open, bar.o, 'liquidation')
}

// Without a position, cash is the whole equity. If nothing is left, the account is liquidated, whatever the
// reason of the exit: it cannot lose more than it has.
function closePosition(turn: Turn, open: OpenPosition, marketPrice: number, reason: ExitReason): void {
  const { engine, state, bar, events } = turn
  const sign = signOf(open.position.side)
  const price = slipped(turn, marketPrice, sign === 1 ? -1 : 1)
  state.open = null
  state.trades_closed += 1
  state.cash += sign * open.qty * (price - open.position.entry_price) - open.qty * price * engine.feeRate
  const ruined = reason === 'liquidation' || state.cash <= 0
  if (ruined) Object.assign(state, { cash: 0, equity: 0, dead: true })
  const trade: Trade = {
    ...openTrade(open),
    exit_time: bar.t,
    exit_price: price,
    exit_reason: ruined ? 'liquidation' : reason,
    account_return: ruined ? -1 : (state.cash - open.equity_at_entry) / open.equity_at_entry,
  }
  events.push({ kind: 'closed', t: bar.t, trade })
  if (!ruined) startUnit(state)
}

function startUnit(state: EngineState): void {
  const { cash, entry_order } = state
  state.unit *= cash
  state.cash = 1
  if (entry_order !== null) state.entry_order = { ...entry_order, qty: entry_order.qty / cash }
}

// The market price, moved by the slippage against the account: up for a buyer (+1), down for a seller (-1).
function slipped({ engine, bar }: Turn, marketPrice: number, direction: 1 | -1): number {
  const price = marketPrice + direction * engine.slippage
  if (price > 0) return price
  throw new Error(
    `strategy ${engine.strategy.id}: at the bar of ${describeInstant(bar.t)} the slippage of ` +
      `${engine.slippage} turns the market price ${marketPrice} into a fill at ${price}, which must be ` +
      'above 0: correct tick_size or slippage_ticks',
  )
}

/**
 * Step 5: calls the strategy and turns its decision into orders for the next open. Decisions of the warm-up
 * and before `ordersFromMs` are checked but not executed. A decision for the position already held is ignored
 * and counted.
 */
function decide(turn: Turn): void {
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

// Its author may not run a compiler on a module, so its decisions are checked here.
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
      return describeUnknownKey(decision, 'stop') ?? describeStopFault(bar, decision.act, decision.stop)
    case 'flat':
      if (decision.why === 'signal' || decision.why === 'time') return describeUnknownKey(decision, 'why')
      return '`why` of a flat must be signal or time'
    default:
      return 'a decision must be null, or have `act` long, short or flat'
  }
}

/** A key that nobody reads, such as a limit, would be an order that its author waits for. */
function describeUnknownKey(decision: Act, own: 'stop' | 'why'): string | null {
  const unknown = Object.keys(decision).find(key => key !== 'act' && key !== own)
  if (unknown === undefined) return null
  return `a ${decision.act} has \`act\` and \`${own}\` alone, not \`${unknown}\`: orders fill at the next open, and the stop gives the size`
}

function describeStopFault(bar: Bar, side: Side, stop: number): string | null {
  if (Number.isFinite(stop) && stop > 0 && signOf(side) * (bar.c - stop) > 0) return null
  const expected = side === 'long' ? 'above 0 and below' : 'above'
  return `the stop of a ${side} must be ${expected} the close ${bar.c}, it is ${stop}`
}

function takeDecision(turn: Turn, decision: Act, position: Position | null): void {
  const { state, bar, events } = turn
  const held = position === null ? 'flat' : position.side
  if (decision.act === held) {
    state.decisions_ignored += 1
    events.push({ kind: 'ignored', t: bar.t, act: held })
    return
  }
  if (position !== null) {
    const why = decision.act === 'flat' ? decision.why : 'signal'
    state.exit_order = why
    events.push({ kind: 'ordered', t: bar.t, act: 'flat', why, price: bar.c, stop: position.stop })
  }
  if (decision.act !== 'flat') orderEntry(turn, decision.act, decision.stop)
}

// Sized so that a move from this close to the stop costs `baseRisk` of the equity at this close. The cap
// applies here, at the decision; an entry above it is refused and never reduced, because a smaller one would
// break the published identity, leverage = risk / stop distance.
function orderEntry({ engine, state, bar, events }: Turn, side: Side, stop: number): void {
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
