import { corsHeaders, DEVELOPMENT_ORIGINS, deprecationHeaders } from '#api/http/headers.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'

/** A host and a port. */
export type Address = { readonly host: string; readonly port: number }

/** What differs between installations: the content of the files that an operator edits. */
export type Site = {
  /** Folder of the public store. */
  readonly store: string
  readonly tier: Address
  readonly nginx: Address
  /** Origins of web pages that may read the service, as ALLOWED_ORIGINS of the tier. */
  readonly allowedOrigins: readonly string[]
  /** As DEPRECATED_AT and SUNSET_AT of the tier, epoch ms. */
  readonly deprecatedAtMs: number | null
  readonly sunsetAtMs: number | null
}

/** The site of the committed files: everything on one machine. */
export const EXAMPLE_SITE: Site = {
  store: '/var/lib/highwater/store',
  tier: { host: '127.0.0.1', port: 8080 },
  nginx: { host: '127.0.0.1', port: 8090 },
  allowedOrigins: ['https://www.example.org', ...DEVELOPMENT_ORIGINS],
  deprecatedAtMs: null,
  sunsetAtMs: null,
}

/** The site of the compose file, where the tier is another container. */
export const COMPOSE_SITE: Site = {
  ...EXAMPLE_SITE,
  tier: { host: 'history', port: 8080 },
  nginx: { host: '0.0.0.0', port: 8090 },
}

/** The body of a 503 while neither nginx nor the tier can be reached. */
const UNAVAILABLE = JSON.stringify({
  error: {
    code: 'unavailable',
    message: 'the service cannot be reached at the moment; ask again in a few seconds',
    details: null,
  },
  meta: register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null),
})

/** The headers that an allowed origin's script may read, as the tier names them. */
function exposedHeaders(): string {
  const [origin = ''] = DEVELOPMENT_ORIGINS
  return corsHeaders(new Set([origin]), origin)['access-control-expose-headers'] ?? ''
}

/** `listen.conf`: where nginx listens, where the files are, and which version is the latest. */
export const renderListenConf = ({ nginx, store }: Site): string =>
  [
    `listen ${nginx.host}:${nginx.port};`,
    `root ${quoted(store)};`,
    'set $version none;',
    `include ${quoted(`${store}/nginx/served.con[f]`)}; # a pattern may match no file: before the first publication`,
    '',
  ].join('\n')

/** `deprecation.conf`: the headers that follow from DEPRECATED_AT and SUNSET_AT of the tier. */
export const renderDeprecationConf = ({ deprecatedAtMs, sunsetAtMs }: Site): string =>
  [
    '# add_header Deprecation and Sunset, if DEPRECATED_AT and SUNSET_AT are set in the tier.',
    ...Object.entries(deprecationHeaders(deprecatedAtMs, sunsetAtMs)).map(
      ([name, value]) => `add_header ${name} ${quoted(value)};`,
    ),
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
    'map $http_origin $cors_origin {',
    '  default "";',
    ...[...new Set(allowedOrigins)].map(origin => `  ${quoted(origin)} $http_origin;`),
    '}',
    'map $cors_origin $cors_exposed {',
    `  default ${quoted(exposedHeaders())};`,
    '  "" "";',
    '}',
    '',
    '# The disclaimer of each version.',
    `map $version $disclaimer { default ""; include ${quoted(`${store}/nginx/disclaimers/*.conf`)}; }`,
    '',
    '# The answer while the tier cannot be reached.',
    `map "" $unavailable { default ${quoted(UNAVAILABLE)}; }`,
    '',
  ].join('\n')
}

/** `site.vcl`: the backend, purgers, allowed origins, and the answer if the service cannot be reached. */
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
    `  if (req.http.Origin ~ "^(?:${allowedOrigins.map(literal).join('|')})$") {`,
    '    set resp.http.Access-Control-Allow-Origin = req.http.Origin;',
    `    set resp.http.Access-Control-Expose-Headers = "${exposedHeaders()}";`,
    '  }',
    '}',
    '',
    'sub write_unavailable {',
    `  synthetic("""${UNAVAILABLE}""");`,
    '}',
    '',
  ].join('\n')

/** A word of nginx's configuration. A dollar sign cannot be escaped there. */
function quoted(text: string): string {
  if (/[$\n]/.test(text))
    throw new Error(`nginx cannot be configured with a text that has a dollar sign or a line break: ${text}`)
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** An origin as a pattern that matches nothing else. */
const literal = (origin: string): string => origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
