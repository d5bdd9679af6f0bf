import { assertFunding, type Funding } from './bars.ts'
import type { StepEvent } from './events.ts'
import { describePlainJsonFault, type EngineState, startState } from './state.ts'
import type { Bar, Strategy } from './strategy.ts'
import { assertCosts, type Costs, commissionRate, slippagePrice } from './trade.ts'

type EngineInput<State> = {
  readonly strategy: Strategy<State>
  readonly costs: Costs
  /** Null: the instrument has no funding. */
  readonly funding: Funding | null
  /** Decisions on bars that close before this instant are not taken; 0 takes all after the warm-up. */
  readonly ordersFromMs: number
}

/** What stays the same from step to step: the rules, and what trading costs. Made by `createEngine`. */
export type Engine<State> = EngineInput<State> & {
  /** Commission of one side, a fraction of notional. */
  readonly feeRate: number
  /** Slippage of one fill, quote currency. */
  readonly slippage: number
  /** Where the last search in `funding` ended. It saves time only: no result depends on it. */
  fundingCursor: number
}

/** One bar being stepped over: what every part of a step is given. */
export type Turn<State> = {
  readonly engine: Engine<State>
  readonly state: EngineState<State>
  readonly bar: Bar
  /** What happened so far, in order. */
  readonly events: StepEvent[]
}

/**
 * An engine for one strategy. Throws where the strategy's figures, the costs or the funding are not usable.
 */
export function createEngine<State>(input: EngineInput<State>): Engine<State> {
  const who = `strategy ${input.strategy.id}`
  assertStrategy(who, input.strategy)
  assertCosts(who, input.costs)
  if (input.funding !== null) assertFunding(who, input.funding)
  return {
    ...input,
    feeRate: commissionRate(input.costs),
    slippage: slippagePrice(input.costs),
    fundingCursor: 0,
  }
}

/** The state before the first bar. Throws where `init()` returns what JSON cannot hold. */
export function initialState<State>({ strategy }: Engine<State>): EngineState<State> {
  const own = strategy.init()
  const fault = describePlainJsonFault(own)
  if (fault !== null) {
    throw new Error(
      `strategy ${strategy.id}: the state that init() returns must survive JSON, because it is a ` +
        `checkpoint; ${fault}: use plain objects, arrays, strings, booleans, null and finite numbers`,
    )
  }
  return startState(own)
}

function assertStrategy(who: string, { baseRisk, warmupBars, timeframeMs }: Strategy<unknown>): void {
  if (!(baseRisk > 0 && baseRisk < 1)) {
    throw new Error(`${who}: baseRisk must lie between 0 and 1, it is ${baseRisk}: write 0.02 for 2 %`)
  }
  if (!(Number.isInteger(warmupBars) && warmupBars >= 0)) {
    throw new Error(
      `${who}: warmupBars must be a whole number from 0 up, it is ${warmupBars}: correct the module`,
    )
  }
  if (!(Number.isInteger(timeframeMs) && timeframeMs > 0)) {
    throw new Error(
      `${who}: timeframeMs must be a whole number of milliseconds, it is ${timeframeMs}: correct the module`,
    )
  }
}
