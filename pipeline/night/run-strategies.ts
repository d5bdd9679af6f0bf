import type { EpochDay } from '#core/calendar.ts'
import type { Progress } from '#core/progress.ts'
import type { SoundParts, StrategyEntry } from '../book/book.ts'
import { cutBars } from './data-window.ts'
import { problemOfThrown, problemsOfStray } from './describe-thrown.ts'
import type { HistoryTask, Refused } from './histories.ts'
import { createThreads, StalledError, type ThreadOptions, type Threads } from './threads.ts'

export type RunOptions = ThreadOptions & { readonly progress: Progress }

/** Threads for `worker.ts`. An error that ends an idle one goes to `strays`. */
export const createNightThreads = (options: ThreadOptions, strays: unknown[]): Threads =>
  createThreads(new URL('./worker.ts', import.meta.url), options, error => strays.push(error))

/** What `worker.ts` does with each strategy, and what its tasks have beside a HistoryTask. */
type Work = { readonly name: 'strategy' | 'check'; readonly step: string; readonly extra: object }

/**
 * Runs a task for each strategy. One that fails or makes no progress stops no other. The outcomes are in the
 * order of the strategies; `Outcome` is what the worker's function of that name returns.
 */
export async function runStrategies<Outcome>(
  threads: Threads,
  { name, step, extra }: Work,
  parts: Pick<SoundParts, 'strategies' | 'bars' | 'funding'>,
  lastDay: EpochDay,
  { progress }: Pick<RunOptions, 'progress'>,
): Promise<readonly (Outcome | Refused)[]> {
  const { strategies } = parts
  let done = 0
  const report = () => progress({ step, done, total: strategies.length, unit: 'strategies' })
  const run = async (entry: StrategyEntry): Promise<Outcome | Refused> => {
    const outcome = await threads
      .run<Outcome>(name, { ...toTask(parts, entry, lastDay), ...extra })
      .catch((error: unknown) => toRefusal(entry, strategies, error))
    done++
    report()
    return outcome
  }
  report()
  return Promise.all(strategies.map(run))
}

function toTask(
  { bars, funding }: Pick<SoundParts, 'bars' | 'funding'>,
  entry: StrategyEntry,
  lastDay: EpochDay,
): Omit<HistoryTask, 'pulse'> {
  const file = entry.bars === null ? undefined : bars.get(entry.bars)
  return {
    entry,
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: funding.get(entry.instrument) ?? null,
    lastDay,
  }
}

/**
 * A task describes its own errors; here arrives only what ends its thread, maybe caused by a module that ran
 * on it before.
 */
function toRefusal(entry: StrategyEntry, strategies: readonly StrategyEntry[], error: unknown): Refused {
  const strays = error instanceof StalledError ? [] : problemsOfStray(strategies, error)
  return { kind: 'refused', problems: strays.length > 0 ? strays : [problemOfThrown(entry, error)] }
}
