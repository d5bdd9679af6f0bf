import { lastAtOrBefore, sliceBars } from './bars.ts'
import { firstCompleteDay } from './daily.ts'
import type { StepEvent } from './events.ts'
import { record } from './recording.ts'
import type { ReplayInput } from './replay.ts'
import type { EngineState } from './state.ts'

export type StartAgreement = {
  readonly start_bar: number
  /** Bars after the start from which all orders agree; 0: at once; null: not by the end of the bars. */
  readonly bars_to_agree: number | null
}

/** Two stops agree within this fraction: a smoothed average forgets its start, but never to the last bit. */
const STOP_TOLERANCE = 1e-9

/**
 * How soon the past is forgotten: starts a second replay at bar `startBar`, and tells after how many bars its
 * orders, refusals and stop-outs are those of the whole replay, to the end. Quantities are left out, since
 * the accounts differ by then. A strategy that is not the same after some multiple of its warm-up depends on
 * where its history begins. Costs two replays.
 */
export function findStartAgreement<State>(input: ReplayInput<State>, startBar: number): StartAgreement {
  const { bars } = input
  const late = sliceBars(bars, startBar, bars.t.length)
  const from = Math.max(input.from ?? firstCompleteDay(bars), firstCompleteDay(late))
  const whole = record(input)
  const part = record({ ...input, bars: late, from })
  if (!isSamePosition(whole.result.state, part.result.state))
    return { start_bar: startBar, bars_to_agree: null }
  const disagreement = lastDisagreement(
    whole.events.filter(event => isSignal(event) && event.t >= late.t[0]!),
    part.events.filter(isSignal),
  )
  return { start_bar: startBar, bars_to_agree: lastAtOrBefore(late.t, disagreement) + 1 }
}

const isSignal = ({ kind }: StepEvent): boolean =>
  kind === 'ordered' || kind === 'refused' || kind === 'closed'

// The time of the last event that the two do not share; before everything where they share all.
function lastDisagreement(a: readonly StepEvent[], b: readonly StepEvent[]): number {
  let i = a.length - 1
  let j = b.length - 1
  while (i >= 0 && j >= 0 && isSameSignal(a[i]!, b[j]!)) {
    i--
    j--
  }
  return Math.max(a[i]?.t ?? Number.NEGATIVE_INFINITY, b[j]?.t ?? Number.NEGATIVE_INFINITY)
}

function isSameSignal(a: StepEvent, b: StepEvent): boolean {
  if (a.kind !== b.kind || a.t !== b.t) return false
  if (a.kind === 'closed' && b.kind === 'closed') {
    return a.trade.side === b.trade.side && a.trade.exit_reason === b.trade.exit_reason
  }
  return 'act' in a && 'act' in b && a.act === b.act && isSameStop(stopOf(a), stopOf(b))
}

const stopOf = (event: StepEvent): number => ('stop' in event ? event.stop : Number.NaN)

const isSameStop = (a: number, b: number): boolean => Math.abs(a - b) <= STOP_TOLERANCE * Math.abs(a)

function isSamePosition(a: EngineState<unknown>, b: EngineState<unknown>): boolean {
  const one = a.open?.position
  const other = b.open?.position
  if (one === undefined || other === undefined) return one === other
  return one.side === other.side && isSameStop(one.stop, other.stop)
}
