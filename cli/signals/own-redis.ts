import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { startLocalServer } from '../local-server.ts'
import type { Runtime } from '../runtime.ts'
import { type KeptServer, keepServer } from './keep-server.ts'

/** The data folder of the service's own Redis. */
export const ownRedisFolder = (dataFolder: string): string => join(dataFolder, 'redis')

/**
 * Starts the service's own Redis if REDIS_URL is not set: the `redis-server` of this machine, or one unpacked under
 * `.servers/`, on a free port of loopback. Its data is in the data folder and is there again at the next start. It is
 * restarted at the same port when it ends unexpectedly; `tell` prints that.
 */
export async function startOwnRedis(
  { root, pause, elapsed }: Pick<Runtime, 'root' | 'pause' | 'elapsed'>,
  dataFolder: string,
  tell: (line: string) => void,
): Promise<KeptServer> {
  const script = join(root, 'deploy/servers/redis-server.sh')
  const folder = ownRedisFolder(dataFolder)
  const args = [join(root, '.servers/redis'), folder, String(await freePort())]
  return keepServer({
    name: 'our Redis',
    start: () => startLocalServer(script, args),
    log: join(folder, 'redis.log'),
    world: { pause, elapsed },
    tell,
  })
}
