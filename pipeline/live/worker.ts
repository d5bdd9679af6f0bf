// A thread of the live runner. It has none of our environment; strategy modules run behind a fence.
import type { Strategy } from '#core/replay/strategy.ts'
import { fenceThread } from '../night/fence-thread.ts'
import { loadStrategy } from '../night/load-strategy.ts'
import {
  type LiveEntry,
  type LiveReplay,
  type LiveReplayInput,
  type LiveStep,
  type LiveStepInput,
  replayLive,
  stepLive,
} from './live-task.ts'

fenceThread()

/** Counts up while a task makes progress; the first beat says that it has begun. */
type Beating = { readonly pulse: Int32Array }

const beat = ({ pulse }: Beating) => void Atomics.add(pulse, 0, 1)

/** A module is imported once a thread, whatever happens to its file. */
function load(input: LiveEntry & Beating): Promise<Strategy> {
  beat(input)
  const { entry } = input
  if (entry.source.kind !== 'module') throw new Error(`${entry.id} is no module: it cannot run live`)
  return loadStrategy(entry, entry.source.path)
}

export const version = async (input: LiveEntry & Beating): Promise<string> => (await load(input)).version

export const replay = async (input: LiveReplayInput & Beating): Promise<LiveReplay> =>
  replayLive(await load(input), input, () => beat(input))

export const step = async (input: LiveStepInput & Beating): Promise<LiveStep> =>
  stepLive(await load(input), input)
