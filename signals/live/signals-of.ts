import { toIsoInstant } from '#core/calendar.ts'
import { tickRounder, toPrice } from '#core/contract/rounding.ts'
import { impliedLeverage, type Mode, type SignalAction, type SignalContent } from '#core/contract/signal.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Held, StepReport } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import type { Bar, Side } from '#core/replay/strategy.ts'
import { sha256 } from '#storage/digest.ts'

/** Digits of the digest in an id. */
const ID_DIGITS = 24

/**
 * The id of a decision on a bar. It contains no price, so that a bar that is run again, revised or not, cannot fire
 * twice. `ordinal` distinguishes equal actions on one bar; a step has at most one.
 */
export const signalId = (
  alias: string,
  closeMs: number,
  action: SignalAction,
  ordinal: number | string = 0,
) => `sig_${sha256(`${alias}|${closeMs}|${action}|${ordinal}`).slice(0, ID_DIGITS)}`

/**
 * The signals of a step, in order, before halts and modes apply: an entry; an ordered exit, or one by the stop or by
 * ruin; a reversal is `flat` and then the new side. Fills are no signals: they were announced a bar before.
 */
export function signalsOf(report: StepReport, sender: Sender): SignalContent[] {
  const signals: SignalContent[] = []
  let held = report.before
  const leave = (why: SignalContent['why']) => {
    if (held !== null) signals.push(exitOf(report, sender, held, why))
    held = null
  }
  for (const event of report.events) {
    const reason = event.kind === 'closed' ? event.trade.exit_reason : null
    if (reason === 'stop') leave('stop')
    if (reason === 'liquidation') leave('end') // ordered exits were announced when they were decided
    if (event.kind !== 'ordered') continue
    if (event.act === 'flat') leave(event.why)
    else {
      held = { side: event.act, stop: event.stop }
      signals.push(entryOf(report, sender, event.act, event.stop))
    }
  }
  return signals
}

function entryOf(report: StepReport, sender: Sender, side: Side, stopPrice: number): SignalContent {
  const [signal_price, stop] = pricesOf(report.bar.c, stopPrice, sender)
  return {
    ...frame(sender.alias, closeOf(report.bar, sender), side),
    signal_price,
    stop,
    base_risk_pct: sender.baseRisk,
    implied_leverage: impliedLeverage(signal_price, stop, sender.baseRisk),
  }
}

const exitOf = ({ bar }: StepReport, sender: Sender, { stop }: Held, why: SignalContent['why']) => ({
  ...flatAt(sender.alias, closeOf(bar, sender), why),
  signal_price: priceOf(bar.c, sender),
  stop: priceOf(stop, sender),
})

/** A `flat` but for its prices; `ordinal` as of `signalId`. */
export const flatAt = (alias: string, closeMs: number, why: SignalContent['why'], ordinal?: string) => ({
  ...frame(alias, closeMs, 'flat', ordinal),
  base_risk_pct: 0,
  implied_leverage: 0,
  why,
})

/** Close and stop on the tick, unless they are so close to each other that the tick would make them equal. */
function pricesOf(close: number, stop: number, sender: Sender): readonly [number, number] {
  const prices = [priceOf(close, sender), priceOf(stop, sender)] as const
  return prices[0] === prices[1] ? [toPrice(close), toPrice(stop)] : prices
}

/** On the tick of the instrument, as in the history; a price below half a tick is not 0. */
export const priceOf = (price: number, { tickSize }: Pick<Sender, 'tickSize'>): number =>
  tickRounder(tickSize)(price) || toPrice(price)

const frame = (alias: string, closeMs: number, action: SignalAction, ordinal?: string) => ({
  signal_id: signalId(alias, closeMs, action, ordinal),
  alias,
  mode: 'LIVE' as const,
  is_test: false,
  by: 'strategy' as const,
  action,
  timestamp: toIsoInstant(closeMs),
})

export type Sender = {
  /** The id of the strategy. */
  readonly alias: string
  readonly timeframeMs: number
  readonly baseRisk: number
  /** Of the instrument, in the quote currency. */
  readonly tickSize: number
}

export type Stepped = { readonly state: EngineState; readonly report: StepReport }

/**
 * A strategy as the runner sees it: the engine of the nightly replay behind two functions of a plain JSON state,
 * which they do not modify.
 */
export type LiveStrategy = Sender & {
  readonly version: string
  /** A strategy is `LIVE` only if the operator orders so too. */
  readonly catalogueMode: Mode
  /** The state after bars that begin with the first one of the history. */
  readonly replay: (bars: Bars) => Promise<EngineState>
  readonly step: (state: EngineState, bar: Bar) => Promise<Stepped>
}

/** When a bar closes, epoch milliseconds. */
export const closeOf = ({ t }: Bar, { timeframeMs }: Pick<Sender, 'timeframeMs'>): number => t + timeframeMs
