// A server that we run beside ourselves and cannot do without: where it ends by itself it is started again.
import type { LocalServer } from '../local-server.ts'
import type { Runtime } from '../runtime.ts'

export type KeptServer = {
  /** The same after every start. */
  readonly url: string
  readonly stop: () => Promise<void>
  /** Rejects with a sentence once it was given up; never resolves. */
  readonly failed: Promise<never>
}

export type KeepOrder = {
  /** What people call it: `our Redis`. */
  readonly name: string
  /** Starts it, at the same address each time. */
  readonly start: () => Promise<LocalServer>
  /** Where it says why it ended. */
  readonly log: string
  readonly world: Pick<Runtime, 'pause' | 'elapsed'>
  /** Tells people of every end. */
  readonly tell: (line: string) => void
}

/** Waits before the next start: who is killed once is back at once, who cannot live has had time to. */
export const RESTART_AFTER_MS = [0, 1_000, 5_000] as const

/** One that lived so long was sound: it has all of its starts again. */
export const SOUND_MS = 60_000

/** Starts a server and keeps it. Rejects where its first start fails. */
export async function keepServer(order: KeepOrder): Promise<KeptServer> {
  let server = await order.start()
  let isStopping = false
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // an end of the process that nobody waits for is none of ours
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

  /** Resolves with how many starts it has had; throws where it has had the last one. */
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
        // the script has said why
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
