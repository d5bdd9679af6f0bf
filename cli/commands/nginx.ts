import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { DEVELOPMENT_ORIGINS } from '#api/http/headers.ts'
import type { Runtime } from '../runtime.ts'
import type { Address, Tls } from '../services/edge/site.ts'
import { writeNginx } from '../services/edge/write-nginx.ts'
import { type Environment, readEnvironment, UsageError } from '../settings/environment.ts'

type Options = {
  readonly listen?: string
  readonly certificate?: string
  readonly key?: string
  readonly http: string
  readonly acme?: string
  readonly name?: string
  readonly signalsName?: string
  readonly history?: string
  readonly signals?: string
  readonly json?: boolean
}

const ABOUT = `
It reads STORE_URL, HOST, HISTORY_PORT, SIGNALS_PORT, PUBLIC_BASE_URL, ALLOWED_ORIGINS, TRUSTED_PROXIES, DEPRECATED_AT and
SUNSET_AT, and writes the whole folder again each time. FOLDER/serve.sh runs nginx, and reloads it after each publication and
whenever the certificate is replaced. Debian: apt-get install nginx-light libnginx-mod-http-brotli-static

Examples:
  highwater nginx /etc/highwater/nginx
  highwater nginx /etc/highwater/nginx --certificate /etc/highwater/tls/fullchain.pem --key /etc/highwater/tls/privkey.pem
  highwater nginx ./nginx --certificate ./cert.pem --key ./key.pem --name data.example.org:8443 --listen 127.0.0.1:8443`

/** `highwater nginx DIR`: writes the configuration of nginx for this installation. */
export function defineNginx(command: Command, runtime: Runtime): void {
  command
    .argument('<dir>', 'the folder of the configuration')
    .option(
      '--listen <address>',
      'where it listens (default: 127.0.0.1:8090, or with a certificate 0.0.0.0:443)',
    )
    .option('--certificate <file>', 'the certificate of all names, with its chain: it serves HTTPS')
    .option('--key <file>', 'the key of the certificate')
    .option('--http <address>', 'with a certificate, where plain HTTP is redirected to HTTPS', '0.0.0.0:80')
    .option('--acme <dir>', 'with a certificate, the folder of ACME challenges (default: DIR/acme)')
    .option(
      '--name <name>',
      'with a certificate, the public name of the history service, with its port if that is not 443 (default: that of PUBLIC_BASE_URL)',
    )
    .option('--signals-name <name>', 'with a certificate, the host name of the signals service')
    .option('--history <address>', 'where it reaches the history service (default: HOST and HISTORY_PORT)')
    .option('--signals <address>', 'where it reaches the signals service (default: HOST and SIGNALS_PORT)')
    .option('--json', 'print folder, listen and store as one JSON document')
    .addHelpText('after', ABOUT)
    .action((dir: string, options: Options) => write(dir, options, runtime))
}

async function write(dir: string, options: Options, runtime: Runtime): Promise<void> {
  const { cwd, root, terminal } = runtime
  const environment = readEnvironment(runtime)
  const folder = resolve(cwd, dir)
  const tls = toTls(options, folder, environment, cwd)
  const listen = options.listen ?? (tls === null ? '127.0.0.1:8090' : '0.0.0.0:443')
  const store = folderOf(environment.storeUrl)
  await writeNginx(root, folder, {
    store,
    tls,
    nginx: toAddress('--listen', listen),
    tier:
      options.history === undefined
        ? reached(environment.host, environment.historyPort)
        : toAddress('--history', options.history),
    allowedOrigins: [...environment.allowedOrigins, ...DEVELOPMENT_ORIGINS],
    trustedProxies: [...new Set(['127.0.0.1', '::1', ...environment.signals.trustedProxies])],
    deprecatedAtMs: environment.deprecatedAtMs,
    sunsetAtMs: environment.sunsetAtMs,
  })
  if (options.json) terminal.json({ folder, listen, store })
  else terminal.print(`nginx for ${store} on ${listen}: run ${join(folder, 'serve.sh')}`)
}

function toTls(
  { certificate, key, http, acme, name, signalsName, signals: elsewhere }: Options,
  folder: string,
  { host, signals, publicBaseUrl }: Environment,
  cwd: string,
): Tls | null {
  if (certificate === undefined && key === undefined) {
    if (signalsName === undefined) return null
    throw new UsageError(
      '--signals-name needs --certificate and --key: keys of clients are not sent in the clear',
    )
  }
  if (certificate === undefined || key === undefined)
    throw new UsageError('--certificate and --key belong together: give both')
  const [certificatePath, keyPath] = [resolve(cwd, certificate), resolve(cwd, key)]
  for (const path of [certificatePath, keyPath]) {
    if (!existsSync(path))
      throw new UsageError(
        `there is no ${path}: a self-signed certificate serves until an ACME client has a real one, see docs/installing.md`,
      )
  }
  if (signalsName !== undefined) assertName('--signals-name', signalsName, /^[a-z0-9.-]+$/i)
  const service = elsewhere === undefined ? reached(host, signals.port) : toAddress('--signals', elsewhere)
  return {
    certificate: certificatePath,
    key: keyPath,
    name: historyName(name, publicBaseUrl),
    plain: toAddress('--http', http),
    acme: acme === undefined ? join(folder, 'acme') : resolve(cwd, acme),
    signals: signalsName === undefined ? null : { name: signalsName, service },
  }
}

/** The name that plain HTTP is redirected to: what a request says of its host was chosen by its client. */
function historyName(name: string | undefined, publicBaseUrl: string | null): string {
  const url = URL.parse(publicBaseUrl ?? '')
  const known = name ?? (url?.protocol === 'https:' ? url.host : url?.hostname) ?? ''
  assertName('--name, or PUBLIC_BASE_URL', known, /^[a-z0-9.-]+(?::\d{1,5})?$/i)
  return known
}

function assertName(option: string, name: string, form: RegExp): void {
  if (!form.test(name))
    throw new UsageError(`${option}: expected a host name such as signals.example.org, got '${name}'`)
}

/** nginx serves files. */
function folderOf(storeUrl: string): string {
  if (storeUrl.startsWith('file:')) return fileURLToPath(storeUrl)
  throw new UsageError(
    `nginx serves a folder, and STORE_URL is ${storeUrl}: leave nginx out, and put a CDN in front of the history service`,
  )
}

/** Where a service that is bound to `host` is reached from this machine. */
function reached(host: string, port: number): Address {
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return { host: local.includes(':') ? `[${local}]` : local, port }
}

function toAddress(option: string, text: string): Address {
  const [, host, port] = /^([a-z\d.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(text) ?? []
  if (host !== undefined && Number(port) > 0 && Number(port) < 65_536) return { host, port: Number(port) }
  throw new UsageError(`${option}: expected an address and a port such as 127.0.0.1:8090, got '${text}'`)
}
