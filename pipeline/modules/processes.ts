import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ModuleFault } from './module-fault.ts'
import type { Answer, Request, TaskInput, TaskName, TaskResult } from './worker.ts'

/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

/** How often the processes are looked at. */
const LOOK_MS = 500

export type ProcessOptions = {
  /** How many run at a time. */
  readonly threads: number
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
}

/** Processes that run strategy modules, one at a time each. They start when they are needed. */
export type Processes = {
  /** Rejects with a ModuleFault for what is wrong with the module. */
  readonly run: <Name extends TaskName>(name: Name, input: TaskInput<Name>) => Promise<TaskResult<Name>>
  readonly close: () => Promise<void>
}

/**
 * Processes that may read their own code and the folder of the modules. Node denies them every other file, further
 * processes, threads and native code; it cannot deny the network, sqlite files or signals, which the context of a
 * module does not have. What they print goes to `print`.
 */
export function createProcesses(folder: string, { threads, elapsedMs }: ProcessOptions): Processes {
  const all = new Set<ChildProcess>()
  const idle = new Set<ChildProcess>()
  const waiting: (() => void)[] = []
  let running = 0

  const start = (): ChildProcess => {
    const child = startProcess(folder)
    all.add(child)
    child.once('exit', () => {
      all.delete(child)
      idle.delete(child) // maybe by a signal that was sent to a whole group
    })
    return child
  }
  const endAll = (): void => {
    for (const child of all) child.kill('SIGKILL')
  }
  process.once('exit', endAll)
  return {
    async run<Name extends TaskName>(name: Name, input: TaskInput<Name>) {
      if (running < threads) running++
      else await new Promise<void>(resolve => waiting.push(resolve))
      const [child = start()] = idle
      idle.delete(child)
      try {
        const path = realpathSync(input.path) // the process may not follow a link to the book
        const result = await ask(child, { name, input: { ...input, path } }, elapsedMs)
        if (all.has(child)) idle.add(child)
        return result as TaskResult<Name>
      } catch (error) {
        child.kill('SIGKILL') // nothing of a module that failed is left to the next one
        throw error
      } finally {
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
    async close() {
      process.off('exit', endAll)
      const ends = [...all].map(child => once(child, 'exit'))
      endAll()
      await Promise.all(ends)
    },
  }
}

/** The bars are not in it. A state that needs more would be no checkpoint. */
const HEAP_MB = 512

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))
const PRODUCT = join(dirname(WORKER), '../..')

/** What Node denies the process: all but to read the folders. */
export const processArguments = (folder: string): string[] => [
  '--permission',
  ...['package.json', 'core/*', 'pipeline/modules/*'].map(path => `--allow-fs-read=${join(PRODUCT, path)}`),
  `--allow-fs-read=${join(realpathSync(folder), '*')}`,
  '--experimental-vm-modules',
  '--disallow-code-generation-from-strings',
  '--frozen-intrinsics',
  '--no-warnings',
  `--max-old-space-size=${HEAP_MB}`,
]

function startProcess(folder: string): ChildProcess {
  const child = fork(WORKER, {
    execArgv: processArguments(folder),
    env: { TZ: 'UTC', LC_ALL: 'C' }, // no secrets, and no cache of compiled code: to read it, Node must write it
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.stderr?.on('data', chunk => process.stderr.write(chunk))
  return child
}

/** Runs a task in an idle process. Rejects if it makes no progress, or ends. */
async function ask(child: ChildProcess, request: Request, elapsedMs: () => number): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  let sinceMs: number | null = null // what has not begun cannot stall
  const onMessage = (answer: Answer): void => {
    sinceMs = elapsedMs()
    if (answer.kind === 'done') resolve(answer.result)
    if (answer.kind === 'fault') reject(new ModuleFault(answer.fault.messages, answer.fault.place))
  }
  const onExit = (code: number | null, signal: string | null) =>
    reject(
      new ModuleFault([
        `its process ended with ${signal ?? `code ${code}`}: look for more memory than there is`,
      ]),
    )
  const watch = setInterval(() => {
    if (sinceMs !== null && elapsedMs() - sinceMs >= STALL_MS) reject(new ModuleFault([STALLED]))
  }, LOOK_MS)
  child.on('message', onMessage).on('exit', onExit).on('error', reject)
  try {
    child.send(request)
    return await promise
  } finally {
    clearInterval(watch)
    child.off('message', onMessage).off('exit', onExit).off('error', reject)
  }
}

const STALLED =
  `it made no progress for ${STALL_MS / 1000} s and was ended: look for an endless loop, or a wait for something that ` +
  'never comes'
