import { DEFAULT_PARAMS, ID_PATTERN, type QueryName } from '#core/contract/parameters.ts'
import { isPinnable, PIN_PARAMETER } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPath, canonicalPoints, ROUTES } from '#core/contract/routes.ts'
import { HEADING } from './heading.ts'

/** Longer addresses are keyed as they came: patterns on them could exceed Varnish's limit on matching. */
const LONGEST_URL = 2000

/** Addresses with escapes that are longer are keyed as they came: each step of unescaping keeps a copy in memory. */
const LONGEST_ESCAPED_URL = 500

/** Lists of more or longer ids keep their blanks and repetitions: patterns on lists match in steps of their square. */
const MOST_IDS = 20
const LONGEST_IDS = 800

/** Repetitions in a list of ids that are dropped; nobody but a test sends more. */
const MOST_REPETITIONS = 4

/** Digits before and after the point up to which a decimal text and the number it stands for are the same thing. */
const MOST_WHOLE_DIGITS = 6
const MOST_DECIMALS = 9

const ID = ID_PATTERN.source.replaceAll(/[$^]/g, '')

/** Every canonical path with a query that is a file, of whichever version and strategy. */
const PUBLISHED_PATTERN = `^/v1(?:/snapshots/[0-9]{8}T[0-9]{6}Z)?(?:${ROUTES.flatMap(publishedQueries).join('|')})$`

/** A name in the query: a parameter, or the pin, which is none of a route but names the dataset they are asked of. */
type Name = QueryName | typeof PIN_PARAMETER

/**
 * `canonical.vcl`: the sub `canonicalise`, which rewrites `req.url` to the canonical path and query of the service's
 * own canonicaliser. It is exact: what it rewrites means the same to the service. It is not complete: a spelling that it
 * leaves alone costs one more object in the cache (numbers of many digits, the full set of ids, long addresses).
 */
export function renderCanonicalVcl(): string {
  const names = [...new Set(ROUTES.flatMap(({ query }) => query))].sort()
  return [
    ...HEADING,
    'vcl 4.1;',
    '',
    ...canonicalise(),
    ...unescapeAddress(),
    ...takeParameters(),
    ...[PIN_PARAMETER, ...names].flatMap(name => ['', ...takeParameter(name as Name)]), // the names of the table, and the pin
    '',
  ].join('\n')
}

const canonicalise = (): string[] => [
  'sub canonicalise {',
  `  if (req.url ~ "${PUBLISHED_PATTERN}") {`,
  '    return; # the address of a published file, spelled out, as nearly all are',
  '  }',
  `  if (req.url !~ "^[A-Za-z0-9/?&=%+,.:;@!$'()*_~-]{1,${LONGEST_URL}}$") {`,
  '    return;',
  '  }',
  '  set req.http.hw-url = req.url;',
  '  if (req.url ~ "%") {',
  `    if (req.url ~ "%(?![0-9A-Fa-f]{2})" || req.url ~ "^.{${LONGEST_ESCAPED_URL}}") {`,
  '      unset req.http.hw-url;',
  '      return;',
  '    }',
  '    call unescape;',
  '  }',
  `  set req.http.hw-route = regsub(req.http.hw-url, "${ROUTE_PATTERN}", "\\1\\2\\3");`,
  String.raw`  set req.http.hw-given = "&" + regsub(req.http.hw-url, "^[^?]*\??", "");`,
  '  set req.http.hw-query = "";',
  '  call take_parameters;',
  '  if (req.http.hw-route) {',
  String.raw`    set req.url = regsub(req.http.hw-url, "\?.*$", "") + regsub(req.http.hw-query, "^&", "?");`,
  '  }',
  ...['url', 'route', 'given', 'query', 'part'].map(note => `  unset req.http.hw-${note};`),
  '}',
]

/** Captures what tells the routes apart: `/returns` below a strategy, `/` for it itself, `export` of the book. */
const ROUTE_PATTERN = String.raw`^/v1(?:/snapshots/[0-9]{8}T[0-9]{6}Z)?(?:(/)strategies/${ID}(?:/([a-z]+))?|/([a-z]+))(?:\?.*)?$`

/** `/export\?(?:period=weekly|format=csv)` as a pattern; nothing where no file of the route has a query. */
function publishedQueries(route: Route): string[] {
  const paths = canonicalPoints(route, ['']).map(params => canonicalPath(route.id, params))
  const queries = paths.flatMap(path => path.split('?')[1] ?? [])
  const path = route.path.replace('/v1', '').replace('{sid}', ID)
  return queries.length === 0 ? [] : [String.raw`${path}\?(?:${queries.join('|')})`]
}

/** Characters that mean the same escaped and bare: the unreserved ones, and two that stand in values of ours. */
const UNESCAPED = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,:']

