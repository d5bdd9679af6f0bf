import { join } from 'node:path'
import type { EpochDay } from '#core/calendar.ts'
import type { Progress } from '#core/progress.ts'
import type { SoundParts, StrategyEntry } from '../book/book.ts'
import { createProcesses, type ProcessOptions } from '../modules/processes.ts'
import type { ModuleFile } from '../modules/realm.ts'
import { type ModuleOutcome, runModules } from '../modules/run-modules.ts'
import { cutBars } from './data-window.ts'
import type { HistoryTask, Refused } from './histories.ts'
import type { Threads } from './threads.ts'

export type RunOptions = ProcessOptions & { readonly progress: Progress }

/** What `worker.ts` does with each strategy, and what its tasks have beside a HistoryTask. */
type Work = { readonly name: 'strategy' | 'check'; readonly step: string; readonly extra: object }

type Parts = Pick<SoundParts, 'dir' | 'strategies' | 'bars' | 'funding'>

/** What a worker finds, and what the proof of a module notes beside it. */
type Found = { readonly notices: readonly string[] }

/** The files of its module are empty if it has none. */
type Ran<Outcome> = Outcome & { readonly files: readonly ModuleFile[] }

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
  let done = 0
  const report = () => options.progress({ step, done, total: strategies.length, unit: 'strategies' })
  const run = async (task: Omit<HistoryTask, 'run'>): Promise<Ran<Outcome> | Refused> => {
    const own = runs.get(task.entry.id)
    if (own !== undefined && 'problems' in own) return { kind: 'refused', problems: own.problems }
    const outcome = await threads.run<Outcome | Refused>(name, { ...task, ...extra, run: own?.run ?? null })
    done++
    report()
    if (!('notices' in outcome)) return outcome
    return {
      ...outcome,
      notices: [...outcome.notices, ...(own?.notices ?? [])],
      files: own?.run.files ?? [],
    }
  }
  report()
  return Promise.all(tasks.map(run))
}

async function runAllModules(
  { dir }: Parts,
  tasks: readonly Omit<HistoryTask, 'run'>[],
  options: RunOptions,
): Promise<ReadonlyMap<string, ModuleOutcome>> {
  const modules = tasks.flatMap(({ entry, bars, funding }) =>
    entry.source.kind === 'module' && bars !== null ? [{ entry, bars, funding }] : [],
  )
  const total = modules.length
  let done = 0
  const report = () => options.progress({ step: 'replay', done, total, unit: 'strategies' })
  if (total > 0) report()
  const processes = createProcesses(join(dir, 'strategies'), options)
  return runModules(processes, modules, () => {
    done++
    report()
  }).finally(processes.close)
}

function toTask({ bars, funding }: Parts, entry: StrategyEntry, lastDay: EpochDay): Omit<HistoryTask, 'run'> {
  const file = entry.bars === null ? undefined : bars.get(entry.bars)
  return {
    entry,
    bars: file === undefined ? null : cutBars(file.bars, lastDay),
    funding: funding.get(entry.instrument) ?? null,
    lastDay,
  }
}
