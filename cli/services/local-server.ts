// A server of another project, or an example, run on this machine until it is stopped.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export type LocalServer = Awaited<ReturnType<typeof startLocalServer>>

type Options = {
  /** How errors call it, if not by the path of the program. */
  readonly name?: string
  /** Its environment, if not ours. */
  readonly env?: NodeJS.ProcessEnv
  /** The line with its address and, if it prints that, its process. */
  readonly ready?: RegExp
  /** Whether it ends at SIGTERM, and not with its input. */
  readonly endsBySignal?: boolean
  /** Called with every other line; without it, its errors go to ours. */
  readonly print?: (line: string) => void
}

/** Starts a program that prints a line such as `ready URL [PID]` and ends with its input; `ended` resolves then. Rejects if that is first. */
export async function startLocalServer(
  program: string,
  args: readonly string[],
  { name = program, env, ready = /^ready (\S+)(?: (\d+))?$/, endsBySignal = false, print }: Options = {},
) {
  const errors = print === undefined ? 'inherit' : 'pipe'
  // In its own process group: Ctrl-C in a terminal reaches the whole group, and a server must outlive its users.
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', errors], detached: true, env })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const begun = Promise.withResolvers<{ readonly url: string; readonly pid: number | null }>()
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) continue
    createInterface({ input }).on('line', line => {
      const [, url, pid] = ready.exec(line) ?? []
      if (url === undefined) print?.(line)
      else begun.resolve({ url, pid: pid === undefined ? null : Number(pid) })
    })
  }
  const tooEarly = new Error(`${name} ended before it was ready; its output is above`)
  ended.then(() => begun.reject(tooEarly), begun.reject)
  const { url, pid } = await begun.promise
  child.stdin?.once('error', () => {}) // it has ended already, which is what was wanted
  const stop = (): Promise<void> => {
    if (endsBySignal) child.kill()
    else child.stdin?.end()
    return ended
  }
  return { url, pid, stop, ended }
}