const unescapeAddress = (): string[] => [
  '',
  'sub unescape {',
  ...UNESCAPED.map(character => {
    const code = character.charCodeAt(0).toString(16)
    return `  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%${code}", "${character}");`
  }),
  '}',
]

/** Takes the parameters that each route knows, in the canonical order; others are dropped by not being taken. */
const takeParameters = (): string[] => [
  '',
  'sub take_parameters {',
  ...ROUTES.filter(isPinnable).flatMap((route, i) => [
    `  ${i === 0 ? 'if' : '} elsif'} (req.http.hw-route == "${routeKey(route)}") {`,
    ...[PIN_PARAMETER, ...route.query.toSorted()].map(name => `    call take_${name};`),
  ]),
  '  } else {',
  '    unset req.http.hw-route;',
  '  }',
  '}',
]

/** What `ROUTE_PATTERN` captures of the path of a route. */
const routeKey = ({ path, kind }: Route): string =>
  kind === 'strategy' ? path.replace('/v1/strategies/{sid}', '').padEnd(1, '/') : path.replace('/v1/', '')

/** Adds a parameter to the canonical query, as often as it was given. */
const takeParameter = (name: Name): string[] => [
  `sub take_${name} {`,
  `  if (req.http.hw-given ~ "&${name}(?:=|&|$)") {`,
  `    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!${name}(?:=|&|$))[^&]*", "");`,
  ...NORMALISE[name]().map(line => `  ${line}`),
  '    set req.http.hw-query = req.http.hw-query + req.http.hw-part;',
  '  }',
  '}',
]

const set = (expression: string): string => `set req.http.hw-part = ${expression};`

const asItIs = (): string[] => []

const withoutDefault = (name: 'period' | 'format'): string[] => [
  `  if (req.http.hw-part == "&${name}=${DEFAULT_PARAMS[name]}") {`,
  `    ${set('""')}`,
  '  }',
]

/** Repeated keys are one list; a blank beside a comma and repetitions go, where every item names something. */
const idList = (): string[] => [
  `  ${set('"," + regsuball(regsub(req.http.hw-part, "^&ids=?", ""), "&ids=?", ",")')}`,
  `  if (req.http.hw-part ~ "^(?=.{1,${LONGEST_IDS}}$)(?:,[^,]++){1,${MOST_IDS}}$"`,
  String.raw`      && req.http.hw-part !~ ",(?:\+|%20)++(?:,|$)") {`,
  `    ${set(WITHOUT_BLANKS)}`,
  ...Array.from({ length: MOST_REPETITIONS }, () => `    ${set(WITHOUT_REPETITION)}`),
  '  }',
  `  ${set('regsub(req.http.hw-part, "^,", "&ids=")')}`,
]

const WITHOUT_BLANKS = String.raw`regsuball(req.http.hw-part, "(?:\+|%20)(?=,|$)|(?<=,)(?:\+|%20)", "")`

/** The first item stays where it stood, because the order is the caller's. */
const WITHOUT_REPETITION = String.raw`regsub(req.http.hw-part, "^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)", "\1,\2\3")`

/** `2e-2` and `0.020` are `0.02`. */
const decimal = (): string[] => [
  '  if (req.http.hw-part ~ "[eE]-") {',
  ...Array.from({ length: MOST_DECIMALS }, (_, i) => withoutExponent(i + 1)).flat(),
  '  }',
  `  if (req.http.hw-part ~ "${PLAIN_DECIMAL}" && req.http.hw-part ~ "[1-9]") {`,
  `    ${set(WITHOUT_LEADING_ZEROS)}`,
  `    ${set(WITHOUT_TRAILING_ZEROS)}`,
  '  }',
]

const withoutExponent = (exponent: number): string[] => [
  String.raw`    if (req.http.hw-part ~ "^&risk_pct=[1-9](?:\.\d+)?[eE]-0*${exponent}$") {`,
  `      ${set(`regsub(req.http.hw-part, "=(\\d)(?:\\.(\\d+))?.*$", "=0.${'0'.repeat(exponent - 1)}\\1\\2")`)}`,
  '    }',
]

const PLAIN_DECIMAL = String.raw`^&risk_pct=0*\d{1,${MOST_WHOLE_DIGITS}}(?:\.\d{1,${MOST_DECIMALS}}0*)?$`
const WITHOUT_LEADING_ZEROS = String.raw`regsub(req.http.hw-part, "=0+(?=\d)", "=")`
const WITHOUT_TRAILING_ZEROS = String.raw`regsub(req.http.hw-part, "\.0+$|(\.\d*[1-9])0+$", "\1")`

const NORMALISE: { readonly [N in Name]: () => string[] } = {
  [PIN_PARAMETER]: asItIs,
  period: () => withoutDefault('period'),
  format: () => withoutDefault('format'),
  risk_pct: decimal,
  ids: idList,
  from: asItIs,
  to: asItIs,
}
