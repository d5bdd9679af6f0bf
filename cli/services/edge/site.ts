import { cp, writeFile } from 'node:fs/promises'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { corsHeaders, DEVELOPMENT_ORIGINS, deprecationHeaders } from '#api/service/headers.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'

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

/** The site of the committed files: everything on one machine. */
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

/** What nginx answers itself: while the tier cannot be reached, to a client with too many requests, and to one it cannot read. */
const REFUSALS = {
  unavailable: 'the service cannot be reached at the moment; ask again in a few seconds',
  overloaded: 'too many requests of this client are being answered already; ask again in a moment',
  bad_request: 'the request is not well-formed HTTP, or its address, headers or body are too long',
} as const satisfies Partial<Record<ErrorCode, string>>

/** The body of an error that nginx or Varnish answers itself. */
const refusal = (code: keyof typeof REFUSALS): string =>
  JSON.stringify({
    error: { code, message: REFUSALS[code], details: null },
    meta: register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null),
  })

/** The headers that an allowed origin's script may read, as the tier names them. */
function exposedHeaders(): string {
  const [origin = ''] = DEVELOPMENT_ORIGINS
  return corsHeaders(new Set([origin]), origin)['access-control-expose-headers'] ?? ''
}

/** Writes the configuration of nginx for a site, with the script that runs it, into a folder. `root` is that of the project. */
export async function writeNginx(root: string, folder: string, site: Site): Promise<void> {
  await cp(join(root, 'deploy/nginx'), folder, { recursive: true })
  const { tls } = site
  const files = {
    'listen.conf': renderListenConf(site),
    'site.conf': renderSiteConf(site),
    'deprecation.conf': renderDeprecationConf(site),
    'proxies.conf': renderProxiesConf(site),
    'tls.conf': tls === null ? '' : renderTlsConf({ ...site, tls }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

/** `listen.conf`: where nginx listens, where the files are, and which version is the latest. */
export const renderListenConf = ({ nginx, tls, store }: Site): string =>
  [
    ...(tls === null ? [`listen ${nginx.host}:${nginx.port};`] : secureListen(nginx, tls)),
    `root ${quoted(store)};`,
    'set $version none;',
    `include ${quoted(`${store}/nginx/served.con[f]`)}; # a pattern may match no file: before the first publication`,
    '',
  ].join('\n')

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

/** `deprecation.conf`: the headers that follow from DEPRECATED_AT and SUNSET_AT of the tier. */
export const renderDeprecationConf = ({ deprecatedAtMs, sunsetAtMs }: Site): string =>
  [
    '# add_header Deprecation and Sunset, if DEPRECATED_AT and SUNSET_AT are set in the tier.',
    ...Object.entries(deprecationHeaders({ deprecatedAtMs, sunsetAtMs })).map(
      ([name, value]) => `add_header ${name} ${quoted(value)};`,
    ),
    '',
  ].join('\n')

/** `proxies.conf`: whose X-Forwarded-For names the client. */
export const renderProxiesConf = ({ trustedProxies }: Site): string =>
  [
    '# The proxies and CDNs in front of nginx: the client is the last address of X-Forwarded-For that is none of them.',
    ...trustedProxies.map(proxy => `set_real_ip_from ${proxy};`),
    'real_ip_header X-Forwarded-For;',
    'real_ip_recursive on;',
    '',
  ].join('\n')

/** `site.conf`: where the tier is, who may read from a page, and the disclaimers. */
export function renderSiteConf(site: Site): string {
  const { tier, store, allowedOrigins } = site
  return [
    'upstream highwater_tier {',
    `  server ${tier.host}:${tier.port} max_fails=0;`,
    '  keepalive 32;',
    '}',
    '',
    '# A pattern: a map ignores the case of other keys.',
    'map $http_origin $cors_origin {',
    '  default "";',
    '  "" ""; # most requests have none, and are not compared with the pattern',
    `  "~${patternOf(allowedOrigins)}" $http_origin;`,
    '}',
    'map $cors_origin $cors_exposed {',
    `  default ${quoted(exposedHeaders())};`,
    '  "" "";',
    '}',
    '',
    '# The disclaimer of each version.',
    `map $version $disclaimer { default ""; include ${quoted(`${store}/nginx/disclaimers/*.conf`)}; }`,
    '',
    '# Methods that the parser of the tier knows.',
    `map $request_method $parsed_method { default ""; "~^(?:${METHODS.join('|')})$" yes; }`,
    '',
    '# The answers of nginx itself: while the tier cannot be reached, to a client with too many requests, and to a request',
    '# that it cannot read.',
    `map "" $unavailable { default ${quoted(refusal('unavailable'))}; }`,
    `map "" $overloaded { default ${quoted(refusal('overloaded'))}; }`,
    `map "" $bad_request { default ${quoted(refusal('bad_request'))}; }`,
    '',
  ].join('\n')
}

/** `site.vcl`: the backends, purgers, allowed origins, and the answer if the service cannot be reached. */
export const renderSiteVcl = ({ nginx, allowedOrigins }: Site): string =>
  [
    'vcl 4.1;',
    '',
    'backend origin {',
    `  .host = "${nginx.host}";`,
    `  .port = "${nginx.port}";`,
    '}',
    '',
    '# The same address with a probe of the tier: if the tier is down, no request waits for it.',
    'backend tier {',
    `  .host = "${nginx.host}";`,
    `  .port = "${nginx.port}";`,
    '  .probe = { .url = "/healthz"; .interval = 2s; .timeout = 2s; .window = 3; .threshold = 2; .initial = 3; }',
    '}',
    '',
    'acl purgers {',
    '  "127.0.0.1";',
    '  "::1";',
    '}',
    '',
    'sub allow_origin {',
    `  if (req.http.Origin ~ "${patternOf(allowedOrigins)}") {`,
    '    set resp.http.Access-Control-Allow-Origin = req.http.Origin;',
    `    set resp.http.Access-Control-Expose-Headers = "${exposedHeaders()}";`,
    '  }',
    '}',
    '',
    'sub write_unavailable {',
    `  synthetic("""${refusal('unavailable')}""");`,
    '}',
    '',
  ].join('\n')

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
