import { join } from 'node:path'
import { type Bars, toBars } from '#core/replay/bars.ts'
import { heldAfter, type StepReport } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import type { Bar } from '#core/replay/strategy.ts'
import type { Book } from '../book/book.ts'
import { formatProblem } from '../book/problem.ts'
import { toProblems } from '../modules/module-fault.ts'
import { copyBars, copyFunding, type ModuleTask, toModuleInput } from '../modules/module-input.ts'
import { createProcesses, type ProcessOptions } from '../modules/processes.ts'
import type { Stretch, StretchInput } from '../modules/tasks.ts'

/** Strategy modules of a book, run bar by bar in the processes that a build runs them in. */
export type Stepper = ReturnType<typeof createStepper>

/** What a run throws names its module. The bars of a task say where its series begins. */
export function createStepper({ dir }: Pick<Book, 'dir'>, options: ProcessOptions) {
  const processes = createProcesses(join(dir, 'strategies'), options)
  const inputOf = (own: ModuleTask) =>
    toModuleInput({ ...own, funding: copyFunding(own.funding, Number.POSITIVE_INFINITY) })
  const run: typeof processes.run = (name, input) =>
    processes.run(name, input).catch((error: unknown) => {
      throw new Error(toProblems(input.id, error).map(formatProblem).join('; '))
    })
  const advance = (input: Omit<StretchInput, 'takesTurns'>) => run('advance', { ...input, takesTurns: false })
  return {
    version: (own: ModuleTask) => run('version', inputOf(own)),
    /** Replays all bars that are known, and reports the steps that make signals. */
    replay: (own: ModuleTask, known: Bars, reportFromMs: number): Promise<Stretch> =>
      advance({
        ...inputOf(own),
        bars: copyBars(known),
        state: null,
        count: known.t.length,
        reportFromMs,
        hashDays: reportFromMs < Number.POSITIVE_INFINITY,
      }),
    async step(own: ModuleTask, before: EngineState, bar: Bar) {
      const { version, state, reports } = await advance({
        ...inputOf(own),
        bars: toBars(own.bars.timeframeMs, name => Float64Array.of(bar[name])),
        state: before,
        count: 1,
        reportFromMs: Number.NEGATIVE_INFINITY,
        hashDays: false,
      })
      const report: StepReport = reports[0] ?? { bar, before: heldAfter(before), events: [] }
      return { version, report, state }
    },
    close: processes.close,
  }
}
