import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from '#storage/error-code.ts'

type ShellOptions = {
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly cwd?: string
  readonly input?: string
  /** Called at the start, to read the output; without it, nobody does. */
  readonly watch?: (child: ChildProcess) => void
}

/** Runs a command of the operator in a shell. Rejects with how it ended unless that is 0. The timeout ends its process group. */
export async function runShell(command: string, { env, timeoutMs, cwd, input = '', watch }: ShellOptions) {
  const output = watch === undefined ? 'ignore' : 'pipe'
  const stdio: StdioOptions = ['pipe', output, output]
  const child = spawn('/bin/sh', ['-c', command], { cwd, env, stdio, detached: true })
  let isLate = false
  const timeout = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, timeoutMs)
  const closed = once(child, 'close').finally(() => clearTimeout(timeout))
  watch?.(child)
  child.stdin?.once('error', () => {}) // it did not read its input; its exit code decides
  child.stdin?.end(input)
  const [code, signal] = await closed.catch((error: unknown) => {
    throw new Error(`cannot be started: ${messageOf(error)}`)
  })
  if (code === 0) return
  if (isLate) throw new Error(`was ended after ${timeoutMs / 1_000} s`)
  throw new Error(code === null ? `was ended by ${signal}` : `ended with ${code}`)
}
