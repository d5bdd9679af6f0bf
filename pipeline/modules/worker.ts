// The process that strategy modules run in, one task at a time: `processes.ts` says what it may not do.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { createEngine } from '#core/replay/engine.ts'
import { ModuleFault } from './module-fault.ts'
import { openRealm, type Realm } from './realm.ts'
import { advance, decideLate, type ModuleInput, type Run, replayAtLevel, replayWhole } from './tasks.ts'

type Tasks = typeof TASKS
export type TaskName = keyof Tasks
export type TaskInput<Name extends TaskName> = Parameters<Tasks[Name]>[0]
export type TaskResult<Name extends TaskName> = ReturnType<Tasks[Name]>

/** What a process is asked for, and what it answers; `beat` says that it makes progress. */
export type Request = { readonly name: TaskName; readonly input: TaskInput<TaskName> }
export type Answer =
  | { readonly kind: 'beat' }
  | { readonly kind: 'printed'; readonly text: string }
  | { readonly kind: 'done'; readonly result: unknown; readonly heapBytes: number }
  | { readonly kind: 'fault'; readonly fault: Fault }
type Fault = Pick<ModuleFault, 'messages' | 'place'>

const TASKS = {
  version: (input: ModuleInput, { realm: { strategy } }: Run) =>
    createEngine({ ...input, strategy, ordersFromMs: 0 }).strategy.version,
  replayWhole,
  replayAtLevel,
  advance,
  decideLate,
} as const

/** What the module prints in these is passed on: the others repeat them. */
const PRINTING: readonly TaskName[] = ['version', 'advance']

const answer = (message: Answer): void => void process.send?.(message)

/** What a promise of the module was rejected with while nobody waited for it. */
const lost: unknown[] = []
process.on('unhandledRejection', thrown => void lost.push(thrown))
process.on('disconnect', () => process.exit())
process.on('message', (request: Request) => void serve(request))

async function serve(request: Request): Promise<void> {
  answer({ kind: 'beat' })
  try {
    const result = await run(request, false)
    answer({ kind: 'done', result, heapBytes: getHeapStatistics().used_heap_size })
  } catch (error) {
    if (error instanceof ModuleFault) return answer({ kind: 'fault', fault: await withPlace(request, error) })
    const message = error instanceof Error ? error.message : 'the run failed'
    answer({ kind: 'fault', fault: { messages: [message], place: {} } })
  }
}

/** Its line, from a second run that leaves a trace. This process is not used again. */
async function withPlace(request: Request, fault: ModuleFault): Promise<Fault> {
  const again =
    fault.place.line === undefined ? await run(request, true).catch((error: unknown) => error) : null
  const isSame = again instanceof ModuleFault && again.messages.join() === fault.messages.join()
  return { messages: fault.messages, place: isSame ? again.place : fault.place }
}

async function run({ name, input }: Request, isTraced: boolean): Promise<unknown> {
  lost.length = 0
  let printed = 0
  const flush = (of: Realm): void => {
    const text = of.takePrinted()
    if (!PRINTING.includes(name) || isTraced || text === '' || printed > MAX_PRINTED_CHARS) return
    printed += text.length
    answer({ kind: 'printed', text })
  }
  const realm = await openRealm(input.path, isTraced)
  const spare = 'takesTurns' in input && input.takesTurns ? await openRealm(input.path, isTraced) : null
  spare?.takePrinted() // the other has printed the same
  try {
    assertAgrees(realm, input)
    const task: (input: never, run: Run) => unknown = TASKS[name]
    const result = task(input as never, { realm, spare, beat: () => answer({ kind: 'beat' }), flush })
    await nextTurn() // for what it left behind
    if (lost.length > 0) throw realm.toFault(lost[0])
    return result
  } finally {
    flush(realm)
    if (spare !== null) flush(spare)
  }
}

/** A realm keeps no more until it is taken. */
const MAX_PRINTED_CHARS = 65_536

/** The catalogue and the module both describe the strategy. */
function assertAgrees({ strategy }: Run['realm'], { id, timeframeMs, baseRisk }: ModuleInput): void {
  const pairs = [
    ['id', strategy.id, id],
    ['timeframeMs', strategy.timeframeMs, timeframeMs],
    ['baseRisk', strategy.baseRisk, baseRisk],
  ] as const
  const faults = pairs.filter(([, inModule, inCatalogue]) => inModule !== inCatalogue)
  const messages = faults.map(
    ([name, own, stated]) => `${name}: ${stated} in the catalogue, ${own} in the module`,
  )
  if (messages.length > 0) throw new ModuleFault(messages)
}
