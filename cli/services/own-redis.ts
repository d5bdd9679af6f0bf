// The service's own Redis: restarted when it ends unexpectedly.
import { join } from 'node:path'
import { ownRedisFolder, ownRedisUrl, publishRedisUrl } from '../outside/redis-url.ts'
import type { Runtime } from '../runtime.ts'
import { freePort } from './free-port.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'

/**
 * Starts the service's own Redis, and publishes its address: the `redis-server` of this machine, or one unpacked under `.servers/`,
 * on loopback, on the port of its last start if that is free, with its data in the data folder. It is restarted there when it ends
 * unexpectedly, which `note` prints. Rejects if another process runs a Redis in the data folder.
 */
export async function startOwnRedis(runtime: Runtime, dataFolder: string, note: (line: string) => void) {
  const script = join(runtime.root, 'deploy/servers/redis-server.sh')
  const folder = ownRedisFolder(dataFolder)
  const last = await ownRedisUrl(dataFolder)
  const other = String(await freePort())
  let ports = last === null ? [other] : [new URL(last).port, other]
  const start = async (): Promise<LocalServer> => {
    const server = await startLocalServer(script, [join(runtime.home, '.servers/redis'), folder, ...ports])
    ports = [new URL(server.url).port]
    return server
  }
  const kept = await keepServer({ start, log: join(folder, 'redis.log'), runtime, note })
  await publishRedisUrl(dataFolder, kept.url).catch(async (error: unknown) => {
    await kept.stop()
    throw error
  })
  return kept
}

type KeepOrder = {
  /** Starts it, at the same address each time. */
  readonly start: () => Promise<LocalServer>
  readonly log: string
  readonly runtime: Pick<Runtime, 'pause' | 'elapsed'>
  readonly note: (line: string) => void
}

/** Waits before restarts: a killed server is back at once, one that cannot run gets time. */
export const RESTART_AFTER_MS = [0, 1_000, 5_000] as const

/** After this uptime all restarts are available again. */
export const SOUND_MS = 60_000

/** Starts a server and keeps it running. Rejects if its first start fails. */
export async function keepServer({ start, log, runtime, note }: KeepOrder) {
  const { elapsed, pause } = runtime
  let server = await start()
  let isStopping = false
  const keep = async (): Promise<void> => {
    for (let tries = 0; !isStopping; tries++) {
      const sinceMs = elapsed()
      await server.ended
      if (elapsed() - sinceMs >= SOUND_MS) tries = 0
      if (isStopping) break
      const waitMs = RESTART_AFTER_MS[tries]
      if (waitMs === undefined)
        throw new Error(
          `our Redis ended repeatedly, and without it no signal can be fired or delivered: fix what ${log} reports, and ` +
            'start the service again',
        )
      note(`our Redis ended unexpectedly: restarting it (${tries + 1} of ${RESTART_AFTER_MS.length})`)
      await pause(waitMs)
      if (!isStopping) server = await start().catch(() => server) // the script has printed the reason
    }
    await server.stop()
  }
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {}) // avoids an unhandled rejection
  const keeping = keep().catch(reject)
  return {
    /** The same after every start. */
    url: server.url,
    /** Rejects once restarting was given up; never resolves. */
    failed,
    async stop(): Promise<void> {
      isStopping = true
      await server.stop()
      await keeping
    },
  }
}
