import { describeInstant } from './bars.ts'
import type { Turn } from './engine.ts'
import { type EngineState, type EntryOrder, type OpenPosition, openTrade } from './state.ts'
import type { Bar, Position } from './strategy.ts'
import { type ExitReason, signOf, type Trade } from './trade.ts'

/** Step 2: the orders of the last close fill at this bar's open, the exit before the entry. */
export function fillOrders<State>(turn: Turn<State>): void {
  const { state, bar } = turn
  const { open, exit_order, entry_order } = state
  state.exit_order = null
  state.entry_order = null
  if (exit_order !== null && open !== null) closePosition(turn, open, bar.o, exit_order)
  if (entry_order !== null && !state.dead) openPosition(turn, entry_order)
}

/**
 * Step 3: the protective stop, on the entry bar too. A bar that opens at or beyond the stop fills at the
 * open, one that only touches it fills at the stop.
 */
export function fillStop<State>(turn: Turn<State>): void {
  const { open } = turn.state
  if (open === null) return
  const price = stopPrice(open.position, turn.bar)
  if (price !== null) closePosition(turn, open, price, 'stop')
}

/** Step 4: equity at the close. At 0 or below the position is liquidated there. */
export function markClose<State>(turn: Turn<State>): void {
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

function openPosition<State>(turn: Turn<State>, { side, stop, qty }: EntryOrder): void {
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

// With the position gone, cash is the whole equity. Where nothing is left of it the account is liquidated,
// whatever the reason of the exit: it cannot lose more than it has.
function closePosition<State>(
  turn: Turn<State>,
  open: OpenPosition,
  marketPrice: number,
  reason: ExitReason,
): void {
  const { engine, state, bar, events } = turn
  const sign = signOf(open.position.side)
  const price = slipped(turn, marketPrice, sign === 1 ? -1 : 1)
  state.open = null
  state.trades_closed += 1
  state.cash += sign * open.qty * (price - open.position.entry_price) - open.qty * price * engine.feeRate
  const ruined = reason === 'liquidation' || state.cash <= 0
  if (ruined) endAccount(state)
  const trade: Trade = {
    ...openTrade(open),
    exit_time: bar.t,
    exit_price: price,
    exit_reason: ruined ? 'liquidation' : reason,
    account_return: ruined ? -1 : (state.cash - open.equity_at_entry) / open.equity_at_entry,
  }
  events.push({ kind: 'closed', t: bar.t, trade })
}

function endAccount<State>(state: EngineState<State>): void {
  state.cash = 0
  state.equity = 0
  state.dead = true
}

// The market price, moved by the slippage against the account: up for a buyer (+1), down for a seller (-1).
function slipped<State>({ engine, bar }: Turn<State>, marketPrice: number, direction: 1 | -1): number {
  const price = marketPrice + direction * engine.slippage
  if (price > 0) return price
  throw new Error(
    `strategy ${engine.strategy.id}: at the bar of ${describeInstant(bar.t)} the slippage of ` +
      `${engine.slippage} turns the market price ${marketPrice} into a fill at ${price}, which must be ` +
      'above 0: mend tick_size or slippage_ticks',
  )
}
