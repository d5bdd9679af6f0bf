import type { Tinypool } from 'tinypool'
import type { EpochDay } from '#core/calendar.ts'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import type { Progress } from '#core/progress.ts'
import type { Book, StrategyEntry } from '../book/book.ts'
import { BookError, type Problem } from '../book/problem.ts'
import type { StrategyOutcome } from './compute-strategy.ts'
import { cutBars } from './data-window.ts'
import { problemOfThrown, problemsOfStray } from './describe-thrown.ts'
import type { StrategyTask } from './histories.ts'
import { STALL_MS, watchPulses } from './threads.ts'

export type StrategyOptions = {
  readonly progress: Progress
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
}

export type ComputedStrategies = { readonly strategies: StrategyData[]; readonly notices: string[] }

/**
 * Computes every strategy on the threads of a pool. One that fails or stands still stops no other, so that a
 * BookError tells everything that is wrong with any of them.
 */
export async function computeStrategies(
  pool: Tinypool,
  book: Book,
  lastDay: EpochDay,
  { progress, elapsedMs }: StrategyOptions,
): Promise<ComputedStrategies> {
  const runs = new Map(book.strategies.map(entry => [entry.id, newRun()]))
  const pulses = new Map([...runs].map(([id, { pulse }]) => [id, pulse]))
  const endWatch = watchPulses(pulses, STALL_MS, elapsedMs, id => runs.get(id)!.stall.abort())
  let done = 0
  const tell = () => progress({ step: 'compute', done, total: book.strategies.length, unit: 'strategies' })
  tell()
  const run = async (entry: StrategyEntry): Promise<StrategyOutcome> => {
    const { pulse, stall } = runs.get(entry.id)!
    const task = toTask(book, entry, lastDay, pulse)
    const outcome = await runTask(pool, task, { signal: stall.signal, entries: book.strategies })
    pulses.delete(entry.id)
    done++
    tell()
    return outcome
  }
  try {
    return collect(book, await Promise.all(book.strategies.map(run)))
  } finally {
    endWatch()
  }
}

/** The pulse that a task beats, and the way to end its thread. */
const newRun = () => ({ pulse: new Int32Array(new SharedArrayBuffer(4)), stall: new AbortController() })

function toTask(book: Book, entry: StrategyEntry, lastDay: EpochDay, pulse: Int32Array): StrategyTask {
  const { engine, data_source, methodology_url } = book.service
  const file = entry.bars === null ? undefined : book.bars.get(entry.bars)
  return {
    entry,
    service: { engine, data_source, methodology_url },
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: book.funding.get(entry.instrument) ?? null,
    lastDay,
    pulse,
  }
}

type TaskWatch = {
  /** Aborted when the task stands still. */
  readonly signal: AbortSignal
  /** The whole book: whose modules may have left something running on the thread. */
  readonly entries: readonly StrategyEntry[]
}

/**
 * A task describes its own errors; here arrives only what ends its thread, which may be the work of a module that ran
 * on it before. The pool starts another in its place.
 */
async function runTask(
  pool: Tinypool,
  task: StrategyTask,
  { signal, entries }: TaskWatch,
): Promise<StrategyOutcome> {
  try {
    return await pool.run(task, { name: 'strategy', signal })
  } catch (error) {
    const strays = signal.aborted ? [] : problemsOfStray(entries, error)
    const thrown = signal.aborted ? new Error(STALLED) : error
    return { kind: 'refused', problems: strays.length > 0 ? strays : [problemOfThrown(task.entry, thrown)] }
  }
}

const STALLED =
  `it made no progress for ${STALL_MS / 1000} s and was ended: look for a loop without end, or for a wait for what ` +
  'never comes'

function collect(book: Book, outcomes: readonly StrategyOutcome[]): ComputedStrategies {
  const problems: Problem[] = []
  const strategies: StrategyData[] = []
  const notices: string[] = []
  for (const outcome of outcomes) {
    if (outcome.kind === 'refused') problems.push(...outcome.problems)
    else {
      strategies.push(outcome.data)
      notices.push(...outcome.notices)
    }
  }
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return { strategies, notices }
}
