// nginx and Varnish as processes of ours, each in a folder with its configuration for a site.
import { type ChildProcess, spawn } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { madeFiles } from './files.ts'
import type { Site } from './site.ts'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = join(ROOT, '.servers/cdn')

/** A server that runs until it is stopped. */
export type Layer = {
  /** `http://127.0.0.1:8090`. */
  readonly url: string
  readonly stop: () => Promise<void>
  /** Resolves when it ended, by itself or because it was stopped. */
  readonly ended: Promise<void>
}

/** Starts nginx for a site, with its files in an existing folder of its own. */
export async function startNginx(folder: string, site: Site): Promise<Layer> {
  await layOut('nginx', join(folder, 'highwater'), site)
  return startServer('nginx-server.sh', [PACKAGES, folder, String(site.nginx.port)])
}

/** Starts Varnish for a site on a port, with its files in an existing folder of its own. */
export async function startVarnish(folder: string, site: Site, port: number): Promise<Layer> {
  await layOut('varnish', folder, site)
  return startVarnishIn(folder, port)
}

/** Starts Varnish on a port with the `highwater.vcl` that lies in a folder. */
export const startVarnishIn = (folder: string, port: number): Promise<Layer> =>
  startServer('varnish-server.sh', [PACKAGES, folder, String(port)])

/** The files that are written by hand, and over them those that are made, for this site. */
async function layOut(server: 'nginx' | 'varnish', folder: string, site: Site): Promise<void> {
  await cp(join(import.meta.dirname, server), folder, { recursive: true })
  for (const { path, text } of madeFiles(site)) {
    if (dirname(path) === server) await writeFile(join(folder, path.slice(server.length)), text)
  }
}

async function startServer(script: string, args: readonly string[]): Promise<Layer> {
  const server = spawn(join(ROOT, 'test/servers', script), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('close', () => resolve())
  })
  const url = await readyAt(server, ended, script)
  server.stdin.once('error', () => {}) // it has ended already, which is what was wanted
  const stop = (): Promise<void> => {
    server.stdin.end()
    return ended
  }
  return { url, stop, ended }
}

function readyAt(server: ChildProcess, ended: Promise<void>, script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const url = /^ready (http:\S+)$/m.exec(printed)?.[1]
      if (url !== undefined) resolve(url)
    })
    ended.then(
      () => reject(new Error(`${script} ended before it was ready; what it said stands above`)),
      reject,
    )
  })
}
