// A shell into which the blocks of a page are pasted, beside the processes that they need.
import { join } from 'node:path'
import { expect } from 'vitest'
import { atEndOfProcess } from './ends.ts'
import { missingIn } from './page-blocks.ts'
import { spawnProcess } from './processes.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Longer than all blocks of a page take. */
const HUNG_MS = 1_800_000

/** A wait that is given up. */
const LONGEST_WAIT_MS = 60_000

/** Starts a program for the rest of the file. At its end it and what it started in the background may stop by themselves. */
export function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string = ROOT,
) {
  const running = spawnProcess(program, args, { env, cwd, hungMs: HUNG_MS, hasInput: true })
  atEndOfProcess(running.stop)
  // CSV ends its lines as RFC 4180 has it; a terminal does not show that.
  const output = (): string => running.printed().replaceAll('\r\n', '\n')
  return { ...running, output }
}

/** Pastes blocks into a shell; `here` replaces the ports and folders that a page names with those of the test. */
export function createPasting(shell: ReturnType<typeof startProgram>, here: (text: string) => string) {
  let pasted = 0
  shell.type(`exec 2>&1\ntrap 'kill $(jobs -p)' EXIT\n`) // what it started would keep its output open
  /**
   * Types a block, and waits until the shell is through with it and its lines are printed; gives all that it printed until
   * then. A command that fails ends the shell.
   */
  return async ({ script, printed }: { script: string; printed: string }): Promise<string> => {
    const marker = `pasted ${++pasted}`
    const before = shell.output().length
    shell.type(`${here(script)}\necho '${marker}'\n`)
    await shell.prints(new RegExp(`${marker}$`, 'm'))
    // What a background job prints may come after the marker.
    const since = () => shell.output().slice(before)
    await expect
      .poll(() => missingIn(since(), here(printed).split('\n')), {
        timeout: LONGEST_WAIT_MS,
        message: since(),
      })
      .toEqual([])
    return since().split(`${marker}\n`)[0]!
  }
}
