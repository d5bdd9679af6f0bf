// A real S3 server on a port of its own, which ends with the process that started it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { probe } from '#cli/services/free-port.ts'
import { startLocalServer } from '#cli/services/local-server.ts'
import type { S3Access } from '#storage/s3-access.ts'

/** How a server of ours is reached; its address and its keys are both there. */
export type ServerAccess = S3Access & {
  readonly endpoint: string
  readonly credentials: NonNullable<S3Access['credentials']>
}

export type S3Server = { readonly access: ServerAccess; readonly stop: () => Promise<void> }

const ROOT = join(import.meta.dirname, '../../..')
const SCRIPT = join(ROOT, 'deploy/servers/s3-server.sh')
const PACKAGES = join(ROOT, '.servers/ceph')

const KEYS = { accessKeyId: 'test', secretAccessKey: 'testing' }

/** The server takes its port and the two after it, below those that tests draw: none is taken before it listens. */
const PORTS = 3
const FIRST_PORT = 10_000
const MOST_SERVERS = 333

/** Starts a server, and unpacks its packages where they are not yet. Its objects are gone when it stops. */
export async function startS3Server(): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : '/tmp', 's3-')) // short: Unix sockets lie in it
  const port = await freePorts()
  const { accessKeyId, secretAccessKey } = KEYS
  const args = [PACKAGES, folder, String(port), accessKeyId, secretAccessKey]
  const { url: endpoint, stop } = await startLocalServer(SCRIPT, args)
  return {
    access: { endpoint, region: 'us-east-1', credentials: KEYS },
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The first of some neighbouring free ports. */
async function freePorts(): Promise<number> {
  for (let draw = process.pid; ; draw++) {
    const first = FIRST_PORT + PORTS * (draw % MOST_SERVERS)
    const looks = Array.from({ length: PORTS }, (_, i) => probe(first + i))
    if ((await Promise.allSettled(looks)).every(({ status }) => status === 'fulfilled')) return first
  }
}
