// A shell into which the blocks of a page are pasted, beside the processes that they need.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import { missingIn } from './page-blocks.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A process whose output is read as it comes. */
export type Running = {
  readonly output: () => string
  /** Resolves once `holds` is true of the output; rejects if the process ends first. */
  readonly until: (holds: (output: string) => boolean) => Promise<void>
  /** Types text into it. */
  readonly type: (text: string) => void
  /** Ends it with what it started in the background, which is in its process group. */
  readonly end: () => Promise<void>
}

export function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string = ROOT,
): Running {
  const child: ChildProcessWithoutNullStreams = spawn(program, args, { cwd, env, detached: true })
  let output = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text.replaceAll('\r\n', '\n') // CSV ends its lines as RFC 4180 has it; a terminal does not show that
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const until = (holds: (output: string) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (!holds(output)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      ended.then(code => reject(new Error(`${program} ended with ${code}: ${output}`)))
      look()
    })
  const end = async (): Promise<void> => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGINT')
    await ended
  }
  return { output: () => output, until, type: text => child.stdin.write(text), end }
}

/** A wait that is given up. */
const LONGEST_WAIT_MS = 60_000

/** Pastes blocks into a shell; `here` replaces the ports and folders that a page names with those of the test. */
export function createPasting(shell: Running, here: (text: string) => string) {
  let pasted = 0
  /** Types a block, and waits until the shell is through with it and its lines are printed. A command that fails ends the shell. */
  return async ({ script, printed }: { script: string; printed: string }): Promise<void> => {
    const marker = `pasted ${++pasted}`
    const before = shell.output().length
    shell.type(`${here(script)}\necho '${marker}'\n`)
    const lines = here(printed).split('\n')
    const since = (text: string) => text.slice(before)
    await shell.until(text => since(text).includes(marker))
    // What a background job prints may come after the marker.
    await expect
      .poll(() => missingIn(since(shell.output()), lines), {
        timeout: LONGEST_WAIT_MS,
        message: since(shell.output()),
      })
      .toEqual([])
  }
}
