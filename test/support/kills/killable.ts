// A process that is killed and restarted, as under a supervisor.
import type { Exit, Running } from '../processes.ts'
import type { TestRedis } from '../servers/redis.ts'

export type Killable = {
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again, unless it has done its work; resolves when it works. */
  start(): Promise<void>
  /** Lets it stand still, and go on. */
  pause(isPaused: boolean): void
}

export type KillableProcess = Killable & {
  /** What it printed at its start, in the group of the pattern; null while it is not there. */
  readonly said: () => string | null
  /** One sentence for each end that was not to be. */
  readonly crashes: readonly string[]
  readonly isDone: () => boolean
  /** Resolves when it has done its work. Rejects at its first crash. */
  readonly done: Promise<void>
  /** Asks it to end. */
  stop(): Promise<Exit>
}

/** How a process may end by itself; by default not at all. */
export type Ends = {
  readonly isDone: (exit: Exit) => boolean
  /** The same command then continues. */
  readonly goesOn: (exit: Exit) => boolean
}

const NEVER: Ends = { isDone: () => false, goesOn: () => false }

/** Starts that fail one after another, because Redis is away at that moment: more is no accident. */
const MOST_STARTS = 30

/** Starts a process that prints something by this pattern when it works. */
export async function startKillable(
  start: () => Running,
  ready: RegExp,
  ends = NEVER,
): Promise<KillableProcess> {
  let running: Running
  let starting: Promise<void> | null = null
  let said: string | null = null
  let [isStopped, isDone] = [false, false]
  const crashes: string[] = []
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  done.catch(() => {}) // few await it
  const onEnd = (exit: Exit): void => {
    if (exit.signal === 'SIGKILL' || isStopped) return
    said = null
    if (ends.isDone(exit)) {
      isDone = true
      resolve()
    } else if (ends.goesOn(exit)) {
      killable.start().catch(reject)
    } else {
      crashes.push(`it ended with ${exit.code ?? exit.signal}: ${exit.stderr}`)
      reject(new Error(crashes[0]))
    }
  }
  const startOnce = async (): Promise<void> => {
    const started = start()
    running = started
    const [, text = ''] = await started.prints(ready)
    said = text
    void started.ended.then(onEnd)
  }
  const startSurely = async (): Promise<void> => {
    for (let tries = 1; said === null && !isDone; tries++) {
      await startOnce().catch((error: unknown) => {
        if (tries === MOST_STARTS) throw error
      })
    }
  }
  const killable: KillableProcess = {
    said: () => said,
    crashes,
    isDone: () => isDone,
    done,
    async kill() {
      said = null
      running.kill('SIGKILL')
      await running.ended
    },
    async start() {
      starting ??= startSurely().finally(() => {
        starting = null
      })
      await starting
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
