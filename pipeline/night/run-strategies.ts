import { join } from 'node:path'
import type { EpochDay } from '#core/calendar.ts'
import { countProgress, type Progress } from '#core/progress.ts'
import type { SoundParts, StrategyEntry } from '../book/book.ts'
import type { ModuleTask } from '../modules/module-input.ts'
import { createProcesses, type ProcessOptions } from '../modules/processes.ts'
import type { ModuleFile } from '../modules/realm.ts'
import { type ModuleOutcome, proofOf, runModules } from '../modules/run-modules.ts'
import { cutBars, lastDayIn } from './data-window.ts'
import type { HistoryTask, Refused } from './histories.ts'
import type { Threads } from './threads.ts'

export type RunOptions = ProcessOptions & { readonly progress: Progress }

/** What `worker.ts` does with each strategy, and what its tasks have beside a HistoryTask. */
type Work = { readonly name: 'strategy' | 'check'; readonly step: string; readonly extra: object }

export type Parts = Pick<SoundParts, 'dir' | 'strategies' | 'bars' | 'funding'>

/** What a worker finds, and what the proof of a module notes beside it. */
type Found = { readonly notices: readonly string[] }

/** The files of its module are empty if it has none. */
export type Ran<Outcome> = Outcome & { readonly files: readonly ModuleFile[] }

type SourceTask = Omit<HistoryTask, 'run'>

/**
 * Runs the modules, and then a task for each strategy. One that fails or makes no progress stops no other. The outcomes
 * are in the order of the strategies; `Outcome` is what the worker's function of that name returns.
 */
export async function runStrategies<Outcome extends Found>(
  threads: Threads,
  { name, step, extra }: Work,
  parts: Parts,
  lastDay: EpochDay,
  options: RunOptions,
): Promise<readonly (Ran<Outcome> | Refused)[]> {
  const { strategies } = parts
  const tasks = strategies.map(entry => toTask(parts, entry, lastDay))
  const runs = await runAllModules(parts, tasks, options)
  const count = countProgress(options.progress, step, strategies.length, 'strategies')
  const run = async (task: SourceTask): Promise<Ran<Outcome> | Refused> => {
    const outcome = await runStrategy<Outcome>(threads, name, { ...task, ...extra }, runs.get(task.entry.id))
    count()
    return outcome
  }
  return Promise.all(tasks.map(run))
}

/** The task of a strategy whose module has run. */
export async function runStrategy<Outcome extends Found>(
  threads: Threads,
  name: Work['name'],
  task: SourceTask,
  own: ModuleOutcome | undefined,
): Promise<Ran<Outcome> | Refused> {
  if (own !== undefined && 'problems' in own) return { kind: 'refused', problems: own.problems }
  const outcome = await threads.run<Outcome | Refused>(name, { ...task, run: own?.run ?? null })
  const notices = own?.notices ?? []
  if ('problems' in outcome) return { ...outcome, notices }
  return { ...outcome, notices: [...outcome.notices, ...notices], files: own?.run.files ?? [] }
}

async function runAllModules({ dir }: Parts, tasks: readonly SourceTask[], options: RunOptions) {
  const modules = moduleTasks(tasks)
  if (modules.length === 0) return new Map()
  const count = countProgress(options.progress, 'replay', modules.length, 'strategies')
  const processes = createProcesses(join(dir, 'strategies'), options)
  return runModules(processes, modules, proofOf(modules), count).finally(processes.close)
}

export const moduleTasks = (tasks: readonly SourceTask[]): ModuleTask[] =>
  tasks.flatMap(({ entry, bars, funding }) =>
    entry.source.kind === 'module' && bars !== null ? [{ entry, bars, funding }] : [],
  )

/** What the history of a strategy is made from, but for the run of its module. */
export function toTask({ bars, funding }: Parts, entry: StrategyEntry, last: EpochDay): SourceTask {
  const lastDay = lastDayIn(entry, last)
  const file = entry.bars === null ? undefined : bars.get(entry.bars)
  return {
    entry,
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: funding.get(entry.instrument) ?? null,
    lastDay,
  }
}
