// The command as a process of its own: started, read, signalled, and never left behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
export const LAUNCHER = join(ROOT, 'cli/launcher.mjs')

/** A process that runs longer has hung: it is ended, and its test fails because it has no exit code. */
const HUNG_MS = 240_000

export type Exit = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type Running = {
  readonly pid: number
  /** What it printed so far on both streams. */
  readonly printed: () => string
  /** The first match of a pattern in what it prints. Rejects where the process ends without it. */
  readonly prints: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<Exit>
}

export type StartOptions = {
  /** The whole environment beside PATH: nothing of the machine that runs the tests reaches the process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** When it is taken for hung, where it is meant to run for long. */
  readonly hungMs?: number
}

/** Starts `highwater ...args` through its launcher. */
export const startHighwater = (args: readonly string[], options: StartOptions = {}): Running =>
  startProcess(process.execPath, [LAUNCHER, ...args], options)

/** Runs `highwater ...args` to its end. */
export const highwater = (args: readonly string[], options: StartOptions = {}): Promise<Exit> =>
  startHighwater(args, options).ended

const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) killGroup(child, 'SIGKILL')
})

/** Starts a program in a process group of its own, so that what it starts itself can be ended with it. */
export function startProcess(
  program: string,
  args: readonly string[],
  { env = {}, cwd = ROOT, hungMs = HUNG_MS }: StartOptions = {},
): Running {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const hung = setTimeout(() => killGroup(child, 'SIGKILL'), hungMs)
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(hung)
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  const printed = (): string => stdout + stderr
  return {
    pid: child.pid!, // undefined only where the program cannot be started: then `ended` rejects
    printed,
    prints: pattern => firstMatch(child, printed, pattern),
    kill: signal => child.kill(signal),
    ended,
  }
}

function firstMatch(child: ChildProcess, printed: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const match = pattern.exec(printed())
      if (match !== null) resolve(match)
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('close', () => {
      look()
      reject(new Error(`the process ended without printing ${pattern}:\n${printed()}`))
    })
    look()
  })
}

/** A group that is gone already is what was wanted. */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
