// nginx and Varnish as processes of ours, each in a folder with its configuration for a site.
import { cp, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type LocalServer, startLocalServer } from '#cli/local-server.ts'
import { madeFiles } from './files.ts'
import type { Site } from './site.ts'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = join(ROOT, '.servers/cdn')

/** A server that runs until it is stopped. */
export type Layer = Omit<LocalServer, 'pid'>

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

const startServer = (script: string, args: readonly string[]): Promise<Layer> =>
  startLocalServer(join(import.meta.dirname, 'servers', script), args)
