import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { startLocalServer } from '../local-server.ts'
import type { Runtime } from '../runtime.ts'
import { type KeptServer, keepServer } from './keep-server.ts'

/** Where our own Redis keeps its data. */
export const ownRedisFolder = (dataFolder: string): string => join(dataFolder, 'redis')

/**
 * A Redis of our own, where the operator named none: the `redis-server` of this machine, or one that is unpacked under
 * `.servers/`, on a free port of this machine alone. What it has acknowledged lies in the data folder and is there again
 * at the next start. Where it ends by itself it is started again, at the same port; `tell` is told.
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
