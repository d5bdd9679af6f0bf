// `/openapi.json` and `/llms.txt` (https://llmstxt.org): the service described to programs, from its route tables.
import type { ErrorCode } from '#core/contract/errors.ts'
import { FILE_ROUTES, FILE_VARIABLES } from '#core/contract/file-routes.ts'
import { type OpenApi, REQUEST_ID_TEXT, type Service, toOpenApi } from '#core/contract/openapi.ts'
import { ID_PATTERN, type Parameter } from '#core/contract/parameters.ts'
import { meta } from '#core/contract/payloads/meta.ts'
import { AS_OF_PARAMETER, PIN_PARAMETER, pinnedPath, pinnedTemplate } from '#core/contract/pins.ts'
import type { Route } from '#core/contract/route.ts'
import type { DatasetRoute } from '#core/dataset/resources/resource.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { DOCS } from '#pages/guides/documents.ts'
import type { Endpoint } from '#pages/guides/guides.ts'
import { API_VERSION } from '../service/exchange.ts'
import { INFRASTRUCTURE_ROUTES, type InfrastructureRoute } from './infrastructure.ts'

export type HistoryRoute = InfrastructureRoute | DatasetRoute

export const ROUTES: readonly HistoryRoute[] = [...INFRASTRUCTURE_ROUTES, ...DATASET_ROUTES]

type Group = 'book' | 'strategy' | 'pinned' | 'proof' | 'infrastructure'

const GROUPS: Service<Group>['groups'] = {
  book: { name: 'Book', description: 'What is true of all strategies together.' },
  strategy: { name: 'Strategy', description: 'One strategy: its figures, series and trades.' },
  pinned: { name: 'Pinned', description: 'The same answers of one published version, which never change.' },
  proof: { name: 'Proof', description: 'What was published and served when, with digests and signatures.' },
  infrastructure: { name: 'Infrastructure', description: 'The process and the version that it serves.' },
}

export const ENDPOINTS: readonly Endpoint[] = ROUTES.map(({ id, path, about, group }) => ({
  path,
  about,
  operation: `/${GROUPS[group].name}/${id}`,
}))

/** Names a version in the query of any data route. It is resolved before the others are read, and never printed. */
const PIN: Parameter<string | null> = {
  about: 'The dataset version to answer from; without it the one that is served now.',
  schema: { type: 'string', format: 'date-time' },
  isLookedUp: true,
  initial: null,
  parse: ([value = null]) => ({ value }),
  print: String,
}

const PIN_REFUSALS: readonly ErrorCode[] = ['not_found', 'gone', 'not_ready', 'unavailable', 'overloaded']

const withPin = (route: DatasetRoute): Route<Group> => ({
  ...route,
  query: { ...route.query, [PIN_PARAMETER]: PIN },
  refusals: [...(route.refusals ?? []), ...PIN_REFUSALS],
})

const toPinned = (route: DatasetRoute): Route<Group> => ({
  ...route,
  id: `pinned_${route.id}`,
  path: pinnedTemplate(route),
  group: 'pinned',
  title: `${route.title} of a version`,
  about: `${route.about} The bytes are those of the version, for ever.`,
  refusals: [...(route.refusals ?? []), ...PIN_REFUSALS],
  example: { path: pinnedTemplate(route), of: route.id },
})

const UNKNOWN_PARAMETERS =
  'A parameter that another route has, or whose name nearly is one that is known (`risk` for `risk_pct`), is refused with ' +
  '422 and a suggestion; all other unknown query parameters are ignored. `error.details` lists everything that was refused.'

export async function historyDocument(publicBaseUrl: string): Promise<OpenApi> {
  const { default: recorded } = await import('#core/contract/examples.json', { with: { type: 'json' } })
  return toOpenApi<Group>(
    {
      info: {
        title: 'Historical strategy data',
        version: API_VERSION,
        summary: 'Recomputable history of BTC trading strategies: free, read-only, versioned.',
        description:
          'Factual history, not advice and not a forecast. Every figure can be rescaled to another risk level with ' +
          `\`risk_pct\`. ${UNKNOWN_PARAMETERS} ${REQUEST_ID_TEXT}`,
      },
      server: { url: publicBaseUrl, description: 'This service.' },
      groups: GROUPS,
      meta,
      variables: { sid: { about: 'Id of the strategy.', pattern: ID_PATTERN }, ...FILE_VARIABLES },
      hasRequestIds: 'refusals',
      recorded,
    },
    [
      ...INFRASTRUCTURE_ROUTES,
      ...DATASET_ROUTES.map(withPin),
      ...DATASET_ROUTES.map(toPinned),
      ...FILE_ROUTES,
    ],
  )
}

const SOME_VERSION = '2026-11-21T00:15:00Z'

