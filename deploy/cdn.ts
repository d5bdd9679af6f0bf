// `make cdn`: the history service behind nginx and Varnish, on this machine, until Ctrl-C.
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toSite } from '#cli/commands/nginx.ts'
import { startLocalServer } from '#cli/services/local-server.ts'
import { readEnvironment } from '#cli/settings/environment.ts'
import { messageOf } from '#storage/error-code.ts'
import { type Layer, startNginx, startVarnish } from './layers.ts'

const ROOT = join(import.meta.dirname, '..')
const NGINX_PORT = 8090
const VARNISH_PORT = 8088

const stopped = new Promise<string>(resolve => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
})
process.exitCode = await runChain().catch(error => {
  console.error(`highwater: ${messageOf(error)}`)
  return 1
})

/** Starts all of them, and ends all when one ends or a signal comes. Resolves with the exit code. */
async function runChain(): Promise<number> {
  const environment = readEnvironment({ env: process.env, home: ROOT })
  const settled = toSite(environment, { tls: null, nginx: { host: '127.0.0.1', port: NGINX_PORT } })
  await using started = new AsyncDisposableStack()
  const newFolder = async (name: string): Promise<string> =>
    started.use(await mkdtempDisposable(join(tmpdir(), `highwater-${name}-`))).path
  const command = [join(ROOT, 'cli/highwater.ts'), 'run', '--history-only']
  // It publishes the sample book if nothing is published.
  const starting = startLocalServer(process.execPath, command, {
    endsBySignal: true,
    name: 'the history service',
    ready: /^history service on (http:\/\/\S+)$/,
    print: line => console.log(line),
  })
  started.defer(() =>
    starting.then(
      tier => tier.stop(),
      () => {}, // what it waits for has the error
    ),
  )
  const tier = await Promise.race([starting, stopped])
  if (typeof tier === 'string') return 0 // Ctrl-C came early
  const { hostname: host, port } = new URL(tier.url)
  const site = { ...settled, tier: { host, port: Number(port) } }
  const nginx = await startNginx(await newFolder('nginx'), site)
  started.defer(nginx.stop)
  const varnish = await startVarnish(await newFolder('varnish'), site, VARNISH_PORT)
  started.defer(varnish.stop)
  printAddresses(tier, nginx, varnish)
  const endings = [tier, nginx, varnish].map(({ ended }) => ended.then(() => null))
  return (await Promise.race([stopped, ...endings])) === null ? 1 : 0
}

function printAddresses(tier: Layer, nginx: Layer, varnish: Layer): void {
  console.log('')
  console.log(`history  on ${tier.url}    the tier: computes answers`)
  console.log(`nginx    on ${nginx.url}    published files from disk, everything else from the tier`)
  console.log(`Varnish  on ${varnish.url}    the CDN: send requests here`)
  console.log('')
  console.log('try, twice:')
  console.log(
    `  curl -sD- -o /dev/null --compressed ${varnish.url}/v1/strategies | grep -i -E 'age|varnish|content-'`,
  )
}
