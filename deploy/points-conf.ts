import { artifactKey, MEDIA_TYPES, versionFolder } from '#core/contract/artifacts.ts'
import { DEFAULT_PARAMS, FORMATS, type Params } from '#core/contract/parameters.ts'
import { isPinnable } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import { canonicalPoints, ROUTES } from '#core/contract/routes.ts'
import { HEADING } from './heading.ts'

/** A version and a strategy to ask the contract for names with; what stands after them is the same for all. */
const SOME_VERSION = '2000-01-01T00:00:00Z'
const SOME_SID = 'sid'

/**
 * `points.conf`: which file answers which path and query. Every spelling of a canonical point is listed, so that a query
 * with anything else in it, or with a parameter twice, finds no file and goes to the tier.
 */
export function renderPointsConf(): string {
  const points = ROUTES.filter(isPinnable).flatMap(pointsOf)
  return [
    ...HEADING,
    'map $sid $point_folder {',
    '  "" "";',
    '  default strategies/$sid/;',
    '}',
    '',
    'map "$book_route/$strategy_route?$args" $point {',
    '  default .none;',
    ...points.flatMap(({ spellings, file }) => spellings.map(spelling => `  "${spelling}" ${file};`)),
    '}',
    '',
    '# The rows alone have no envelope: what the register would say goes into headers.',
    'map $point $disposition {',
    '  default "";',
    ...points.flatMap(({ route, params, file }) =>
      isBare(params.format) ? [`  ${file} 'attachment; filename="${downloadName(route, params)}"';`] : [],
    ),
    '}',
    `map $point $bare_version { default ""; "~${BARE_FILE}$" $instant; }`,
    `map $point $bare_disclaimer { default ""; "~${BARE_FILE}$" $disclaimer; }`,
    '',
    '# Without knowing the disclaimer nginx must not answer with bare rows: the tier does.',
    `map "$point:$disclaimer" $undisclaimed { default ""; "~${BARE_FILE}:$" yes; }`,
    '',
  ].join('\n')
}

/** `types.conf`: the media type of each format, by the ending of its files. */
export const renderTypesConf = (): string =>
  [...HEADING, 'types {', ...FORMATS.map(format => `  "${MEDIA_TYPES[format]}" ${format};`), '}', ''].join(
    '\n',
  )

/** Whether answers in a format are rows without an envelope. */
const isBare = (format: Params['format']): boolean => format !== 'json'

/** The ending of the name of a file without an envelope, as a pattern. */
const BARE_FILE = String.raw`\.(?:${FORMATS.filter(isBare).join('|')})`

type FilePoint = {
  readonly route: Route
  readonly params: Params
  /** Name of the file in its folder. */
  readonly file: string
  /** `export/?period=weekly`, `/returns?`: every way to ask for it. */
  readonly spellings: readonly string[]
}

const pointsOf = (route: Route): FilePoint[] =>
  canonicalPoints(route, [SOME_SID]).map(params => {
    const prefix = route.kind === 'strategy' ? `/strategies/${SOME_SID}/` : '/'
    const file = artifactKey(SOME_VERSION, route, params).slice(
      versionFolder(SOME_VERSION).length + prefix.length,
    )
    return {
      route,
      params,
      file,
      spellings: queriesOf(route, params).map(query => `${routeKey(route)}?${query}`),
    }
  })

/** What the location captures of a path: the last segment, before the slash for the book, after it for a strategy. */
const routeKey = ({ path, kind }: Route): string =>
  kind === 'book' ? `${path.replace('/v1/', '')}/` : path.replace('/v1/strategies/{sid}', '').padEnd(1, '/')

/** Every query that means these parameters: defaults given or not, in every order. */
function queriesOf({ query }: Route, params: Params): string[] {
  const named = (['period', 'format'] as const).filter(name => query.includes(name))
  const choices = named.map(name => {
    const pair = `${name}=${params[name]}`
    return params[name] === DEFAULT_PARAMS[name] ? [[], [pair]] : [[pair]]
  })
  const subsets = choices.reduce<string[][]>(
    (heads, tails) => heads.flatMap(head => tails.map(tail => [...head, ...tail])),
    [[]],
  )
  const orders = subsets.flatMap(pairs => [pairs.join('&'), pairs.toReversed().join('&')])
  return [...new Set(orders)]
}

/** `$sid-returns-weekly-$version.csv`, as the renderer of answers names it. */
function downloadName({ id, kind, query }: Route, { period, format }: Params): string {
  const parts = [kind === 'strategy' ? '$sid' : 'all', id, ...(query.includes('period') ? [period] : [])]
  return `${parts.join('-')}-$version.${format}`
}
