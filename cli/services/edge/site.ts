import { appendFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEVELOPMENT_ORIGINS, deprecationHeaders } from '#api/service/headers.ts'

export type Address = { readonly host: string; readonly port: number }

/** How nginx ends TLS. Paths are absolute. */
export type Tls = {
  readonly certificate: string
  readonly key: string
  /** The public name of the history service, with its port if that is not 443: plain HTTP is redirected there. */
  readonly name: string
  /** Where plain HTTP is redirected to HTTPS. */
  readonly plain: Address
  /** Folder of the answers to an ACME server, which asks for them by plain HTTP. */
  readonly acme: string
  /** The signals service and the name under which it is reached; null if nginx does not pass requests on to it. */
  readonly signals: { readonly name: string; readonly service: Address } | null
}

/** What differs between installations: the content of the files that an operator edits. */
export type Site = {
  readonly store: string
  readonly tier: Address
  readonly nginx: Address
  /** Null if nginx answers plain HTTP, for a proxy or CDN in front of it. */
  readonly tls: Tls | null
  /** Origins of web pages that may read the service, as ALLOWED_ORIGINS of the tier. */
  readonly allowedOrigins: readonly string[]
  /** Addresses and networks of the proxies and CDNs in front of nginx, as TRUSTED_PROXIES of the signals service. */
  readonly trustedProxies: readonly string[]
  /** As DEPRECATED_AT and SUNSET_AT of the tier, epoch ms. */
  readonly deprecatedAtMs: number | null
  readonly sunsetAtMs: number | null
}

/** The site of the committed files, which the files of every other are made of: everything on one machine. */
export const EXAMPLE_SITE: Site = {
  store: '/var/lib/highwater/store',
  tier: { host: '127.0.0.1', port: 8080 },
  nginx: { host: '127.0.0.1', port: 8090 },
  tls: null,
  allowedOrigins: ['https://www.example.org', ...DEVELOPMENT_ORIGINS],
  trustedProxies: ['127.0.0.1', '::1'],
  deprecatedAtMs: null,
  sunsetAtMs: null,
}

/** Writes the configuration of nginx for a site, with the script that runs it, into a folder. `root` is that of the project. */
export async function writeNginx(root: string, folder: string, site: Site): Promise<void> {
  const names = ['listen.conf', 'site.conf', 'proxies.conf']
  await copyFor(site, join(root, 'deploy/nginx'), folder, names, nginxValues)
  const headers = Object.entries(deprecationHeaders(site))
  const lines = headers.map(([name, value]) => `add_header ${name} ${quoted(value)};\n`)
  await appendFile(join(folder, 'deprecation.conf'), lines.join(''))
  const { tls } = site
  await writeFile(join(folder, 'tls.conf'), tls === null ? '' : renderTlsConf({ ...site, tls }))
}

/** Copies a folder of configuration in whose files `names` the values of the example site stand. Throws if one does not. */
export async function copyFor(
  site: Site,
  from: string,
  folder: string,
  names: readonly string[],
  valuesOf: (site: Site) => readonly string[],
): Promise<void> {
  const texts = await Promise.all(names.map(name => readFile(join(from, name), 'utf8')))
  const lost = valuesOf(EXAMPLE_SITE).find(value => !texts.some(text => text.includes(value)))
  if (lost !== undefined)
    throw new Error(
      `${from} was edited: none of ${names.join(', ')} has '${lost}'; restore it from the package, and edit a copy`,
    )
  await cp(from, folder, { recursive: true })
  for (const [i, name] of names.entries()) await writeFile(join(folder, name), textFor(site, texts[i]!))
}

/** A committed text with the values of a site in the place of those of the example. */
export function textFor(site: Site, text: string): string {
  const own = valuesOf(site)
  return valuesOf(EXAMPLE_SITE).reduce((rest, example, i) => rest.replaceAll(example, () => own[i]!), text)
}

const valuesOf = (site: Site): readonly string[] => [...nginxValues(site), ...varnishValues(site)]

/** How the committed files spell what differs between sites, each in another way. */
const nginxValues = ({ nginx, tls, tier, store, allowedOrigins, trustedProxies }: Site) => [
  tls === null ? `listen ${nginx.host}:${nginx.port};` : secureListen(nginx, tls).join('\n'),
  quoted(store).slice(0, -1), // paths below it, too
  `server ${tier.host}:${tier.port} `,
  patternOf(allowedOrigins),
  trustedProxies.map(proxy => `set_real_ip_from ${proxy};`).join('\n'),
]

export const varnishValues = ({ nginx }: Site): readonly string[] => [
  `.host = "${nginx.host}";`,
  `.port = "${nginx.port}";`,
]

/** Requests with any other name than that of the signals service get the history. */
const secureListen = ({ host, port }: Address, { certificate, key }: Tls, isDefault = true): string[] => [
  `listen ${host}:${port} ssl http2${isDefault ? ' default_server' : ''};`,
  `ssl_certificate ${quoted(certificate)};`,
  `ssl_certificate_key ${quoted(key)};`,
]

/** `tls.conf`: plain HTTP is redirected to the names of the services, and the signals service has one of its own. */
function renderTlsConf({ nginx, tls }: Site & { readonly tls: Tls }): string {
  const { name, plain, acme, signals } = tls
  const port = /:\d+$/.exec(name)?.[0] ?? ''
  return [
    'ssl_protocols TLSv1.2 TLSv1.3;',
    'ssl_session_cache shared:highwater:10m;',
    '',
    '# Not to the header Host, which the client chose.',
    'map $host $secure_name {',
    `  default ${name};`,
    ...(signals === null ? [] : [`  ${signals.name} ${signals.name}${port};`]),
    '}',
    '',
    'server {',
    `  listen ${plain.host}:${plain.port};`,
    '  server_tokens off;',
    `  location /.well-known/acme-challenge/ { root ${quoted(acme)}; }`,
    `  location / { return 301 https://$secure_name$request_uri; }`,
    '}',
    ...(signals === null ? [] : signalsServer(nginx, tls, signals)),
    '',
  ].join('\n')
}

const signalsServer = (nginx: Address, tls: Tls, { name, service }: NonNullable<Tls['signals']>) => [
  '',
  'upstream highwater_signals {',
  `  server ${service.host}:${service.port} max_fails=0;`,
  '  keepalive 16;',
  '}',
  'server {',
  ...secureListen(nginx, tls, false).map(line => `  ${line}`),
  `  server_name ${name};`,
  '  include signals.conf;',
  '}',
]

/** A word of nginx's configuration. A dollar sign cannot be escaped there. */
function quoted(text: string): string {
  if (/[$\n]/.test(text))
    throw new Error(`nginx cannot be configured with a text that has a dollar sign or a line break: ${text}`)
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** A pattern that matches these origins and nothing else. */
function patternOf(origins: readonly string[]): string {
  const literals = origins.map(origin => origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return `^(?:${[...new Set(literals)].join('|')})$`
}
