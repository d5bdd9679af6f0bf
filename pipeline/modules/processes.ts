import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, realpathSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import { ModuleFault } from './module-fault.ts'
import type { Answer, Request, TaskInput, TaskName, TaskResult } from './worker.ts'

/** A strategy that makes no progress for this long will make none: a bar takes microseconds. */
export const STALL_MS = 30_000

const LOOK_MS = 500

export type ProcessOptions = {
  readonly threads: number
  /** A clock for measuring, milliseconds. */
  readonly elapsedMs: () => number
}

export type Processes = ReturnType<typeof createProcesses>

/**
 * Processes that run strategy modules, one at a time each, and start when they are needed. They may read their own code and the folder
 * of the modules. Node denies them every other file, further processes, threads and native code; it cannot deny the network, sqlite
 * files or signals, which the context of a module does not have. What they print goes to standard error.
 */
export function createProcesses(folder: string, { threads, elapsedMs }: ProcessOptions) {
  const all = new Set<ChildProcess>()
  const idle = new Set<ChildProcess>()
  const limited = pLimit(threads)

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
    /** Rejects with a ModuleFault for what is wrong with the module. */
    run: <Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskResult<Name>> =>
      limited(async () => {
        const [child = start()] = idle
        idle.delete(child)
        try {
          const path = realpathSync(input.path) // the process may not follow a link to the book
          const { result, heapBytes } = await ask(child, { name, input: { ...input, path } }, elapsedMs)
          if (heapBytes > FULL_BYTES) child.kill('SIGKILL')
          else if (all.has(child)) idle.add(child)
          return result as TaskResult<Name>
        } catch (error) {
          child.kill('SIGKILL') // nothing of a module that failed is left to the next one
          throw error
        }
      }),
    async close(): Promise<void> {
      process.off('exit', endAll)
      const ends = [...all].map(child => once(child, 'exit'))
      endAll()
      await Promise.all(ends)
    },
  }
}

/** The bars are not in it. A state that needs more would be no checkpoint. */
const HEAP_MB = 512

/** Node keeps contexts that are no longer used, a megabyte each: a process ends before the next module lacks their memory. */
const FULL_BYTES = (HEAP_MB / 4) * 2 ** 20

const BOOT = fileURLToPath(new URL('./boot.ts', import.meta.url))
const PRODUCT = join(dirname(BOOT), '../..')

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

/** Arrays of numbers are outside of the heap. Bars of one minute for ten years need a third of this to arrive. */
const MEMORY_GB = 3

/** The shell sets the limit and becomes Node, so that the process has no other parent. */
const LIMITED = `ulimit -d ${MEMORY_GB * 2 ** 20} 2>/dev/null; unset PWD; exec "$0" "$@"`

const SHELL = '/bin/sh'

function startProcess(folder: string): ChildProcess {
  const child = fork(BOOT, {
    execPath: SHELL,
    execArgv: ['-c', LIMITED, process.execPath, ...processArguments(folder)],
    env: { TZ: 'UTC', LC_ALL: 'C' }, // no secrets, and no cache of compiled code: to read it, Node must write it
    serialization: 'advanced',
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
  })
  child.stdin?.on('error', () => {}).end(JSON.stringify(workerCode())) // one that ends at once is noticed by its end
  endWithThisProcess(child)
  return child
}

/** A module in an endless loop cannot see that this process was killed. A shell can: its input ends. */
function endWithThisProcess(child: ChildProcess): void {
  const guard = spawn(SHELL, ['-c', 'read -r _; kill -KILL "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.once('exit', () => guard.kill('SIGKILL'))
}

async function ask(child: ChildProcess, request: Request, elapsedMs: () => number): Promise<Done> {
  const { promise, resolve, reject } = Promise.withResolvers<Done>()
  let sinceMs: number | null = null // what has not begun cannot stall
  let trace = '' // what Node says of its end
  const onMessage = (answer: Answer): void => {
    sinceMs = elapsedMs()
    if (answer.kind === 'printed') process.stderr.write(answer.text)
    if (answer.kind === 'done') resolve(answer)
    if (answer.kind === 'fault') reject(new ModuleFault(answer.fault.messages, answer.fault.place))
  }
  const onTrace = (chunk: Buffer): void => {
    if (trace.length < MAX_TRACE_CHARS) trace += chunk.toString('latin1')
  }
  const onClose = (code: number | null, signal: string | null) =>
    reject(new ModuleFault([explainEnd(signal ?? `code ${code}`, trace)]))
  const watch = setInterval(() => {
    if (sinceMs !== null && elapsedMs() - sinceMs >= STALL_MS) reject(new ModuleFault([STALLED]))
  }, LOOK_MS)
  child.stderr?.on('data', onTrace)
  child.on('message', onMessage).on('close', onClose).on('error', reject)
  try {
    child.send(request)
    return await promise
  } finally {
    clearInterval(watch)
    child.stderr?.off('data', onTrace)
    child.off('message', onMessage).off('close', onClose).off('error', reject)
  }
}

type Done = Extract<Answer, { readonly kind: 'done' }>

const MAX_TRACE_CHARS = 10_000

/** Node prints a page about a full heap, of which its user needs a sentence. */
function explainEnd(end: string, trace: string): string {
  // Node says the same if arrays leave no room for the heap to grow.
  if (trace.includes('heap out of memory'))
    return (
      `it needed more than ${HEAP_MB} MB for its objects or ${MEMORY_GB} GB with its arrays, and was ended: look for a list ` +
      'that grows without end, and keep less in its state'
    )
  const [said = ''] = trace.split('\n').filter(line => line.trim() !== '')
  return `its process ended with ${end}${said === '' ? '' : `, after '${said}'`}: look for more memory than there is`
}

const STALLED =
  `it made no progress for ${STALL_MS / 1000} s and was ended: look for an endless loop, or a wait for something that ` +
  'never comes'

/** The texts of files by their URLs, without types. */
export type Code = Readonly<Record<string, string>>

let code: Code | undefined

/** The worker and all that it imports. To remove their types takes 0.2 s: this process does it once, for all of its own. */
export function workerCode(): Code {
  code ??= collect(new URL('./worker.ts', import.meta.url), {})
  return code
}

function collect(url: URL, found: Record<string, string>): Code {
  const source = readFileSync(url, 'utf8')
  const text = url.pathname.endsWith('.ts') ? stripTypes(source) : source // that of an npm package has none
  found[url.href] = text
  for (const [, specifier = ''] of text.matchAll(/^(?:import|\}) .*from '([.#][^']+)'$/gm)) {
    const imported = specifier.startsWith('#')
      ? new URL(`../../${specifier.slice(1)}`, import.meta.url)
      : new URL(specifier, url)
    if (!(imported.href in found)) collect(imported, found)
  }
  return found
}

/** Without the warning that the function is experimental: a command would print it. */
function stripTypes(text: string): string {
  const emit = process.emitWarning
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emit
  }
}
