import { createServer } from 'node:net'
import { join } from 'node:path'
import { startLocalServer } from '../local-server.ts'
import type { Surroundings } from '../surroundings.ts'
import { type KeptServer, keepServer } from './keep-server.ts'

/**
 * A Redis of our own, where the operator named none: the `redis-server` of this machine, or one that is unpacked under
 * `.servers/`, on a free port of this machine alone. What it has acknowledged lies in the data folder and is there again
 * at the next start. Where it ends by itself it is started again, at the same port; `tell` is told.
 */
export async function startOwnRedis(
  { root, pause, elapsed }: Pick<Surroundings, 'root' | 'pause' | 'elapsed'>,
  dataFolder: string,
  tell: (line: string) => void,
): Promise<KeptServer> {
  const script = join(root, 'test/servers/redis-server.sh')
  const folder = join(dataFolder, 'redis')
  const args = [join(root, '.servers/redis'), folder, String(await freePort())]
  return keepServer({
    name: 'our Redis',
    start: () => startLocalServer(script, args),
    log: join(folder, 'redis.log'),
    world: { pause, elapsed },
    tell,
  })
}

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
