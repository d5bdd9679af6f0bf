import { createServer } from 'node:net'
import { join } from 'node:path'
import { type LocalServer, startLocalServer } from '../local-server.ts'

/**
 * A Redis of our own, where the operator named none: the `redis-server` of this machine, or one that is unpacked under
 * `.servers/`, on a free port of this machine alone. What it has acknowledged lies in the data folder and is there again
 * at the next start.
 */
export async function startOwnRedis(root: string, dataFolder: string): Promise<LocalServer> {
  const script = join(root, 'test/servers/redis-server.sh')
  const packages = join(root, '.servers/redis')
  return startLocalServer(script, [packages, join(dataFolder, 'redis'), String(await freePort())])
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
