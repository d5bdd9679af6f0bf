import { DAY_MS, type EpochDay } from '#core/calendar.ts'
import type { Entries, LevelReplay } from '#core/figures/execution.ts'
import { type Bars, barAt, type Funding, isLastOfDay } from '#core/replay/bars.ts'
import { createEngine, initialState, memoryBarsOf } from '#core/replay/engine.ts'
import { leverageAskedBy, type StepEvent } from '#core/replay/events.ts'
import { decisionHash, heldAfter, type StepReport } from '#core/replay/held.ts'
import { type Decided, decideBeside } from '#core/replay/invariance.ts'
import { PROGRESS_BARS, type Replay, replay } from '#core/replay/replay.ts'
import type { EngineState } from '#core/replay/state.ts'
import { step } from '#core/replay/step.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import type { Costs, Trade } from '#core/replay/trade.ts'
import type { Realm } from './realm.ts'

/** A strategy module, what the catalogue says of it, and the funding of its instrument. */
export type ModuleInput = Pick<Strategy, 'id' | 'timeframeMs' | 'baseRisk'> & {
  /** Absolute. */
  readonly path: string
  readonly costs: Costs
  readonly funding: Funding | null
  /** The first day of the series: orders begin at its midnight. */
  readonly from: EpochDay
}

/** A run of a module in a realm of its own; `beat` is called while it makes progress. */
export type Run = {
  readonly realm: Realm
  /** Another one, where two take turns. */
  readonly spare: Realm | null
  readonly beat: () => void
  /** Passes on what was printed in a realm. */
  readonly flush: (of: Realm) => void
}

export type WholeInput = ModuleInput & { readonly bars: Bars }

export type WholeRun = ReturnType<typeof replayWhole>

export function replayWhole(input: WholeInput, run: Run) {
  const { realm } = run
  const { strategy } = realm
  const { replayed, events } = replayWith(strategy, input, run)
  const state = { ...replayed.state, strategy: realm.save() }
  return {
    version: strategy.version,
    /** Bars after which its start is forgotten. */
    memoryBars: memoryBarsOf(strategy),
    files: realm.files,
    replayed: { ...replayed, state },
    events,
  }
}

/** The replay of a module that passed its proof, and its replays at other risk levels. */
export type ModuleRun = WholeRun & { readonly levels: readonly LevelReplay[] }

export const entriesOf = ({ replayed, events }: Pick<WholeRun, 'replayed' | 'events'>): Entries => ({
  asked: events.filter(event => leverageAskedBy(event) !== null).length,
  refused: replayed.state.entries_refused,
})

/** The replay with another fraction of equity at risk: the module is the same, its positions are sized otherwise. */
export function replayAtLevel(
  { riskLevel, ...input }: WholeInput & { readonly riskLevel: number },
  run: Run,
): LevelReplay {
  const own = replayWith({ ...run.realm.strategy, baseRisk: riskLevel }, input, run)
  const { daily, state } = own.replayed
  return { risk_pct: riskLevel, daily, trade_count: state.trades_closed, entries: entriesOf(own) }
}

function replayWith(strategy: Strategy, input: WholeInput, { beat }: Run) {
  const events: StepEvent[] = []
  const onEvent = (event: StepEvent) => void events.push(event)
  const replayed: Replay = replay({ ...input, strategy, onProgress: beat, onEvent })
  return { replayed, events }
}

export type StretchInput = WholeInput & {
  /** The state before the first of the bars; null before the first of all. */
  readonly state: EngineState | null
  /** The bars that are run; what follows them is there, and is not reached. */
  readonly count: number
  /** Steps with events whose bar opened at this instant or later are reported. */
  readonly reportFromMs: number
  /** Whether the last state of each UTC day is reported too. */
  readonly hashDays: boolean
  /** Whether two realms take turns and hand on the state alone: what a module remembers outside of it, one does not know. */
  readonly takesTurns: boolean
}

/** A state is a text while it is handed on: a large one costs more than the bars between. */
const MOST_TURNS = 200

/** What happened in a stretch of bars, and the state after it. */
export type Stretch = ReturnType<typeof advance>

/** Runs bars as they come live, from the state that the bars before have left: one, or many. */
export function advance(input: StretchInput, { realm, spare, beat, flush }: Run) {
  const { bars, count, reportFromMs, from } = input
  const engineOf = ({ strategy }: Realm) => createEngine({ ...input, strategy, ordersFromMs: from * DAY_MS })
  let [own, engine] = [realm, engineOf(realm)]
  let rest = spare && { own: spare, engine: engineOf(spare) }
  let state: EngineState =
    input.state === null
      ? initialState(engine)
      : { ...input.state, strategy: realm.load(input.state.strategy) }
  const reports: StepReport[] = []
  const days: { openMs: number; hash: string }[] = [] // the last state of each UTC day in which a bar opened
  const gap = Math.ceil(count / MOST_TURNS)
  let turned = 0
  for (let i = 0; i < count; i++) {
    if ((i + 1) % PROGRESS_BARS === 0) beat()
    const before = heldAfter(state)
    const bar = barAt(bars, i)
    const events = step(engine, state, bar)
    if (rest !== null && i - turned >= (events.length > 0 ? gap : 2 * gap)) {
      state = { ...state, strategy: rest.own.load(own.save()) }
      flush(own)
      ;[own, engine, rest] = [rest.own, rest.engine, { own, engine }]
      turned = i
    }
    if (bar.t < reportFromMs) continue
    if (events.length > 0) reports.push({ bar, before, events })
    if (input.hashDays && isLastOfDay(bars, i)) days.push({ openMs: bar.t, hash: decisionHash(state) })
  }
  return { version: own.strategy.version, state: { ...state, strategy: own.save() }, reports, days }
}

/** What the module decides if it begins with the first of these bars, given the positions of its whole history. */
export const decideLate = (
  { bars, trades }: WholeInput & { readonly trades: readonly Trade[] },
  { realm }: Run,
): readonly Decided[] => decideBeside(realm.strategy, bars, trades)
