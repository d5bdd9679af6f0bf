import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { LevelReplay } from '#core/figures/execution.ts'
import { endOfBars, lastAtOrBefore } from '#core/replay/bars.ts'
import { digestText } from '#core/replay/digest.ts'
import type { StepEvent } from '#core/replay/events.ts'
import {
  addNoise,
  decisionsOf,
  describeDecisionDifference,
  describeEventDifference,
  firstOwnBar,
} from '#core/replay/invariance.ts'
import type { EngineState } from '#core/replay/state.ts'
import { sha256 } from '#storage/digest.ts'
import type { Problem } from '../book/problem.ts'
import { ModuleFault, toProblems } from './module-fault.ts'
import { copyBars, copyFunding, type ModuleTask, toModuleInput } from './module-input.ts'
import type { Processes } from './processes.ts'
import type { ModuleRun, WholeInput, WholeRun } from './tasks.ts'

/** The replay of a module that passed its proof, or what is wrong with it. */
export type ModuleOutcome = { readonly run: ModuleRun; readonly notices: readonly string[] } | Failed
type Failed = { readonly problems: readonly Problem[] }

/** Dates at which a history is cut, one in each part of it. */
const DATES = 4

/** Late starts, one in each part of a history. */
const LATE_STARTS = 8

/**
 * Runs the modules of a book, and proves that what is published of them does not depend on anything but the past:
 *
 * 1. Up to each of some dates, one after the other, each module runs the bars up to there from its state at the date
 *    before, in two new contexts that take turns. Its process has no later bar of any market; at every second date it has
 *    noise instead.
 * 2. Then each is replayed over all bars: this is published. It must have the same events and the same last state.
 * 3. Runs that begin later, in each part of the history, must decide the same once their start is forgotten, given the same
 *    positions.
 *
 * Then it is replayed at the risk levels that the catalogue names.
 *
 * So a module that looks ahead, that remembers outside of its state, or that decides otherwise the second time has
 * problems, which name the first bar that differs. The dates follow from the digest of the bars.
 */
export async function runModules(
  processes: Processes,
  tasks: readonly ModuleTask[],
  { digest, dates }: Proof,
  onDone: () => void,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const trials = tasks.map(task => beginTrial(processes, task))
  for (const [i, date] of dates.entries()) {
    const noiseOf = (id: string) => (i % 2 === 1 ? createUniform(`${digest} ${i} ${id}`) : null)
    const goOn = async (trial: Trial): Promise<void> => {
      trial.failed ??= await advance(trial, date, noiseOf(trial.id)).catch(trial.toFailed)
    }
    await Promise.all(trials.map(goOn))
  }
  const finish = async (trial: Trial): Promise<readonly [string, ModuleOutcome]> => {
    const outcome = trial.failed ?? prove(trial, digest).catch(trial.toFailed)
    return [trial.id, await Promise.resolve(outcome).finally(onDone)]
  }
  return new Map(await Promise.all(trials.map(finish)))
}

/** At which dates the histories of a book are cut, and what its noise follows from. */
export type Proof = { readonly digest: string; readonly dates: readonly number[] }

/** The proof of the modules of a book, which is the same for each of them alone. */
export function proofOf(tasks: readonly ModuleTask[]): Proof {
  if (tasks.length === 0) return { digest: '', dates: [] }
  const markets = new Map(tasks.map(({ bars }) => [bars.c.buffer, bars])).values()
  const columns = [...markets].flatMap(({ t, c }) => [t, c])
  const digest = digestText(columns.map(column => sha256(new Uint8Array(column.slice().buffer))).join())
  return { digest, dates: cutDates(tasks, digest) }
}

/** One instant in each of `DATES` equal parts of the history, and its end. */
function cutDates(tasks: readonly ModuleTask[], digest: string): number[] {
  const from = Math.min(...tasks.map(({ bars }) => bars.t[0]!))
  const to = Math.max(...tasks.map(({ bars }) => endOfBars(bars)))
  const uniform = createUniform(digest)
  const inside = Array.from({ length: DATES }, (_, i) => from + ((i + uniform()) / DATES) * (to - from))
  return [...inside, to]
}

/** Numbers in (0, 1) that follow from a text. */
function createUniform(text: string): () => number {
  let digest = text
  return () => {
    digest = digestText(digest)
    return (Number.parseInt(digest.slice(0, 8), 16) + 0.5) / 2 ** 32
  }
}

type Trial = ReturnType<typeof beginTrial>

/** What goes wrong with a module is its outcome; nothing of it runs after that. */
const beginTrial = (processes: Processes, task: ModuleTask) => ({
  ...{ id: task.entry.id, processes, task, input: toModuleInput(task) },
  events: [] as StepEvent[],
  state: null as EngineState | null,
  /** The bars that were run. */
  done: 0,
  failed: null as Failed | null,
  toFailed: (error: unknown): Failed => ({ problems: toProblems(task.entry.id, error) }),
})

/** Made-up bars after a cut: as long as any rule looks ahead that could be of use. */
const NOISE_BARS = 200