/** The text of `/llms.txt`, with absolute addresses. A pure function of the route tables, so that it names what there is. */
export const toLlmsText = (publicBaseUrl: string): string =>
  [
    '# Historical strategy data',
    '> Recomputable history of trading strategies: read-only, tamper-evident, versioned, free of keys. Factual history, not advice and not a forecast.',
    ABOUT,
    section('Data', routeLines(publicBaseUrl, DATASET_ROUTES)),
    section('Service', routeLines(publicBaseUrl, INFRASTRUCTURE_ROUTES)),
    UNITS,
    pinning(publicBaseUrl),
    VERIFYING,
    section(
      'Guides',
      DOCS.map(({ name, title, about }) => line(title, `${publicBaseUrl}/docs/guides/${name}`, about)),
    ),
    section(
      'Proof',
      FILE_ROUTES.map(({ title, path, about }) => line(title, publicBaseUrl + path, about)),
    ),
    section('Optional', [
      line(
        'OpenAPI 3.1 document',
        `${publicBaseUrl}/openapi.json`,
        'Every field with its definition and unit.',
      ),
      line('API reference', `${publicBaseUrl}/docs/reference`, 'The same document for people.'),
      line('Index for people', `${publicBaseUrl}/docs`, 'Guides, endpoints and references.'),
    ]),
  ].join('\n\n') + '\n'

const ABOUT = [
  'JSON answers are `{data, meta, links}`, errors are `{error, meta}` with `error.code`, `error.message` and',
  '`error.details`. A figure that cannot be computed is null, and `undefined` beside it says why.',
  '`{sid}` is the id of a strategy: ask the catalogue first. Invalid values are refused with 422.',
  UNKNOWN_PARAMETERS,
].join('\n')

const UNITS = section('Units', [
  '- Days are UTC days, `YYYY-MM-DD`. Weeks are complete ISO weeks, named by their Sunday.',
  '- `ret` and `rets`: simple return of the period, a fraction: 0.01 is 1 %. 10 significant digits.',
  '- `equity`: a multiple, 1.0 at the close before the first day.',
  '- Fields that end in `_pct` are percent, except risk levels: `risk_pct=0.02` is 2 % of equity at risk per trade.',
  '- `entry_time` and `exit_time`: epoch milliseconds UTC; timestamps in Arrow and Parquet. Fields that end in `_days` are days.',
  '- Instants such as `dataset_version` are ISO 8601 in UTC.',
])

const pinning = (publicBaseUrl: string): string =>
  section('Pin an answer', [
    'Data change by a new version, usually once a day; a published version never changes.',
    '',
    '- `Content-Location` of every data answer names its immutable twin under `/v1/snapshots/{version}/`. Cite that address.',
    `- \`${publicBaseUrl}${pinnedPath(SOME_VERSION, '/v1/export?format=csv')}\` always answers from one version.`,
    `- \`?${PIN_PARAMETER}=${SOME_VERSION}\` on any data route does the same.`,
    `- \`${publicBaseUrl}/v1/dataset/versions\` lists the versions, and with \`?${AS_OF_PARAMETER}=2026-11-21\` leads to the one of a day.`,
    '- `/v1/snapshots/{version}/changes` says what was appended and whether published history was restated.',
    '- `/v1/export` and `returns` take `from` and `to`: with an earlier export, ask only for the days after its last one.',
  ])

const VERIFYING = section('Verify', [
  '- `manifest.json` of a version has the SHA-256 of every file. `Unencoded-Digest` of a computed one is its digest.',
  '- `sha256sum -c SHA256SUMS` checks a copy of the folder of a version; `datapackage.json` describes its files.',
  '- `manifest.json.sig` is the Ed25519 signature of the manifest, where the operator signs:',
  '  `openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in manifest.json -sigfile manifest.json.sig`, where `key.pem`',
  '  is the `public_key_pem` of `/.well-known/highwater-keys.json`.',
  '- The pointer entries are a chain: each has the digest of the one before it, and a day on which it expires.',
])

function section(title: string, lines: readonly string[]): string {
  return [`## ${title}`, '', ...lines].join('\n')
}

const line = (title: string, address: string, about: string): string => `- [${title}](${address}): ${about}`

/** Each with the parameters and formats that it takes, where it takes any. */
const routeLines = (publicBaseUrl: string, routes: readonly HistoryRoute[]): string[] =>
  routes.map(({ title, path, about, query, formats }) => {
    const parameters = Object.keys(query).filter(name => name !== 'format')
    const facts = [
      ...(parameters.length === 0 ? [] : [`Parameters: \`${parameters.join('`, `')}\`.`]),
      ...(formats.length === 1 ? [] : [`\`format\`: ${formats.join(', ')}.`]),
    ]
    return line(title, publicBaseUrl + path, [about, ...facts].join(' '))
  })
