import type { Mode } from '#core/contract/signal.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { StepReport } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import type { Bar } from '#core/replay/strategy.ts'

/** What a signal says of its strategy. */
export type Sender = {
  /** The id of the strategy. */
  readonly alias: string
  readonly timeframeMs: number
  readonly baseRisk: number
}

/** A step and where it led. */
export type Stepped = { readonly state: EngineState<unknown>; readonly report: StepReport }

/**
 * A strategy as the runner sees it: the engine of the nightly replay behind two functions of a state that is plain JSON.
 * Neither changes the state that it is given.
 */
export type LiveStrategy = Sender & {
  readonly version: string
  /** What its catalogue allows: a strategy is `LIVE` only where the operator's command says so too. */
  readonly catalogueMode: Mode
  /** The state after bars that begin with the very first one of the history. */
  readonly replay: (bars: Bars) => Promise<EngineState<unknown>>
  readonly step: (state: EngineState<unknown>, bar: Bar) => Promise<Stepped>
}

/** When a bar closes, epoch milliseconds. */
export const closeOf = ({ t }: Bar, { timeframeMs }: Pick<Sender, 'timeframeMs'>): number => t + timeframeMs
