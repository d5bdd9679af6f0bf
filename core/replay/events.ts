import type { Side } from './strategy.ts'
import type { Trade } from './trade.ts'

/**
 * An event of a step; `t` is the open of the bar. Fills are `opened` and `closed`. An accepted decision is
 * `ordered`, with one event per order and so one per signal (a reversal has two); an entry above the leverage
 * cap is `refused`; a decision for the position already held is `ignored`.
 */
export type StepEvent =
  | ({ readonly kind: 'opened' | 'ordered' | 'refused' } & EntryTerms)
  | ({ readonly kind: 'ordered' } & ExitTerms)
  | { readonly kind: 'closed'; readonly t: number; readonly trade: Trade }
  | { readonly kind: 'ignored'; readonly t: number; readonly act: Side | 'flat' }

/**
 * An entry. As a fill: the price paid and the leverage that it made. As a decision: the deciding close and
 * the leverage implied there, `baseRisk / (stop distance / close)`.
 */
type EntryTerms = {
  readonly t: number
  readonly act: Side
  readonly price: number
  readonly stop: number
  readonly leverage: number
}

/** A decision to leave: the deciding close, and the stop that was in force. */
type ExitTerms = {
  readonly t: number
  readonly act: 'flat'
  readonly why: OrderedExit
  readonly price: number
  readonly stop: number
}

export type OrderedExit = 'signal' | 'time'

/** The leverage that a decision to enter asks for, a refused one too; null of every other event. */
export function leverageAskedBy(event: StepEvent): number | null {
  if (event.kind === 'refused') return event.leverage
  return event.kind === 'ordered' && event.act !== 'flat' ? event.leverage : null
}
