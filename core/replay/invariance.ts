import { DAY_MS, type EpochDay, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { type Bars, barAt, describeInstant, lastAtOrBefore, sliceBars } from './bars.ts'
import { firstCompleteDay } from './daily.ts'
import { digestJson } from './digest.ts'
import type { StepEvent } from './events.ts'
import { describePlainJsonFault } from './plain-json.ts'
import { type Recording, record } from './recording.ts'
import { type Replay, type ReplayInput, replay, startReplay } from './replay.ts'
import type { EngineState } from './state.ts'
import { step } from './step.ts'

/** Whether something that must not matter does not; where it does, the first difference in one sentence. */
export type Invariance = { readonly holds: boolean; readonly difference: string | null }

const HOLDS: Invariance = { holds: true, difference: null }
const differs = (difference: string): Invariance => ({ holds: false, difference })

/**
 * No look-ahead: replaying the first bars alone gives the beginning of the whole replay, event by event and
 * day by day, to the last bit (its last day apart, where the prefix ends inside it). Tries `cuts` prefixes,
 * evenly spaced from the inception on. Costs about `cuts / 2 + 1` replays.
 */
export function checkPrefixes<State>(input: ReplayInput<State>, cuts: number): Invariance {
  const whole = record(input)
  for (const length of prefixLengths(input, cuts)) {
    const difference = describePrefixDifference(input, whole, length)
    if (difference !== null) return differs(`with the first ${length} bars alone, ${difference}`)
  }
  return HOLDS
}

/** No chance and no memory between runs: the same replay twice has the same digest. Costs two replays. */
export function checkDeterminism<State>(input: ReplayInput<State>): Invariance {
  const first = digestReplay(replay(input))
  const second = digestReplay(replay(input))
  return first === second ? HOLDS : differs(`the first replay has the digest ${first}, the second ${second}`)
}

/**
 * A checkpoint loses nothing: a run whose state goes through JSON every `every` bars has the same events and
 * ends in the same state as one that keeps it. Costs two runs, and a serialisation of the state per
 * checkpoint.
 */
export function checkCheckpoints<State>(input: ReplayInput<State>, every: number): Invariance {
  const kept = record(input)
  const { engine, state: start } = startReplay(input)
  const events: StepEvent[] = []
  let state = start
  for (let i = 0; i < input.bars.t.length; i++) {
    events.push(...step(engine, state, barAt(input.bars, i)))
    if ((i + 1) % every !== 0) continue
    const fault = describePlainJsonFault(state.strategy)
    if (fault !== null) return differs(`after the bar at ${describeInstant(state.last_t)}, ${fault}`)
    state = throughJson(state)
  }
  const difference = describeEventDifference(kept.events, events)
  if (difference !== null) return differs(`with checkpoints every ${every} bars, ${difference}`)
  return digestJson(state) === kept.result.state_hash ? HOLDS : differs('the final states differ')
}

/** The digest of all that a replay publishes, and of the state in which it ends. */
export const digestReplay = ({ trades, refusals, daily, state }: Replay<unknown>): string =>
  digestJson([trades, refusals, daily.first, Array.from(daily.values), state])

// Not a trusting cast: that the value survives JSON is what the caller checks before and after.
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
