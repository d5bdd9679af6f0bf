// The command as a process of its own, which ends with its test.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEndOfProcess } from '../ends.ts'
import { type Exit, type Running, spawnProcess } from '../processes.ts'

const ROOT = join(import.meta.dirname, '../../..')
export const LAUNCHER = join(ROOT, 'cli/launcher.mjs')

const HUNG_MS = 240_000

export type StartOptions = {
  /** The whole environment beside PATH: nothing of the machine that runs the tests reaches the process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** When it is taken for hung, if it is meant to run for long. */
  readonly hungMs?: number
}

/** Starts `highwater ...args` through its launcher. */
export const startHighwater = (args: readonly string[], options: StartOptions = {}): Running =>
  startProcess(process.execPath, [LAUNCHER, ...args], options)

/** Runs `highwater ...args` to its end. */
export const highwater = (args: readonly string[], options: StartOptions = {}): Promise<Exit> =>
  startHighwater(args, options).ended

/** Starts a program, which ends with the running test, or with the file if no test runs. */
export function startProcess(
  program: string,
  args: readonly string[],
  { env = {}, cwd = ROOT, hungMs = HUNG_MS }: StartOptions = {},
): Running {
  const { end, ...running } = spawnProcess(program, args, {
    env: { PATH: process.env.PATH, DATA_FOLDER: join(tmpdir(), 'no-data'), ...env }, // not that of the machine
    cwd,
    hungMs,
  })
  atEndOfProcess(end)
  return running
}
