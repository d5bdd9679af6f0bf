// Processes of tests: started in a group of their own, read, signalled, ended as a group, and found by the folder they use.
import { type ChildProcess, type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

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
  /** The first match of a pattern in what it prints. Rejects if the process ends without it. */
  readonly prints: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<Exit>
}

export type ProcessOrder = {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** After so long it has hung: it is ended, and its test fails because it has no exit code. */
  readonly hungMs: number
  /** Whether `type` writes to its standard input, which is empty otherwise. */
  readonly hasInput?: boolean
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

/** Starts a program in a process group of its own. */
export function spawnProcess(
  program: string,
  args: readonly string[],
  { env, cwd, hungMs, hasInput = false }: ProcessOrder,
) {
  const input = hasInput ? 'pipe' : 'ignore'
  const stdio: StdioOptions = [input, 'pipe', 'pipe']
  const ownEnv = { TMPDIR: tmpdir(), ...env } // what it leaves when it is killed goes with the run
  const child = spawn(program, args, { cwd, env: ownEnv, detached: true, stdio }) as Child
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin?.on('error', () => {}) // it ended: what is awaited of it says so
  const hung = setTimeout(() => signalGroup(child, 'SIGKILL'), hungMs)
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(hung)
      resolve({ code, signal, stdout, stderr })
    })
  })
  const printed = (): string => stdout + stderr
  /** Ends the whole group, and resolves when it is gone. */
  const end = async (): Promise<void> => {
    while (signalGroup(child, 'SIGKILL')) await sleep(POLL_MS)
    await ended.catch(() => {}) // one that could not be started has nothing to end
  }
  return {
    pid: child.pid!, // undefined only if the program cannot be started: then `ended` rejects
    printed,
    prints: (pattern: RegExp) => firstMatch(child, printed, pattern),
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
    ended,
    end,
    /** The same, after the group was asked to end and had some seconds for it. */
    async stop(): Promise<void> {
      let looks = 0
      for (let isThere = signalGroup(child, 'SIGTERM'); isThere; isThere = signalGroup(child, 0)) {
        if (++looks > PATIENT_LOOKS) break
        await sleep(POLL_MS)
      }
      await end()
    },
    type: (text: string): void => void child.stdin?.write(text),
  }
}

const POLL_MS = 5

/** Half a minute. */
const PATIENT_LOOKS = 6_000

function firstMatch(child: ChildProcess, printed: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const streams = [child.stdout, child.stderr]
    const look = (): void => {
      const match = pattern.exec(printed())
      if (match === null) return
      for (const stream of streams) stream?.off('data', look)
      child.off('close', fail)
      resolve(match)
    }
    const fail = (): void => {
      look()
      reject(new Error(`the process ended without printing ${pattern}:\n${printed()}`))
    }
    for (const stream of streams) stream?.on('data', look)
    child.once('close', fail)
    look()
  })
}

/** Whether there was a process in the group to signal. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

export type FoundProcess = { readonly pid: number; readonly command: string }

/** Processes that use one of some folders: their own folder is in it, or their command line or environment names it. */
export function processesOf(...folders: readonly string[]): readonly FoundProcess[] {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name) && name !== String(process.pid))
  return pids.flatMap(pid => {
    const command = orEnded(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    const uses = (text: string): boolean => folders.some(folder => text.includes(folder))
    const isUser =
      uses(command) ||
      uses(orEnded(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))) ||
      uses(orEnded(() => readlinkSync(`/proc/${pid}/cwd`))) // a Redis writes over the other two
    return isUser ? [{ pid: Number(pid), command: command.replaceAll('\0', ' ').trim() }] : []
  })
}

/** Empty if the process ended meanwhile, or is not ours. */
function orEnded(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
