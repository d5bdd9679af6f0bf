// A process that is killed and restarted, as under a supervisor.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { ProcessOrder } from '../history/process-order.ts'
import type { TestRedis } from '../servers/redis.ts'

export type Killable = {
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again; resolves when it works. */
  start(): Promise<void>
  /** Lets it stand still, and go on. */
  pause(isPaused: boolean): void
}

export type KillableProcess = Killable & {
  /** What it said at its start behind `ready`; null while it is not there. */
  readonly said: () => string | null
  /** One sentence for each end that was not a kill. */
  readonly crashes: readonly string[]
}

/** Starts that fail one after another, because Redis is away at that moment: more is no accident. */
const MOST_STARTS = 30

/**
 * A program that prints `ready ...` when it works, and ends when its standard input does. Compiled programs are kept in a
 * folder, because the same are started again and again.
 */
export async function startKillable(
  program: string,
  order: ProcessOrder,
  compiledFolder: string,
): Promise<KillableProcess> {
  let child: ChildProcess | null = null
  let said: string | null = null
  const crashes: string[] = []
  const startOnce = async (): Promise<void> => {
    const started = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: compiledFolder },
    })
    child = started
    const complaint = tailOf(started)
    said = await readiness(started, complaint)
    started.once('close', (code, signal) => {
      if (signal !== 'SIGKILL')
        crashes.push(`${basename(program)} ended with ${code ?? signal}: ${complaint()}`)
    })
  }
  const killable: KillableProcess = {
    said: () => said,
    crashes,
    async kill() {
      said = null
      if (child !== null) await end(child)
    },
    async start() {
      for (let tries = 1; said === null; tries++) {
        await startOnce().catch((error: unknown) => {
          if (tries === MOST_STARTS) throw error
        })
      }
    },
    pause: isPaused => void child?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
  }
  await killable.start()
  return killable
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** The last that a process has complained of. */
function tailOf(child: ChildProcess): () => string {
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2_000)
  })
  return () => complaint
}

/** What a process says behind `ready`. Rejects with what it complained of where it ends before. */
function readiness(child: ChildProcess, complaint: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdin?.on('error', () => {}) // it was killed
    createInterface({ input: child.stdout! }).on('line', line => {
      if (line.startsWith('ready')) resolve(line.slice('ready'.length).trim())
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`it ended before it was ready:\n${complaint()}`)))
  })
}

/** A Redis that comes back on its port with what is on the disk. */
export const killableRedis = (server: TestRedis): Killable => ({
  kill: server.kill,
  start: server.restart,
  pause: () => {},
})
