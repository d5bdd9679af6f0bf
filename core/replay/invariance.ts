import { DAY_MS, type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { type Bars, barAt, describeInstant, lastAtOrBefore, sliceBars } from './bars.ts'
import { firstCompleteDay } from './daily.ts'
import { digestJson } from './digest.ts'
import type { StepEvent } from './events.ts'
import { type Replay, type ReplayInput, replay, startReplay } from './replay.ts'
import { describePlainJsonFault, type EngineState } from './state.ts'
import { step } from './step.ts'

// Each check returns null if it holds, and otherwise the first difference in one sentence.

/**
 * No look-ahead: a replay of the first bars alone equals the beginning of the whole replay, event by event
 * and day by day, to the last bit (except for its last day, if the prefix ends inside it). Tries `cuts`
 * prefixes, evenly spaced from the inception on. Costs about `cuts / 2 + 1` replays.
 */
export function checkPrefixes<State>(input: ReplayInput<State>, cuts: number): string | null {
  const whole = record(input)
  for (const length of prefixLengths(input, cuts)) {
    const difference = describePrefixDifference(input, whole, length)
    if (difference !== null) return `with the first ${length} bars alone, ${difference}`
  }
  return null
}

/** No randomness and no memory between runs: the same replay twice has the same digest. Costs two replays. */
export function checkDeterminism<State>(input: ReplayInput<State>): string | null {
  const digest = () => {
    const { events, result } = record(input)
    const { trades, daily, state } = result
    return digestJson([events, trades, daily.first, Array.from(daily.values), state])
  }
  const [first, second] = [digest(), digest()]
  return first === second ? null : `the first replay has the digest ${first}, the second ${second}`
}

/**
 * A checkpoint loses nothing: a run whose state goes through JSON every `every` bars has the same events and
 * ends in the same state as one that keeps it. Costs two runs, and a serialisation per checkpoint.
 */
export function checkCheckpoints<State>(input: ReplayInput<State>, every: number): string | null {
  const kept = record(input)
  const { engine, state: start } = startReplay(input)
  const events: StepEvent[] = []
  let state = start
  for (let i = 0; i < input.bars.t.length; i++) {
    events.push(...step(engine, state, barAt(input.bars, i)))
    if ((i + 1) % every !== 0) continue
    const fault = describePlainJsonFault(state.strategy)
    if (fault !== null) return `after the bar at ${describeInstant(state.last_t)}, ${fault}`
    state = throughJson(state)
  }
  const difference = describeEventDifference(kept.events, events)
  if (difference !== null) return `with checkpoints every ${every} bars, ${difference}`
  return digestJson(state) === kept.result.state_hash ? null : 'the final states differ'
}

// The caller checks before and after that the value survives JSON, so the cast is safe.
const throughJson = <State>(state: EngineState<State>): EngineState<State> =>
  JSON.parse(JSON.stringify(state)) as EngineState<State>

function prefixLengths<State>({ bars, from }: ReplayInput<State>, cuts: number): number[] {
  const inception = (from ?? firstCompleteDay(bars)) * DAY_MS
  const first = lastAtOrBefore(bars.t, inception - 1) + 2
  const spacing = (bars.t.length - first) / cuts
  return Array.from({ length: cuts }, (_, i) => Math.floor(first + i * spacing))
}

function describePrefixDifference<State>(
  input: ReplayInput<State>,
  whole: Recording<State>,
  length: number,
): string | null {
  const bars = sliceBars(input.bars, 0, length)
  const prefix = record({ ...input, bars })
  const end = bars.t.at(-1)!
  const difference = describeEventDifference(
    whole.events.filter(event => event.t <= end),
    prefix.events,
  )
  if (difference !== null) return difference
  const day = firstDifferentDay(prefix.result, whole.result, input.bars, length)
  return day === null ? null : `the return of ${toIsoDate(day)} differs`
}

function describeEventDifference(a: readonly StepEvent[], b: readonly StepEvent[]): string | null {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (JSON.stringify(a[i]) === JSON.stringify(b[i])) continue
    const event = a[i] ?? b[i]!
    return `the event "${event.kind}" at ${describeInstant(event.t)} differs`
  }
  return null
}

function firstDifferentDay<State>(
  prefix: Replay<State>,
  whole: Replay<State>,
  bars: Bars,
  length: number,
): EpochDay | null {
  const { first, values } = prefix.daily
  const endsWithItsDay =
    length === bars.t.length || toEpochDay(bars.t[length]!) > toEpochDay(bars.t[length - 1]!)
  const days = endsWithItsDay ? values.length : values.length - 1
  for (let i = 0; i < days; i++) {
    if (values[i] !== whole.daily.values[i]) return first + i
  }
  return null
}

/** Two stops agree within this fraction: the start's influence on an average decays but never vanishes. */
const STOP_TOLERANCE = 1e-9

/**
 * Dependence on the start: replays from bar `startBar` on, and finds after how many bars its orders, refusals
 * and stop-outs equal those of the whole replay, to the end: 0 if at once, null if never. Quantities are not
 * compared, because the accounts differ. A strategy that still differs after some multiple of its warm-up
 * depends on the start of its history. Costs two replays.
 */
export function findStartAgreement<State>(input: ReplayInput<State>, startBar: number): number | null {
  const { bars } = input
  const late = sliceBars(bars, startBar, bars.t.length)
  const from = Math.max(input.from ?? firstCompleteDay(bars), firstCompleteDay(late))
  const whole = record(input)
  const part = record({ ...input, bars: late, from })
  if (!isSamePosition(whole.result.state, part.result.state)) return null
  const disagreement = lastDisagreement(
    whole.events.filter(event => isSignal(event) && event.t >= late.t[0]!),
    part.events.filter(isSignal),
  )
  return lastAtOrBefore(late.t, disagreement) + 1
}

const isSignal = ({ kind }: StepEvent): boolean =>
  kind === 'ordered' || kind === 'refused' || kind === 'closed'

// The time of the last event that the two do not share; -Infinity if they share all.
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

/** A replay with everything that happened in it, in order. */
export type Recording<State> = { readonly result: Replay<State>; readonly events: StepEvent[] }

export function record<State>(input: ReplayInput<State>): Recording<State> {
  const events: StepEvent[] = []
  const result = replay({ ...input, onEvent: event => events.push(event) })
  return { result, events }
}
