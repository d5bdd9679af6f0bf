import { setTimeout as sleep } from 'node:timers/promises'
import { DEVELOPMENT_ORIGINS, type InterfaceSettings } from '#api/service/headers.ts'
import { type RunningServer, toReachable } from '#api/service/http-server.ts'
import { messageOf } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'

export type Started = ReturnType<typeof createStarted>

/** A store that is silent, or an authority of time stamps, may take longer than a stop waits for it. */
const STOPS_WITHIN_MS = 1_000

/** Resolves when some work is done, or when a stop has waited long enough for it. */
export const forAWhile = (work: unknown): Promise<unknown> =>
  Promise.race([work, sleep(STOPS_WITHIN_MS, undefined, { ref: false })])

/** Running parts of a program, which end in the reverse order of their start. */
export function createStarted() {
  const ends: (() => unknown)[] = []
  let isEnding = false
  return {
    isEnding: () => isEnding,
    add: (end: () => unknown): void => void ends.push(end),
    /** Adds a server that begins to listen, and resolves with it; an error names the variable of its port. */
    async listen(variable: string, listening: Promise<RunningServer>): Promise<RunningServer> {
      const server = await listening.catch((cause: unknown) => {
        throw new Error(`${variable}: ${messageOf(cause)}`, { cause })
      })
      ends.push(server.close)
      return server
    },
    /** Does something again and again, until the end, which waits a little for the last time. */
    every(ms: number, act: () => unknown): void {
      let acting: unknown
      const timer = setInterval(() => {
        acting = act()
      }, ms)
      ends.push(() => {
        clearInterval(timer)
        return forAWhile(acting)
      })
    },
    /** Ends all parts, the last one first. A failure does not keep others from ending; the first one is thrown. */
    async endAll(): Promise<void> {
      isEnding = true
      const failures: unknown[] = []
      for (let end = ends.pop(); end !== undefined; end = ends.pop())
        await Promise.resolve()
          .then(end)
          .catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** Starts services, and serves until a signal, or until one cannot continue: then what `start` resolves with rejects. */
export async function serveUntilStopped(
  { untilStopped, terminal }: Runtime,
  start: (started: Started) => Promise<readonly Promise<never>[]>,
): Promise<void> {
  const stopped = untilStopped() // before the addresses are printed: a signal may follow at once
  const started = createStarted()
  try {
    await Promise.race([stopped, ...(await start(started))])
    terminal.note('stopping: running requests end first')
  } finally {
    await started.endAll()
  }
}

/** Starts parts that belong together, all of them or none: rejects with the first error. `stop` ends them. */
export async function startAll<Running>(start: (started: Started) => Promise<Running>) {
  const started = createStarted()
  try {
    return { ...(await start(started)), stop: started.endAll }
  } catch (error) {
    await started.endAll().catch(() => {}) // the first error is reported
    throw error
  }
}

const NOTICED_AFTER_MS = 500

/** A part that ends before its server stops listening: until then `/readyz` answers 503, so that load balancers notice. */
export const untilNoticed = (): Promise<void> => sleep(NOTICED_AFTER_MS)

/** What both services say of themselves; `boundUrl` is used if PUBLIC_BASE_URL is not set. */
export const interfaceSettings = (environment: Environment, boundUrl: string): InterfaceSettings => ({
  publicBaseUrl: environment.PUBLIC_BASE_URL ?? toReachable(boundUrl),
  deprecatedAtMs: environment.DEPRECATED_AT,
  sunsetAtMs: environment.SUNSET_AT,
})

export const allowedOrigins = ({ ALLOWED_ORIGINS }: Environment): ReadonlySet<string> =>
  new Set([...DEVELOPMENT_ORIGINS, ...ALLOWED_ORIGINS])

export function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
