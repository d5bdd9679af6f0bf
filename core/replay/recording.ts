import type { StepEvent } from './events.ts'
import { type Replay, type ReplayInput, replay } from './replay.ts'

/** A replay with everything that happened in it, in order. */
export type Recording<State> = { readonly result: Replay<State>; readonly events: StepEvent[] }

export function record<State>(input: ReplayInput<State>): Recording<State> {
  const events: StepEvent[] = []
  const result = replay({ ...input, onEvent: event => events.push(event) })
  return { result, events }
}
