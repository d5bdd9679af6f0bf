// A real S3 server, on a port of its own, that ends with who started it.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { S3Access } from '#storage/s3-access.ts'

/** How a server of ours is reached; its address and its keys are both there. */
export type ServerAccess = S3Access & {
  readonly endpoint: string
  readonly credentials: NonNullable<S3Access['credentials']>
}

export type S3Server = { readonly access: ServerAccess; readonly stop: () => Promise<void> }

const ROOT = join(import.meta.dirname, '../..')
const SCRIPT = join(ROOT, 'test/servers/s3-server.sh')
const PACKAGES = join(ROOT, '.servers/ceph')

const KEYS = { accessKeyId: 'test', secretAccessKey: 'testing' }

/** The server takes its port and the two after it. */
const PORTS = 3

/** Starts a server, and unpacks its packages where they are not yet. Its objects are gone when it stops. */
export async function startS3Server(): Promise<S3Server> {
  const folder = mkdtempSync('/tmp/s3-') // short: Unix sockets lie in it
  const port = await freePorts()
  const { accessKeyId, secretAccessKey } = KEYS
  const server = spawn(SCRIPT, [PACKAGES, folder, String(port), accessKeyId, secretAccessKey], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => server.once('close', () => resolve()))
  const endpoint = await readyAt(server, ended)
  return {
    access: { endpoint, region: 'us-east-1', credentials: KEYS },
    stop: async () => {
      server.stdin.end()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function readyAt(server: ChildProcess, ended: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const url = /^ready (http:\S+)/m.exec(text)?.[1]
      if (url !== undefined) resolve(url)
    })
    ended.then(() => reject(new Error('the S3 server of the tests ended before it was ready')))
  })
}

/** The first of some neighbouring ports that nobody listens on. */
async function freePorts(): Promise<number> {
  for (;;) {
    const first = await listenBriefly(0)
    const rest = Array.from({ length: PORTS - 1 }, (_, i) => first + 1 + i)
    if ((await Promise.allSettled(rest.map(listenBriefly))).every(({ status }) => status === 'fulfilled')) {
      return first
    }
  }
}

function listenBriefly(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}
