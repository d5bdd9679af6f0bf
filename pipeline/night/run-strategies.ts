import { Tinypool } from 'tinypool'
import type { EpochDay } from '#core/calendar.ts'
import type { Progress } from '#core/progress.ts'
import type { SoundParts, StrategyEntry } from '../book/book.ts'
import { cutBars } from './data-window.ts'
import { problemOfThrown, problemsOfStray } from './describe-thrown.ts'
import type { HistoryTask, Refused } from './histories.ts'
import { STALL_MS, threadEnvironment, watchPulses } from './threads.ts'

export type RunOptions = {
  readonly progress: Progress
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
}

/** Threads for `worker.ts`. An error that ends an idle one goes to `strays`: unheard, it would end the process. */
export function createPool(threads: number, strays: unknown[]): Tinypool {
  const pool = new Tinypool({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    env: threadEnvironment(),
  })
  pool.on('error', error => strays.push(error))
  return pool
}

/** What `worker.ts` does with each strategy, and what its tasks have beside a HistoryTask. */
type Work = { readonly name: 'strategy' | 'check'; readonly step: string; readonly extra: object }

/**
 * Runs a task for each strategy on the threads of a pool. One that fails or makes no progress stops no other. The
 * outcomes are in the order of the strategies; `Outcome` is what the worker's function of that name returns.
 */
export async function runStrategies<Outcome>(
  pool: Tinypool,
  { name, step, extra }: Work,
  parts: Pick<SoundParts, 'strategies' | 'bars' | 'funding'>,
  lastDay: EpochDay,
  { progress, elapsedMs }: RunOptions,
): Promise<readonly (Outcome | Refused)[]> {
  const { strategies } = parts
  const runs = new Map(strategies.map(entry => [entry.id, newRun()]))
  const pulses = new Map([...runs].map(([id, { pulse }]) => [id, pulse]))
  const endWatch = watchPulses(pulses, STALL_MS, elapsedMs, id => runs.get(id)!.stall.abort())
  let done = 0
  const report = () => progress({ step, done, total: strategies.length, unit: 'strategies' })
  const run = async (entry: StrategyEntry): Promise<Outcome | Refused> => {
    const { pulse, stall } = runs.get(entry.id)!
    const task = { ...toTask(parts, entry, lastDay, pulse), ...extra }
    const outcome = await pool
      .run(task, { name, signal: stall.signal })
      .catch((error: unknown) => toRefusal(entry, strategies, error, stall.signal.aborted))
    pulses.delete(entry.id)
    done++
    report()
    return outcome
  }
  report()
  try {
    return await Promise.all(strategies.map(run))
  } finally {
    endWatch()
  }
}

/** The pulse that a task beats, and the way to end its thread. */
const newRun = () => ({ pulse: new Int32Array(new SharedArrayBuffer(4)), stall: new AbortController() })

function toTask(
  { bars, funding }: Pick<SoundParts, 'bars' | 'funding'>,
  entry: StrategyEntry,
  lastDay: EpochDay,
  pulse: Int32Array,
): HistoryTask {
  const file = entry.bars === null ? undefined : bars.get(entry.bars)
  return {
    entry,
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: funding.get(entry.instrument) ?? null,
    lastDay,
    pulse,
  }
}

/**
 * A task describes its own errors; here arrives only what ends its thread, which may be the work of a module that ran
 * on it before. The pool starts another in its place.
 */
function toRefusal(
  entry: StrategyEntry,
  strategies: readonly StrategyEntry[],
  error: unknown,
  isStalled: boolean,
): Refused {
  const strays = isStalled ? [] : problemsOfStray(strategies, error)
  const problem = problemOfThrown(entry, isStalled ? new Error(STALLED) : error)
  return { kind: 'refused', problems: strays.length > 0 ? strays : [problem] }
}

const STALLED =
  `it made no progress for ${STALL_MS / 1000} s and was ended: look for an endless loop, or a wait for something that ` +
  'never comes'
