// A process that is killed and restarted, as under a supervisor.
import type { Exit, Running } from '../processes.ts'
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
  readonly pid: () => number
  /** What it printed at its start, in the group of the pattern; null while it is not there. */
  readonly said: () => string | null
  /** One sentence for each end that was neither a kill nor a stop. */
  readonly crashes: readonly string[]
  /** Asks it to end. */
  stop(): Promise<Exit>
}

/** Starts that fail one after another, because Redis is away at that moment: more is no accident. */
const MOST_STARTS = 30

/** Starts a process that prints something by this pattern when it works. */
export async function startKillable(start: () => Running, ready: RegExp): Promise<KillableProcess> {
  let running: Running
  let said: string | null = null
  let isStopped = false
  const crashes: string[] = []
  const startOnce = async (): Promise<void> => {
    const started = start()
    running = started
    const [, text = ''] = await started.prints(ready)
    said = text
    started.ended.then(({ code, signal, stderr }) => {
      if (signal !== 'SIGKILL' && !isStopped) crashes.push(`it ended with ${code ?? signal}: ${stderr}`)
    })
  }
  const killable: KillableProcess = {
    pid: () => running.pid,
    said: () => said,
    crashes,
    async kill() {
      said = null
      running.kill('SIGKILL')
      await running.ended
    },
    async start() {
      for (let tries = 1; said === null; tries++) {
        await startOnce().catch((error: unknown) => {
          if (tries === MOST_STARTS) throw error
        })
      }
    },
    pause: isPaused => running.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
    stop() {
      isStopped = true
      running.kill('SIGTERM')
      return running.ended
    },
  }
  await killable.start()
  return killable
}

/** A Redis that comes back on its port with what is on the disk. */
export const killableRedis = (server: TestRedis): Killable => ({
  kill: server.kill,
  start: server.restart,
  pause: () => {},
})
