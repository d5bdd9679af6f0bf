// A server process that the service needs and runs itself: restarted when it ends unexpectedly.
import type { LocalServer } from '../local-server.ts'
import type { Runtime } from '../runtime.ts'

export type KeptServer = {
  /** The same after every start. */
  readonly url: string
  readonly stop: () => Promise<void>
  /** Rejects once restarting was given up; never resolves. */
  readonly failed: Promise<never>
}

export type KeepOrder = {
  /** For messages: `our Redis`. */
  readonly name: string
  /** Starts it, at the same address each time. */
  readonly start: () => Promise<LocalServer>
  /** Its log file. */
  readonly log: string
  readonly world: Pick<Runtime, 'pause' | 'elapsed'>
  /** Prints each unexpected end. */
  readonly tell: (line: string) => void
}

/** Waits before restarts: a killed server is back at once, one that cannot run gets time. */
export const RESTART_AFTER_MS = [0, 1_000, 5_000] as const

/** After this uptime all restarts are available again. */
export const SOUND_MS = 60_000

/** Starts a server and keeps it running. Rejects if its first start fails. */
export async function keepServer(order: KeepOrder): Promise<KeptServer> {
  let server = await order.start()
  let isStopping = false
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // avoids an unhandled rejection
  const keeping = keep().catch(reject)
  return {
    url: server.url,
    failed,
    async stop() {
      isStopping = true
      await server.stop()
      await keeping
    },
  }

  async function keep(): Promise<void> {
    for (let tries = 0; ; ) {
      const sinceMs = order.world.elapsed()
      await server.ended
      if (order.world.elapsed() - sinceMs >= SOUND_MS) tries = 0
      tries = await startAgain(tries)
      if (isStopping) return server.stop()
    }
  }

  /** Resolves with the number of restarts used; throws after the last one. */
  async function startAgain(triesBefore: number): Promise<number> {
    for (let tries = triesBefore; !isStopping; tries++) {
      const waitMs = RESTART_AFTER_MS[tries]
      if (waitMs === undefined) throw gaveUp(order)
      order.tell(
        `${order.name} ended unexpectedly: restarting it (${tries + 1} of ${RESTART_AFTER_MS.length})`,
      )
      await order.world.pause(waitMs)
      if (isStopping) break
      try {
        server = await order.start()
        return tries + 1
      } catch {
        // the script has printed the reason
      }
    }
    return triesBefore
  }
}

const gaveUp = ({ name, log }: KeepOrder): Error =>
  new Error(
    `${name} ended repeatedly, and without it no signal can be fired or delivered: fix what ${log} reports, ` +
      'and start the service again',
  )
