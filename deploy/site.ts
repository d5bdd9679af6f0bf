import { corsHeaders, DEVELOPMENT_ORIGINS } from '#api/http/cors.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'

/** A host and a port, as both servers are told of one another. */
export type Address = { readonly host: string; readonly port: number }

/** What differs from one installation to another: the content of the files that an operator changes. */
export type Site = {
  /** Folder of the public store. */
  readonly store: string
  readonly tier: Address
  readonly nginx: Address
  /** Origins of web pages that may read the service; the tier must be told the same ones. */
  readonly allowedOrigins: readonly string[]
  /** The disclaimer of the catalogue on one line of ASCII, as the tier sends it with bare rows; null: the tier answers those. */
  readonly disclaimer: string | null
}

/** What stands in the committed files. */
export const EXAMPLE_SITE: Site = {
  store: '/var/lib/highwater/store',
  tier: { host: '127.0.0.1', port: 8080 },
  nginx: { host: '127.0.0.1', port: 8090 },
  allowedOrigins: ['https://www.example.org', ...DEVELOPMENT_ORIGINS],
  disclaimer: null,
}

/** What is told where nothing that answers can be reached: the envelope of the service, without a dataset. */
const UNAVAILABLE = JSON.stringify({
  error: {
    code: 'unavailable',
    message: 'the service cannot be reached at the moment; ask again in a few seconds',
    details: null,
  },
  meta: register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null),
})

/** The headers that an allowed origin's script may read, as the tier says them. */
function exposedHeaders(): string {
  const [origin = ''] = DEVELOPMENT_ORIGINS
  return corsHeaders(new Set([origin]), origin)['access-control-expose-headers'] ?? ''
}

/** `listen.conf`: where nginx listens, and where the files are. */
export const renderListenConf = ({ nginx, store }: Site): string =>
  [`listen ${nginx.host}:${nginx.port};`, `root ${quoted(store)};`, ''].join('\n')

/** `site.conf`: where the tier is, who may read from a page, and what rows without an envelope say of their terms. */
export const renderSiteConf = ({ tier, allowedOrigins, disclaimer }: Site): string =>
  [
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
    '# The disclaimer of the catalogue, on one line of ASCII. Without it the tier answers CSV and the like, not nginx.',
    `map "" $disclaimer { default ${quoted(disclaimer ?? '')}; }`,
    '',
    '# The answer while the tier cannot be reached.',
    `map "" $unavailable { default ${quoted(UNAVAILABLE)}; }`,
    '',
  ].join('\n')

/** `site.vcl`: where nginx is, who may purge, who may read from a page, and the answer while nothing can be reached. */
export const renderSiteVcl = ({ nginx, allowedOrigins }: Site): string =>
  [
    'vcl 4.1;',
    '',
    'backend origin {',
    `  .host = "${nginx.host}";`,
    `  .port = "${nginx.port}";`,
    '}',
    '',
    '# The same address, and whether the tier behind it lives: where it does not, nobody waits to find out.',
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

/** A word of nginx's configuration. A dollar cannot be escaped there, and none of ours holds one. */
function quoted(text: string): string {
  if (/[$\n]/.test(text))
    throw new Error(`nginx cannot be told a text with a dollar or a line break: ${text}`)
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** An origin as a pattern that matches nothing else. */
const literal = (origin: string): string => origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
