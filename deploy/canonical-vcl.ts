import { ID_PATTERN } from '#core/contract/parameters.ts'
import { isPinnable, PIN_PARAMETER } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPath, canonicalPoints, ROUTES } from '#core/contract/routes.ts'
import { HEADING } from './heading.ts'
import { type Name, PARAMETER_REWRITES, type Step } from './parameter-rewrites.ts'
import { firstOf, renderVcl, rewrite, sub, type Vcl, when } from './vcl.ts'

/** Longer addresses are keyed as they came: patterns on them could exceed Varnish's limit on matching. */
const LONGEST_URL = 2000

/** Addresses with escapes that are longer are keyed as they came: each step of unescaping keeps a copy in memory. */
const LONGEST_ESCAPED_URL = 500

/** Notes of the sub to itself, as headers of the request; Varnish has no other variables. */
const ADDRESS = 'req.http.hw-url' // the address, escapes resolved
const ROUTE = 'req.http.hw-route' // which route it is
const GIVEN = 'req.http.hw-given' // its query, an ampersand before each parameter
const QUERY = 'req.http.hw-query' // the canonical query as far as it is written
const PART = 'req.http.hw-part' // the parameter at hand

/**
 * `canonical.vcl`: the sub `canonicalise`, which rewrites `req.url` to the canonical path and query of the service's
 * own canonicaliser. It is exact: what it rewrites means the same to the service. It is not complete: a spelling that it
 * leaves alone costs one more object in the cache (numbers of many digits, the full set of ids, long addresses).
 */
export function renderCanonicalVcl(): string {
  const names = [PIN_PARAMETER, ...new Set(ROUTES.flatMap(({ query }) => query).sort())] as const
  return renderVcl([
    ...HEADING,
    'vcl 4.1;',
    ...sub('canonicalise', canonicalise()),
    ...sub('unescape', unescapeAddress()),
    ...sub('take_parameters', takeParameters()),
    ...names.flatMap(name => sub(`take_${name}`, takeParameter(name))),
  ])
}

const canonicalise = (): Vcl => [
  ...when(`req.url ~ "${PUBLISHED_PATTERN}"`, [
    'return; # the address of a published file, spelled out, as nearly all are',
  ]),
  ...when(`req.url !~ "^[A-Za-z0-9/?&=%+,.:;@!$'()*_~-]{1,${LONGEST_URL}}$"`, ['return;']),
  `set ${ADDRESS} = req.url;`,
  ...when('req.url ~ "%"', [
    ...when(`req.url ~ "%(?![0-9A-Fa-f]{2})" || req.url ~ "^.{${LONGEST_ESCAPED_URL}}"`, [
      `unset ${ADDRESS};`,
      'return;',
    ]),
    'call unescape;',
  ]),
  String.raw`set ${ROUTE} = regsub(${ADDRESS}, "${ROUTE_PATTERN}", "\1\2\3");`,
  String.raw`set ${GIVEN} = "&" + regsub(${ADDRESS}, "^[^?]*\??", "");`,
  `set ${QUERY} = "";`,
  'call take_parameters;',
  ...when(ROUTE, [String.raw`set req.url = regsub(${ADDRESS}, "\?.*$", "") + regsub(${QUERY}, "^&", "?");`]),
  ...[ADDRESS, ROUTE, GIVEN, QUERY, PART].map(note => `unset ${note};`),
]

const ID = ID_PATTERN.source.replaceAll(/[$^]/g, '')

const VERSION_PREFIX = '/v1(?:/snapshots/[0-9]{8}T[0-9]{6}Z)?'

/** Every canonical path with a query that is a file, of whichever version and strategy. */
const PUBLISHED_PATTERN = `^${VERSION_PREFIX}(?:${ROUTES.flatMap(publishedQueries).join('|')})$`

/** Captures what tells the routes apart: `/returns` below a strategy, `/` for it itself, `export` of the book. */
const ROUTE_PATTERN = String.raw`^${VERSION_PREFIX}(?:(/)strategies/${ID}(?:/([a-z]+))?|/([a-z]+))(?:\?.*)?$`

/** `/export\?(?:period=weekly|format=csv)` as a pattern; nothing where no file of the route has a query. */
function publishedQueries(route: Route): string[] {
  const paths = canonicalPoints(route, ['']).map(params => canonicalPath(route.id, params))
  const queries = paths.flatMap(path => path.split('?')[1] ?? [])
  const path = route.path.replace('/v1', '').replace('{sid}', ID)
  return queries.length === 0 ? [] : [String.raw`${path}\?(?:${queries.join('|')})`]
}

/** Characters that mean the same escaped and bare: the unreserved ones, and two that stand in values of ours. */
const UNESCAPED = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,:']

const unescapeAddress = (): Vcl =>
  UNESCAPED.map(character => {
    const code = character.charCodeAt(0).toString(16)
    return rewrite(ADDRESS, { pattern: `(?i)%${code}`, by: character, everywhere: true })
  })

/** Takes the parameters that each route knows, in the canonical order; others are dropped by not being taken. */
const takeParameters = (): Vcl =>
  firstOf(
    ROUTES.filter(isPinnable).map(route => [
      `${ROUTE} == "${routeKey(route)}"`,
      [PIN_PARAMETER, ...route.query.toSorted()].map(name => `call take_${name};`),
    ]),
    [`unset ${ROUTE};`],
  )

/** What `ROUTE_PATTERN` captures of the path of a route. */
const routeKey = ({ path, kind }: Route): string =>
  kind === 'strategy' ? path.replace('/v1/strategies/{sid}', '').padEnd(1, '/') : path.replace('/v1/', '')

/** Adds a parameter to the canonical query, as often as it was given and in its canonical spelling. */
const takeParameter = (name: Name): Vcl =>
  when(`${GIVEN} ~ "&${name}(?:=|&|$)"`, [
    `set ${PART} = regsuball(${GIVEN}, "&(?!${name}(?:=|&|$))[^&]*", "");`,
    ...PARAMETER_REWRITES[name].flatMap(takeStep),
    `set ${QUERY} = ${QUERY} + ${PART};`,
  ])

function takeStep({ matching, notMatching, rewrites }: Step): Vcl {
  const body = rewrites.map(each => rewrite(PART, each))
  const conditions = [
    ...matching.map(pattern => `${PART} ~ "${pattern}"`),
    ...notMatching.map(pattern => `${PART} !~ "${pattern}"`),
  ]
  return conditions.length === 0 ? body : when(conditions.join(' && '), body)
}
