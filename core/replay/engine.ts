import { DAY_MS } from '#core/calendar.ts'
import type { Funding } from './bars.ts'
import type { StepEvent } from './events.ts'
import type { EngineState } from './state.ts'
import { type Bar, MODULE_VERSION, type Strategy } from './strategy.ts'
import { type Costs, commissionRate, slippagePrice } from './trade.ts'

type EngineInput = {
  readonly strategy: Strategy
  readonly costs: Costs
  /** Null: the instrument has no funding. */
  readonly funding: Funding | null
  /** Decisions on bars that close before this instant are not taken; 0 takes all after the warm-up. */
  readonly ordersFromMs: number
}

/** The constants of all steps: the rules and the costs. Made by `createEngine`. */
export type Engine = EngineInput & {
  /** Commission of one side, a fraction of notional. */
  readonly feeRate: number
  /** Slippage of one fill, quote currency. */
  readonly slippage: number
  /** Where the last search in `funding` ended. It only saves time; no result depends on it. */
  fundingCursor: number
}

/** The step over one bar: the argument of every part of it. */
export type Turn = {
  readonly engine: Engine
  readonly state: EngineState
  readonly bar: Bar
  /** Its events so far, in order. */
  readonly events: StepEvent[]
}

/** An engine for one strategy. Throws if its parameters are invalid. */
export function createEngine(input: EngineInput): Engine {
  assertStrategy(`strategy ${input.strategy.id}`, input.strategy)
  return {
    ...input,
    feeRate: commissionRate(input.costs),
    slippage: slippagePrice(input.costs),
    fundingCursor: 0,
  }
}

/** The state before the first bar. */
export const initialState = ({ strategy }: Engine): EngineState => ({
  bars: 0,
  last_t: 0,
  last_close: 0,
  prior_close: 0,
  cash: 1,
  equity: 1,
  unit: 1,
  open: null,
  exit_order: null,
  entry_order: null,
  dead: false,
  trades_closed: 0,
  entries_refused: 0,
  decisions_ignored: 0,
  strategy: strategy.init(),
})

function assertStrategy(subject: string, strategy: Strategy): void {
  const { baseRisk, warmupBars, memoryBars, timeframeMs } = strategy
  const version: unknown = strategy.version
  if (typeof version !== 'string' || !MODULE_VERSION.test(version)) {
    throw new Error(
      `${subject}: version must be a text of 1 to 32 letters, digits or . _ + - such as '1.2', and it is not: correct the module`,
    )
  }
  if (!(baseRisk > 0 && baseRisk < 1)) {
    throw new Error(`${subject}: baseRisk must lie between 0 and 1, it is ${baseRisk}: write 0.02 for 2 %`)
  }
  const assertWhole = (name: string, value: number, least: number, which: string): void => {
    if (Number.isInteger(value) && value >= least) return
    throw new Error(`${subject}: ${name} must be a whole number ${which}, it is ${value}: correct the module`)
  }
  assertWhole('warmupBars', warmupBars, 0, 'from 0 up')
  if (memoryBars !== undefined)
    assertWhole('memoryBars', memoryBars, warmupBars, `from warmupBars (${warmupBars}) up`)
  const most = Math.floor((MOST_MEMORY_DAYS * DAY_MS) / timeframeMs)
  const memory = memoryBarsOf(strategy)
  if (memory > most) {
    const what = memoryBars === undefined ? 'memoryBars (by default twice warmupBars)' : 'memoryBars'
    throw new Error(
      `${subject}: ${what} must be at most ${most}, which is ${MOST_MEMORY_DAYS} days, it is ${memory}: a history does not ` +
        'show that its start is forgotten after more; keep less of the past, or state the true memoryBars',
    )
  }
}

/** Five years: half of the history of ten years that a proof would need. */
const MOST_MEMORY_DAYS = 1826

/** Averages forget their start exponentially: after twice the warm-up little of it is left. */
const WARMUPS = 2

export const memoryBarsOf = ({
  warmupBars,
  memoryBars,
}: Pick<Strategy, 'warmupBars' | 'memoryBars'>): number => memoryBars ?? WARMUPS * warmupBars