/** Runs the bars that closed between the date before and this one. */
async function advance(trial: Trial, dateMs: number, noise: (() => number) | null): Promise<null> {
  const { processes, task, input, events, state, done } = trial
  const { bars, funding } = task
  const end = lastAtOrBefore(bars.t, dateMs - bars.timeframeMs) + 1 // closed by then
  const count = end - done
  if (count <= 0) return null
  const known = copyBars(bars, done, end)
  const stretch = await processes.run('advance', {
    ...{ ...input, count, state, hashDays: false, takesTurns: true },
    funding: copyFunding(funding, dateMs),
    bars: noise === null ? known : addNoise(known, NOISE_BARS, noise),
    reportFromMs: Number.NEGATIVE_INFINITY,
  })
  for (const report of stretch.reports) events.push(...report.events)
  trial.state = stretch.state
  trial.done = end
  return null
}

/** Replays all bars, and compares that with what was run before and with runs that begin late. */
async function prove(trial: Trial, digest: string): Promise<ModuleOutcome> {
  const { processes, task, input, events, state } = trial
  const { entry, funding } = task
  const bars = copyBars(task.bars)
  const whole = { ...input, bars, funding: copyFunding(funding, Number.POSITIVE_INFINITY) }
  const run = await processes.run('replayWhole', whole)
  const difference = describeEventDifference(run.events, events)
  if (difference !== null) throw new ModuleFault([`${AHEAD}; ${difference}`])
  if (JSON.stringify(run.replayed.state) !== JSON.stringify(state))
    throw new ModuleFault([`${AHEAD}; its decisions are the same, its last state differs`])
  const notices = await proveStart(trial, run, createUniform(`${digest} start ${trial.id}`))
  return { notices, run: { ...run, levels: await replayLevels(processes, entry, whole) } }
}

const AHEAD =
  'with all bars in reach it decides otherwise than with those up to a date alone, from its saved state: it looks ' +
  'ahead, keeps memory outside of its state, or decides by chance'

/** A shorter history shows too little to note what it does not show. */
const LONG_MS = 30 * DAY_MS

/** Decisions that are compared after each late start; fewer in a short history. */
const COMPARED_BARS = 500

/** A late run decides the same once its start is forgotten, from the first trade begun since. If none can be compared: a notice. */
async function proveStart(trial: Trial, run: WholeRun, uniform: () => number): Promise<string[]> {
  const { id, processes, input } = trial
  const { bars } = trial.task
  const { trades, state } = run.replayed
  const decided = decisionsOf(run.events)
  const count = bars.t.length
  const length = Math.min(COMPARED_BARS, Math.ceil(count / LATE_STARTS))
  const inception = lastAtOrBefore(bars.t, input.from * DAY_MS - 1) + 1
  // The first bar of a comparison: the start before it forgets must be a later one than that of the history.
  const first = Math.max(1 + run.memoryBars, inception)
  const room = count - length - first
  let compared = 0
  for (let i = 0; i < LATE_STARTS && room >= 0 && !state.dead; i++) {
    const compare = first + Math.floor(((i + uniform()) / LATE_STARTS) * (room + 1))
    const start = compare - run.memoryBars
    const end = compare + length
    const late = copyBars(bars, start, end)
    const from = firstOwnBar(late, trades, bars.t[compare]!)
    if (from === null) continue
    const own = await processes.run('decideLate', { ...input, funding: null, bars: late, trades })
    const upTo = decided.filter(({ t }) => t <= late.t.at(-1)!)
    const difference = describeDecisionDifference(upTo, own, from)
    if (difference !== null)
      throw new ModuleFault([
        `begun at ${toIsoInstant(bars.t[start]!)}, it decides otherwise even after ${run.memoryBars} bars; ${difference}: ` +
          'raise memoryBars (by default twice warmupBars) until its start is forgotten, or keep less of the past',
      ])
    compared++
  }
  if (compared > 0 || endOfBars(bars) - bars.t[0]! < LONG_MS) return []
  return [
    `${id}: not proven that it does not depend on where its bars begin: they are too few for its memory of ` +
      `${run.memoryBars} bars, or one trade spans them`,
  ]
}

/**
 * The replays at the levels that the catalogue names. The proof need not be repeated: the module is the same. Throws a ModuleFault
 * that names the level, because a module may fail at one alone, where the leverage cap refuses an entry that it counts on.
 */
async function replayLevels(processes: Processes, { replayed_at }: ModuleTask['entry'], whole: WholeInput) {
  const levels: LevelReplay[] = []
  for (const riskLevel of replayed_at)
    levels.push(await processes.run('replayAtLevel', { ...whole, riskLevel }).catch(nameLevel(riskLevel)))
  return levels
}

const nameLevel =
  (riskLevel: number) =>
  (error: unknown): never => {
    if (!(error instanceof ModuleFault)) throw error
    const messages = error.messages.map(
      message =>
        `replayed at the risk level ${riskLevel}: ${message}; at base risk it runs: handle refused entries, ` +
        'or remove the level from replayed_at',
    )
    throw new ModuleFault(messages, error.place)
  }
