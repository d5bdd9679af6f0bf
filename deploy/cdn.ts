// `make cdn`: the history service behind nginx and Varnish, on this machine, until Ctrl-C.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEVELOPMENT_ORIGINS } from '#api/http/headers.ts'
import { EXAMPLE_SITE, type Site } from '#cli/services/edge/site.ts'
import { dataFolder, parseEnvironment } from '#cli/settings/environment.ts'
import { type Layer, startNginx, startTier, startVarnish } from './layers.ts'

const ROOT = join(import.meta.dirname, '..')
const LOOPBACK = '127.0.0.1'
const LARGEST_PORT = 65_535

const stopped = new Promise<string>(resolve => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
})
const folders = await Promise.all(
  ['nginx', 'varnish'].map(name => mkdtemp(join(tmpdir(), `highwater-${name}-`))),
)
process.exitCode = await runChain().catch(error => {
  console.error(`highwater: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
for (const folder of folders) await rm(folder, { recursive: true, force: true })

/** Starts all of them, and ends all when one ends or a signal comes. Resolves with the exit code. */
async function runChain(): Promise<number> {
  const environment = parseEnvironment(process.env, dataFolder(ROOT, process.env))
  const store = folderOf(environment.STORE_URL)
  const [nginxPort, varnishPort] = [portIn('NGINX_PORT', 8090), portIn('VARNISH_PORT', 8088)]
  const tier = startTier(process.env, console.log)
  const layers: Layer[] = []
  const [nginxFolder = '', varnishFolder = ''] = folders
  try {
    const address = await Promise.race([tier.address, tier.ended, stopped])
    if (typeof address !== 'object') return address === undefined ? 1 : 0 // the tier printed why, or Ctrl-C came early
    const site: Site = {
      store,
      tier: address,
      tls: null,
      nginx: { host: LOOPBACK, port: nginxPort },
      allowedOrigins: [...DEVELOPMENT_ORIGINS, ...environment.ALLOWED_ORIGINS],
      trustedProxies: [...EXAMPLE_SITE.trustedProxies, ...environment.TRUSTED_PROXIES],
      deprecatedAtMs: environment.DEPRECATED_AT,
      sunsetAtMs: environment.SUNSET_AT,
    }
    const nginx = await startNginx(nginxFolder, site)
    layers.push(nginx)
    const varnish = await startVarnish(varnishFolder, site, varnishPort)
    layers.push(varnish)
    printAddresses(nginx, varnish)
    const endings = [tier, ...layers].map(({ ended }) => ended.then(() => null))
    return (await Promise.race([stopped, ...endings])) === null ? 1 : 0
  } finally {
    for (const layer of layers.toReversed()) await layer.stop()
    await tier.stop()
  }
}

function folderOf(storeUrl: string): string {
  if (storeUrl.startsWith('file:')) return fileURLToPath(storeUrl)
  throw new Error(`nginx serves the files of a folder: STORE_URL must begin with file://, and is ${storeUrl}`)
}

function portIn(name: string, byDefault: number): number {
  const text = process.env[name] || String(byDefault)
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port <= LARGEST_PORT) return port
  throw new Error(`${name} must be a port from 1 to ${LARGEST_PORT}, and is ${JSON.stringify(text)}`)
}

function printAddresses(nginx: Layer, varnish: Layer): void {
  console.log('')
  console.log(`nginx    on ${nginx.url}    published files from disk, everything else from the tier`)
  console.log(`Varnish  on ${varnish.url}    the CDN: send requests here`)
  console.log('')
  console.log('try, twice:')
  console.log(
    `  curl -sD- -o /dev/null --compressed ${varnish.url}/v1/strategies | grep -i -E 'age|varnish|content-'`,
  )
}
