import { DAY_MS, type EpochDay, toEpochDay } from '#core/calendar.ts'
import { type Bars, barAt, type Funding } from './bars.ts'
import { createDailyGrowth, type DailyGrowth, type DailyMarks, inceptionOf, toDailyMarks } from './daily.ts'
import { createEngine, type Engine, initialState } from './engine.ts'
import type { StepEvent } from './events.ts'
import { openTrade } from './ledger.ts'
import type { EngineState } from './state.ts'
import { step } from './step.ts'
import type { Strategy } from './strategy.ts'
import type { Costs, Trade } from './trade.ts'

export type ReplayInput = {
  readonly strategy: Strategy
  /** They must end with a complete day: the last day is marked at the last bar in any case. */
  readonly bars: Bars
  readonly funding: Funding | null
  readonly costs: Costs
  /** The first day of the published series. Default: the first day that the bars cover from midnight. */
  readonly from?: EpochDay
  /** Called every `PROGRESS_BARS` bars and at the end. */
  readonly onProgress?: (barsDone: number) => void
  readonly onEvent?: (event: StepEvent) => void
}

export type Replay = DailyMarks & {
  /** In order of entry; an open one is last, without an exit. */
  readonly trades: Trade[]
  readonly state: EngineState
}

/** Often enough for a watchdog of seconds and cheap: some milliseconds of work are between two calls. */
export const PROGRESS_BARS = 4096

/**
 * Replays a strategy over all bars and marks its equity at the last close of each UTC day.
 *
 * The strategy sees every bar from the first on, so its indicators are warm at the inception and do not
 * depend on it. Orders begin with the decision at the midnight that opens the inception day: the account is
 * flat and its equity is 1 until then. Throws on invalid bars and decisions. O(bars + funding
 * events), some 0.2 us a bar beside the strategy's own work.
 */
export function replay(input: ReplayInput): Replay {
  const { engine, state, from } = startReplay(input)
  const days = createDailyGrowth(input.bars)
  const trades = stepAll(input, engine, state, days)
  if (state.open !== null) trades.push(openTrade(state.open))
  return { trades, ...toDailyMarks(days, from), state }
}

/** The engine and the state with which a replay begins, for callers that step. Throws as `replay` does. */
export function startReplay({ strategy, bars, funding, costs, ...input }: ReplayInput) {
  const from = inceptionOf(`strategy ${strategy.id}`, bars, input.from)
  const engine = createEngine({ strategy, costs, funding, ordersFromMs: from * DAY_MS })
  return { engine, state: initialState(engine), from }
}

/**
 * Fills the days and returns the closed trades. The growth of a day is made of the values of its trades alone, so a
 * correction of older bars that changes none of them leaves it as it is, to the last bit.
 */
function stepAll(
  { bars, onEvent, onProgress }: ReplayInput,
  engine: Engine,
  state: EngineState,
  { first, growth }: DailyGrowth,
): Trade[] {
  const trades: Trade[] = []
  const count = bars.t.length
  let [day, opening, grown] = [0, 1, 1]
  for (let i = 0; i < count; i++) {
    const today = toEpochDay(bars.t[i]!) - first
    if (today !== day) [day, opening, grown] = [today, state.equity, 1]
    for (const event of step(engine, state, barAt(bars, i))) {
      if (event.kind === 'closed') {
        trades.push(event.trade)
        grown *= (1 + (event.trade.account_return ?? 0)) / opening // and a new unit begins
        opening = 1
      }
      onEvent?.(event)
    }
    growth[day] = opening === 0 ? 1 : grown * (state.equity / opening)
    if ((i + 1) % PROGRESS_BARS === 0) onProgress?.(i + 1)
  }
  onProgress?.(count)
  return trades
}
