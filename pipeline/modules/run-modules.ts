import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { LevelReplay } from '#core/figures/execution.ts'
import { type Bars, endOfBars, type Funding, lastAtOrBefore } from '#core/replay/bars.ts'
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
import type { StrategyEntry } from '../book/book.ts'
import type { Problem } from '../book/problem.ts'
import { ModuleFault, toProblems } from './module-fault.ts'
import { copyBars, copyFunding, toModuleInput } from './module-input.ts'
import type { Processes } from './processes.ts'
import type { ModuleInput, ModuleRun, WholeInput, WholeRun } from './tasks.ts'

export type ModuleTask = {
  readonly entry: StrategyEntry
  readonly bars: Bars
  readonly funding: Funding | null
}

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
  const trials = tasks.map(task => createTrial(processes, task))
  for (const [i, date] of dates.entries()) {
    const noiseOf = (id: string) => (i % 2 === 1 ? createUniform(`${digest} ${i} ${id}`) : null)
    await Promise.all(trials.map(trial => trial.runUpTo(date, noiseOf(trial.id))))
  }
  const finish = async (trial: Trial) => [trial.id, await trial.finish(digest).finally(onDone)] as const
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

type Trial = ReturnType<typeof createTrial>

/** Made-up bars after a cut: as long as any rule looks ahead that could be of use. */
const NOISE_BARS = 200

function createTrial(processes: Processes, task: ModuleTask) {
  const { entry, bars, funding } = task
  const input = toModuleInput(entry, bars, funding)
  const events: StepEvent[] = []
  let state: EngineState<unknown> | null = null
  let done = 0
  let outcome: ModuleOutcome | null = null

  /** What goes wrong in here is the outcome of the module; nothing of it runs after that. */
  async function attempt(work: () => Promise<ModuleOutcome | null>): Promise<void> {
    if (outcome !== null) return
    outcome = await work().catch((error: unknown) => ({ problems: toProblems(entry.id, error) }))
  }

  return {
    id: entry.id,
    runUpTo: (dateMs: number, noise: (() => number) | null) =>
      attempt(async () => {
        const end = lastAtOrBefore(bars.t, dateMs - bars.timeframeMs) + 1 // closed by then
        const count = end - done
        if (count <= 0) return null
        const known = copyBars(bars, done, end)
        const stretch = await processes.run('advance', {
          ...input,
          funding: copyFunding(funding, dateMs),
          bars: noise === null ? known : addNoise(known, NOISE_BARS, noise),
          count,
          state,
          reportFromMs: Number.NEGATIVE_INFINITY,
          hashDays: false,
          takesTurns: true,
          prints: true,
        })
        for (const report of stretch.reports) events.push(...report.events)
        state = stretch.state
        done = end
        return null
      }),
    async finish(digest: string): Promise<ModuleOutcome> {
      await attempt(async () => {
        const whole = {
          ...input,
          bars: copyBars(bars),
          funding: copyFunding(funding, Number.POSITIVE_INFINITY),
        }
        const run = await processes.run('replayWhole', { ...whole, prints: false })
        const difference = describeEventDifference(run.events, events)
        if (difference !== null) return failed(entry.id, `${AHEAD}; ${difference}`)
        if (JSON.stringify(run.replayed.state) !== JSON.stringify(state))
          return failed(entry.id, `${AHEAD}; its decisions are the same, its last state differs`)
        const uniform = createUniform(`${digest} start ${entry.id}`)
        const proof = await proveStart(processes, task, input, run, uniform)
        if ('problems' in proof) return proof
        return { ...proof, run: { ...run, levels: await replayLevels(processes, entry, whole) } }
      })
      return outcome!
    },
  }
}

const AHEAD =
  'with all bars in reach it decides otherwise than with those up to a date alone, from its saved state: it looks ' +
  'ahead, keeps memory outside of its state, or decides by chance'

const failed = (id: string, message: string) => ({ problems: [{ file: `strategies/${id}.ts`, message }] })

/** A shorter history shows too little to note what it does not show. */
const LONG_MS = 30 * DAY_MS

/** Decisions that are compared after each late start; fewer in a short history. */
const COMPARED_BARS = 500

/**
 * A run that begins late decides the same, once its start is forgotten: from the first bar then that is in no trade
 * begun before. A history in which none can be compared has a notice.
 */
async function proveStart(
  processes: Processes,
  { entry, bars }: ModuleTask,
  input: ModuleInput,
  run: WholeRun,
  uniform: () => number,
): Promise<Failed | { readonly notices: readonly string[] }> {
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
    const beside = { ...input, funding: null, bars: late, trades, prints: false }
    const own = await processes.run('decideLate', beside)
    const upTo = decided.filter(({ t }) => t <= late.t.at(-1)!)
    const difference = describeDecisionDifference(upTo, own, from)
    if (difference !== null) {
      return failed(
        entry.id,
        `begun at ${toIsoInstant(bars.t[start]!)}, it decides otherwise even after ${run.memoryBars} bars; ${difference}: ` +
          'raise memoryBars (by default twice warmupBars) until its start is forgotten, or keep less of the past',
      )
    }
    compared++
  }
  const isLong = endOfBars(bars) - bars.t[0]! >= LONG_MS
  const notices =
    compared > 0 || !isLong
      ? []
      : [
          `${entry.id}: not proven that it does not depend on where its bars begin: they are too few for its memory of ` +
            `${run.memoryBars} bars, or one trade spans them`,
        ]
  return { notices }
}

/**
 * The replays at the levels that the catalogue names. The proof need not be repeated: the module is the same. Throws a ModuleFault
 * that names the level, because a module may fail at one alone, where the leverage cap refuses an entry that it counts on.
 */
async function replayLevels(
  processes: Processes,
  { replayed_at }: ModuleTask['entry'],
  whole: WholeInput,
): Promise<LevelReplay[]> {
  const levels: LevelReplay[] = []
  for (const riskLevel of replayed_at) {
    const replayed = processes.run('replayAtLevel', { ...whole, riskLevel, prints: false })
    levels.push(await replayed.catch((error: unknown) => Promise.reject(atLevel(riskLevel, error))))
  }
  return levels
}

const atLevel = (riskLevel: number, error: unknown): unknown =>
  error instanceof ModuleFault
    ? new ModuleFault(
        error.messages.map(
          message =>
            `replayed at the risk level ${riskLevel}: ${message}; at base risk it runs: handle refused entries, ` +
            'or remove the level from replayed_at',
        ),
        error.place,
      )
    : error
