import { DAY_MS } from '#core/calendar.ts'
import { type Bars, barAt, type Funding } from '#core/replay/bars.ts'
import { createEngine, type Engine } from '#core/replay/engine.ts'
import { decisionHash, heldAfter, type StepReport } from '#core/replay/held.ts'
import { PROGRESS_BARS, startReplay } from '#core/replay/replay.ts'
import type { EngineState } from '#core/replay/state.ts'
import { step } from '#core/replay/step.ts'
import type { Bar, Strategy } from '#core/replay/strategy.ts'
import type { StrategyEntry } from '../book/book.ts'
import { costsOf } from '../night/histories.ts'

/** A module strategy of a book. The columns are in shared memory. */
export type LiveEntry = { readonly entry: StrategyEntry; readonly funding: Funding | null }

export type LiveReplayInput = LiveEntry & {
  /** All bars from the first one on. */
  readonly bars: Bars
  /** Steps with events whose bar opened at this instant or later are reported. */
  readonly reportFromMs: number
}

/** The last state of each UTC day in which a bar opened. */
type DayEnd = { readonly openMs: number; readonly hash: string }

export type LiveReplay = ReturnType<typeof replayLive>

/** Replays a strategy over all bars, as a build does, and reports the steps that make signals. */
export function replayLive(strategy: Strategy, input: LiveReplayInput, onProgress: () => void) {
  const { bars, entry, funding, reportFromMs } = input
  const inception = entry.inception === null ? {} : { from: entry.inception }
  const { engine, state, from } = startReplay({
    strategy,
    bars,
    funding,
    costs: costsOf(entry),
    ...inception,
  })
  const reports: StepReport[] = []
  const days: DayEnd[] = []
  for (let i = 0; i < bars.t.length; i++) {
    if (i % PROGRESS_BARS === 0) onProgress()
    const report = reportStep(engine, state, barAt(bars, i))
    if (report.bar.t < reportFromMs) continue
    if (report.events.length > 0) reports.push(report)
    if (isLastOfDay(bars, i)) days.push({ openMs: report.bar.t, hash: decisionHash(state) })
  }
  // Orders are placed from an instant on; a single step needs it.
  return { version: strategy.version, state, ordersFromMs: from * DAY_MS, reports, days }
}

const isLastOfDay = ({ t }: Bars, i: number): boolean =>
  i + 1 === t.length || Math.floor(t[i]! / DAY_MS) !== Math.floor(t[i + 1]! / DAY_MS)

export type LiveStepInput = LiveEntry & {
  readonly ordersFromMs: number
  readonly state: EngineState<unknown>
  readonly bar: Bar
}

export type LiveStep = ReturnType<typeof stepLive>

/** One step of one strategy. The state of the input is changed, and returned. */
export function stepLive(strategy: Strategy, { entry, funding, ordersFromMs, state, bar }: LiveStepInput) {
  const engine = createEngine({ strategy, costs: costsOf(entry), funding, ordersFromMs })
  return { version: strategy.version, report: reportStep(engine, state, bar), state }
}

function reportStep(engine: Engine<unknown>, state: EngineState<unknown>, bar: Bar): StepReport {
  const before = heldAfter(state)
  return { bar, before, events: step(engine, state, bar) }
}
