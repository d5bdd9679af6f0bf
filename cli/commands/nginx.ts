import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEVELOPMENT_ORIGINS } from '#api/service/headers.ts'
import { define, flag, type OptionsOf, option } from '../options/command.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import { type Address, type Site, type Tls, writeNginx } from '../services/edge/site.ts'
import { type Environment, readEnvironment } from '../settings/environment.ts'
import { readBy, text } from '../settings/text.ts'

const ABOUT = `
It reads STORE_URL, HOST, HISTORY_PORT, SIGNALS_PORT, PUBLIC_BASE_URL, ALLOWED_ORIGINS, TRUSTED_PROXIES, DEPRECATED_AT and
SUNSET_AT, and writes the whole folder again each time. FOLDER/serve.sh runs nginx, and reloads it after each publication and
whenever the certificate is replaced. Debian: apt-get install nginx-light libnginx-mod-http-brotli-static

Examples:
  highwater nginx /etc/highwater/nginx
  highwater nginx /etc/highwater/nginx --certificate /etc/highwater/tls/fullchain.pem --key /etc/highwater/tls/privkey.pem
  highwater nginx ./nginx --certificate ./cert.pem --key ./key.pem --name data.example.org:8443 --listen 127.0.0.1:8443`

/** Where a server listens, or is reached. */
const address = readBy((given): Address | null => {
  const [, host, port] = /^([a-z\d.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(given) ?? []
  const isPort = Number(port) > 0 && Number(port) < 65_536
  return host !== undefined && isPort ? { host, port: Number(port) } : null
}, 'an address and a port such as 127.0.0.1:8090')

const A_NAME = 'a host name such as signals.example.org'

const OPTIONS = {
  listen: option(
    '<address>',
    'where it listens (default: 127.0.0.1:8090, or with a certificate 0.0.0.0:443)',
    address,
  ),
  certificate: option('<file>', 'the certificate of all names, with its chain: it serves HTTPS'),
  key: option('<file>', 'the key of the certificate'),
  http: option(
    '<address>',
    'with a certificate, where plain HTTP is redirected to HTTPS (default: 0.0.0.0:80)',
    address,
  ),
  acme: option('<dir>', 'with a certificate, the folder of ACME challenges (default: DIR/acme)'),
  name: option(
    '<name>',
    'with a certificate, the public name of the history service, with its port if that is not 443 (default: that of PUBLIC_BASE_URL)',
  ),
  signalsName: option(
    '<name>',
    'with a certificate, the host name of the signals service',
    text.regex(/^[a-z0-9.-]+$/i).describe(A_NAME),
  ),
  history: option(
    '<address>',
    'where it reaches the history service (default: HOST and HISTORY_PORT)',
    address,
  ),
  signals: option(
    '<address>',
    'where it reaches the signals service (default: HOST and SIGNALS_PORT)',
    address,
  ),
  json: flag('print folder, listen and store as one JSON document'),
}

type Options = OptionsOf<typeof OPTIONS>

export const defineNginx = define(OPTIONS, ABOUT, write, { '<dir>': 'the folder of the configuration' })

async function write(options: Options, runtime: Runtime, dir = ''): Promise<void> {
  const { cwd, root, terminal } = runtime
  const environment = readEnvironment(runtime)
  const { HOST, HISTORY_PORT } = environment
  const folder = resolve(cwd, dir)
  const tls = toTls(options, folder, environment, cwd)
  const usual = tls === null ? { host: '127.0.0.1', port: 8090 } : { host: '0.0.0.0', port: 443 }
  const nginx = options.listen ?? usual
  const site = toSite(environment, { tls, nginx })
  await writeNginx(root, folder, { ...site, tier: options.history ?? reached(HOST, HISTORY_PORT) })
  const { store } = site
  const listen = `${nginx.host}:${nginx.port}`
  const line = `nginx for ${store} on ${listen}: run ${join(folder, 'serve.sh')}`
  terminal.result(options.json, { folder, listen, store }, [line])
}

/** The site of an environment, but for its tier. Throws a UsageError if its store is no folder. */
export function toSite(environment: Environment, own: Pick<Site, 'tls' | 'nginx'>): Omit<Site, 'tier'> {
  const { STORE_URL, ALLOWED_ORIGINS, TRUSTED_PROXIES, DEPRECATED_AT, SUNSET_AT } = environment
  if (!STORE_URL.startsWith('file:'))
    throw new UsageError(
      `nginx serves a folder, and STORE_URL is ${STORE_URL}: leave nginx out, and put a CDN in front of the history service`,
    )
  return {
    ...own,
    store: fileURLToPath(STORE_URL),
    allowedOrigins: [...ALLOWED_ORIGINS, ...DEVELOPMENT_ORIGINS],
    trustedProxies: [...new Set(['127.0.0.1', '::1', ...TRUSTED_PROXIES])],
    deprecatedAtMs: DEPRECATED_AT,
    sunsetAtMs: SUNSET_AT,
  }
}

function toTls(options: Options, folder: string, environment: Environment, cwd: string): Tls | null {
  const { certificate, key, http, acme, signalsName, signals } = options
  if (certificate === undefined && key === undefined) {
    if (signalsName === undefined) return null
    throw new UsageError(
      '--signals-name needs --certificate and --key: keys of clients are not sent in the clear',
    )
  }
  if (certificate === undefined || key === undefined)
    throw new UsageError('--certificate and --key belong together: give both')
  const missing = [resolve(cwd, certificate), resolve(cwd, key)].find(path => !existsSync(path))
  if (missing !== undefined)
    throw new UsageError(
      `there is no ${missing}: a self-signed certificate serves until an ACME client has a real one, see docs/installing.md`,
    )
  const service = signals ?? reached(environment.HOST, environment.SIGNALS_PORT)
  return {
    certificate: resolve(cwd, certificate),
    key: resolve(cwd, key),
    name: historyName(options.name, environment.PUBLIC_BASE_URL),
    plain: http ?? { host: '0.0.0.0', port: 80 },
    acme: resolve(cwd, acme ?? join(folder, 'acme')),
    signals: signalsName === undefined ? null : { name: signalsName, service },
  }
}

/** The name that plain HTTP is redirected to: what a request says of its host was chosen by its client. */
function historyName(given: string | undefined, publicBaseUrl: string | null): string {
  const url = URL.parse(publicBaseUrl ?? '')
  const name = given ?? (url?.protocol === 'https:' ? url.host : url?.hostname) ?? ''
  if (/^[a-z0-9.-]+(?::\d{1,5})?$/i.test(name)) return name
  throw new UsageError(`--name, or PUBLIC_BASE_URL: expected ${A_NAME}, got '${name}'`)
}

/** Where a service that is bound to `host` is reached from this machine. */
function reached(host: string, port: number): Address {
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return { host: local.includes(':') ? `[${local}]` : local, port }
}
