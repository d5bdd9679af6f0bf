// `/llms.txt`: the service explained to a reader that is a program, in the form of https://llmstxt.org.
import { FILE_ROUTES } from './file-routes.ts'
import { AS_OF_PARAMETER, isPinnable, PIN_PARAMETER, pinnedPath } from './pins.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

const SOME_VERSION = '2026-11-21T00:15:00Z'

/** The text, with absolute addresses. A pure function of the route tables, so that it names what there is. */
export const toLlmsText = (publicBaseUrl: string): string =>
  [
    '# Historical strategy data',
    '> Audited history of trading strategies: read-only, versioned, free of keys. Factual history, not advice and not a forecast.',
    ABOUT,
    section(
      'Data',
      ROUTES.filter(isPinnable).map(route => routeLine(publicBaseUrl, route)),
    ),
    section(
      'Service',
      ROUTES.filter(route => !isPinnable(route)).map(route => routeLine(publicBaseUrl, route)),
    ),
    UNITS,
    pinning(publicBaseUrl),
    VERIFYING,
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
      line('API reference', `${publicBaseUrl}/docs`, 'The same document for people, drawn in a browser.'),
    ]),
  ].join('\n\n') + '\n'

const ABOUT = [
  'JSON answers are `{data, meta, links}`, errors are `{error, meta}` with `error.code`, `error.message` and',
  '`error.details`. A figure that cannot be computed is null, and `undefined` beside it says why. Unknown query',
  'parameters are ignored, and unfit values are refused with 422. `{sid}` is the id of a strategy: ask the catalogue first.',
].join('\n')

const UNITS = [
  '## Units',
  '',
  '- Days are UTC days, `YYYY-MM-DD`. Weeks are complete ISO weeks, named by their Sunday.',
  '- `ret` and `rets`: simple return of the period, a fraction: 0.01 is 1 %. 10 significant digits.',
  '- `equity`: a multiple, 1.0 at the close before the first day.',
  '- Fields that end in `_pct` are percent, except risk levels: `risk_pct=0.02` is 2 % of equity at risk per trade.',
  '- `entry_time` and `exit_time`: epoch milliseconds UTC; timestamps in Arrow and Parquet. Fields that end in `_days` are days.',
  '- Instants such as `dataset_version` are ISO 8601 in UTC.',
].join('\n')

const pinning = (publicBaseUrl: string): string =>
  [
    '## Pin an answer',
    '',
    'Data change by a new version, usually once a day; a published version never changes.',
    '',
    '- `Content-Location` of every data answer names its immutable twin under `/v1/snapshots/{version}/`. Cite that address.',
    `- \`${publicBaseUrl}${pinnedPath(SOME_VERSION, '/v1/export?format=csv')}\` asks one version for ever.`,
    `- \`?${PIN_PARAMETER}=${SOME_VERSION}\` on any data route does the same.`,
    `- \`${publicBaseUrl}/v1/dataset/versions\` lists the versions, and with \`?${AS_OF_PARAMETER}=2026-11-21\` leads to the one of a day.`,
    '- `/v1/snapshots/{version}/changes` says what was appended and whether published history was restated.',
    '- `/v1/export` and `returns` take `from` and `to`: with an earlier export, ask only for the days after its last one.',
  ].join('\n')

const VERIFYING = [
  '## Verify',
  '',
  '- `manifest.json` of a version has the SHA-256 of every file. `Unencoded-Digest` of an answer is the same digest.',
  '- `sha256sum -c SHA256SUMS` checks a copy of the folder of a version; `datapackage.json` describes its files.',
  '- `manifest.json.sig` is the Ed25519 signature of the manifest, where the operator signs:',
  '  `openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in manifest.json -sigfile manifest.json.sig`, where `key.pem`',
  '  is the `public_key_pem` of `/.well-known/highwater-keys.json`.',
  '- The pointer entries are a chain: each has the digest of the one before it, and a day on which it expires.',
].join('\n')

const section = (title: string, lines: readonly string[]): string => [`## ${title}`, '', ...lines].join('\n')

const line = (title: string, address: string, about: string): string => `- [${title}](${address}): ${about}`

/** With the parameters and formats that it takes, where it takes any. */
function routeLine(publicBaseUrl: string, { title, path, about, query, formats }: Route): string {
  const parameters = query.filter(name => name !== 'format').map(name => `\`${name}\``)
  const facts = [
    ...(parameters.length === 0 ? [] : [`Parameters: ${parameters.join(', ')}.`]),
    ...(formats.length === 1 ? [] : [`\`format\`: ${formats.join(', ')}.`]),
  ]
  return line(title, publicBaseUrl + path, [about, ...facts].join(' '))
}
