// nginx and Varnish as processes, each in a folder with its configuration for a site.
import { join } from 'node:path'
import { copyFor, type Site, varnishValues, writeNginx } from '#cli/services/edge/site.ts'
import { type LocalServer, startLocalServer } from '#cli/services/local-server.ts'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = join(ROOT, '.servers/cdn')

export type Layer = Omit<LocalServer, 'pid'>

/** Starts nginx for a site, with its files in an existing folder of its own. */
export async function startNginx(folder: string, site: Site): Promise<Layer> {
  const configuration = join(folder, 'highwater')
  await writeNginx(ROOT, configuration, site)
  return startServer('nginx-server.sh', [PACKAGES, folder, String(site.nginx.port), site.store])
}

/** Starts Varnish for a site on a port, with its files in an existing folder of its own. */
export async function startVarnish(folder: string, site: Site, port: number): Promise<Layer> {
  await copyFor(site, join(import.meta.dirname, 'varnish'), folder, ['site.vcl'], varnishValues)
  return startVarnishIn(folder, port)
}

/** Starts Varnish on a port with the `highwater.vcl` in a folder. */
export const startVarnishIn = (folder: string, port: number): Promise<Layer> =>
  startServer('varnish-server.sh', [PACKAGES, folder, String(port)])

const startServer = (script: string, args: readonly string[]): Promise<Layer> =>
  startLocalServer(join(import.meta.dirname, 'servers', script), args)
