// A real Redis for one test file: its own port, its own folder, durable as the product demands, and it can be killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { freePort } from '#cli/services/free-port.ts'
import { type LocalServer, startLocalServer } from '#cli/services/local-server.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { whenFree } from './when-free.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SCRIPT = join(ROOT, 'deploy/servers/redis-server.sh')
const PACKAGES = join(ROOT, '.servers/redis')

export type TestRedis = {
  readonly url: string
  /** Where it keeps its append-only file. */
  readonly folder: string
  /** A new connection, which is up; closed when the server stops. */
  connect(): Promise<Redis>
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>
  /** Resolves when it has ended by itself. */
  ended(): Promise<void>
  /** Starts it again on the same port with what is on the disk. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a server, and unpacks it where this machine has none. `within` is a command that runs it in a place of its own,
 * where `folder` may be another one than out here.
 */
export async function startTestRedis(
  folder: string = newRedisFolder(),
  within: readonly string[] = [],
): Promise<TestRedis> {
  const start = (port: number): Promise<LocalServer> => {
    const [command = SCRIPT, ...args] = [...within, SCRIPT, PACKAGES, folder, String(port)]
    return startLocalServer(command, args)
  }
  const connections: Redis[] = []
  let server = await whenFree(async () => start(await freePort()))
  const { url } = server
  return {
    url,
    folder,
    async connect() {
      const redis = connectRedis(url, () => {})
      connections.push(redis)
      await redis.connect()
      return redis
    },
    async kill() {
      if (server.pid !== null) process.kill(server.pid, 'SIGKILL')
      await server.stop()
    },
    ended: () => server.ended,
    async restart() {
      server = await whenFree(() => start(Number(new URL(url).port)))
    },
    async stop() {
      for (const redis of connections) redis.disconnect()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A folder for a server, which removes it when it stops. */
export const newRedisFolder = (): string => mkdtempSync(join(tmpdir(), 'highwater-redis-'))
