// One request for every kind of answer that the service can give: what must hold for all of them is tried on each.
import type { HistorySettings } from '#api/history/exchange.ts'
import type { VersionSource } from '#api/history/versions/version-source.ts'
import { type Stores, TINY_VERSION } from '../../support/books/publish-book.ts'
import { openHistoryApp, SETTINGS } from '../../support/history/history-app.ts'
import { type App, openEmpty } from './answers.ts'

/** Apps in the three states of a service: with a dataset, without one, and with a fault of its own. */
export type Apps = { readonly [State in 'serving' | 'empty' | 'faulty']: App }

export type Kind = {
  readonly name: string
  readonly status: number
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly state?: keyof Apps
  /** What the table of headers says of its caching. */
  readonly caching: string | null
  /** Whether browsers get another answer than other clients. */
  readonly isNegotiated?: true
}

const DATASET = 'max-age=60, stale-while-revalidate=60, stale-if-error=86400'
const FOREVER = 'max-age=31536000, immutable'
const POLLED = 'max-age=10, stale-if-error=3600'
const REFUSAL = 'max-age=10'
const NEVER = 'no-store'

/** A URL of more than 8192 characters. */
export const TOO_LONG = `/v1/correlation?x=${'x'.repeat(8192)}`

/** The version of the tiny book, as paths and queries name it. */
const PINNED = '/v1/snapshots/20250224T001500Z'
const PIN = `dataset_version=${TINY_VERSION}`
const SHEET = `${PINNED}/strategies/ash/sheet.html`

const ANY = { 'if-none-match': '*' }
const BROWSER = { accept: 'text/html' }

export const KINDS: readonly Kind[] = [
  { name: 'a published answer', status: 200, path: '/v1/strategies/ash/stats', caching: DATASET },
  { name: 'a published CSV', status: 200, path: '/v1/export?format=csv', caching: DATASET },
  { name: 'a computed answer', status: 200, path: '/v1/export?risk_pct=0.013', caching: DATASET },
  { name: 'a computed CSV', status: 200, path: '/v1/export?risk_pct=0.013&format=csv', caching: DATASET },
  { name: 'the document', status: 200, path: '/openapi.json', caching: DATASET },
  { name: 'the docs', status: 200, path: '/docs', caching: DATASET },
  { name: 'a known guide', status: 304, path: '/docs/guides/pinning', headers: ANY, caching: DATASET },
  { name: 'no such guide', status: 404, path: '/docs/guides/none', caching: REFUSAL, isNegotiated: true },
  { name: 'the docs of nothing', status: 503, path: '/docs', state: 'empty', caching: NEVER },
  { name: 'the reference', status: 200, path: '/docs/reference', caching: DATASET },
  { name: 'the known reference', status: 304, path: '/docs/reference', headers: ANY, caching: DATASET },
  { name: 'the text for programs', status: 200, path: '/llms.txt', caching: DATASET },
  { name: 'a lost script', status: 404, path: '/docs/0123456789abcdef/copy.js', caching: REFUSAL },
  { name: 'a wrong reference method', status: 405, path: '/docs', method: 'POST', caching: NEVER },
  { name: 'a pinned file', status: 200, path: `${PINNED}/strategies/ash/stats`, caching: FOREVER },
  { name: 'a pinned computation', status: 200, path: `${PINNED}/export?risk_pct=0.013`, caching: FOREVER },
  { name: 'a pin in the query', status: 200, path: `/v1/summary?${PIN}`, caching: FOREVER },
  { name: 'a known pinned file', status: 304, path: `${PINNED}/summary`, headers: ANY, caching: FOREVER },
  { name: 'a manifest', status: 200, path: `${PINNED}/manifest.json`, caching: FOREVER },
  { name: 'the changes', status: 200, path: `${PINNED}/changes`, caching: FOREVER },
  { name: 'a pointer entry', status: 200, path: '/v1/pointer/0000000001.json', caching: FOREVER },
  { name: 'the newest entry', status: 200, path: '/v1/current.json', caching: POLLED },
  { name: 'the list of versions', status: 200, path: '/v1/dataset/versions', caching: POLLED },
  { name: 'the known list', status: 304, path: '/v1/dataset/versions', headers: ANY, caching: POLLED },
  { name: 'a day', status: 307, path: '/v1/dataset/versions?as_of=2025-03-01', caching: POLLED },
  { name: 'a pinned method', status: 204, path: `${PINNED}/summary`, method: 'OPTIONS', caching: null },
  { name: 'an unknown version', status: 404, path: '/v1/snapshots/x/summary', caching: REFUSAL },
  { name: 'an unknown pin', status: 404, path: '/v1/summary?dataset_version=x', caching: REFUSAL },
  { name: 'a pinned unknown strategy', status: 404, path: `${PINNED}/strategies/oak`, caching: REFUSAL },
  { name: 'no signature', status: 404, path: `${PINNED}/manifest.json.sig`, caching: REFUSAL },
  { name: 'no next entry', status: 404, path: '/v1/pointer/0000000002.json', caching: REFUSAL },
  { name: 'no keys', status: 404, path: '/.well-known/highwater-keys.json', caching: REFUSAL },
  { name: 'a day too early', status: 404, path: '/v1/dataset/versions?as_of=2025-02-23', caching: REFUSAL },
  { name: 'a bad day', status: 422, path: '/v1/dataset/versions?as_of=2025-02-30', caching: REFUSAL },
  { name: 'a wrong pinned method', status: 405, path: `${PINNED}/summary`, method: 'POST', caching: NEVER },
  { name: 'a wrong proof method', status: 405, path: `${PINNED}/changes`, method: 'PUT', caching: NEVER },
  { name: 'the versions', status: 200, path: '/version', caching: POLLED },
  { name: 'the index', status: 200, path: '/', caching: POLLED, isNegotiated: true },
  { name: 'to the book', status: 307, path: '/', headers: BROWSER, caching: DATASET, isNegotiated: true },
  { name: 'the way to a sheet', status: 307, path: '/strategies/ash?risk_pct=0.01', caching: DATASET },
  { name: 'no sheet', status: 404, path: '/strategies/oak', caching: REFUSAL, isNegotiated: true },
  { name: 'no page', status: 404, path: `${PINNED}/x.html`, caching: REFUSAL, isNegotiated: true },
  { name: 'the way to a file', status: 307, path: '/v1/strategies/ash/curve.csv', caching: DATASET },
  { name: 'a page', status: 200, path: `${PINNED}/index.html`, caching: FOREVER },
  { name: 'a known page', status: 304, path: `${PINNED}/index.html`, headers: ANY, caching: FOREVER },
  { name: 'a sheet at a level', status: 200, path: `${SHEET}?risk_pct=0.013`, caching: FOREVER },
  { name: 'a sheet at no level', status: 200, path: `${SHEET}?risk_pct=x`, caching: FOREVER },
  { name: 'a file', status: 200, path: `${PINNED}/strategies/ash/curve.csv`, caching: FOREVER },
  { name: 'no file', status: 404, path: `${PINNED}/tomorrow.csv`, caching: REFUSAL },
  { name: 'a wrong file method', status: 405, path: `${PINNED}/index.html`, method: 'POST', caching: NEVER },
  { name: 'the feed', status: 200, path: '/feed.atom', caching: DATASET },
  { name: 'the map of the site', status: 200, path: '/sitemap.xml', caching: DATASET },
  { name: 'a picture', status: 200, path: `${PINNED}/picture.png`, caching: FOREVER },
  { name: 'health', status: 200, path: '/healthz', caching: NEVER },
  { name: 'readiness', status: 200, path: '/readyz', caching: NEVER },
  { name: 'a known published answer', status: 304, path: '/v1/summary', headers: ANY, caching: DATASET },
  { name: 'known computed', status: 304, path: '/v1/correlation?ids=yew', headers: ANY, caching: DATASET },
  { name: 'known versions', status: 304, path: '/version', headers: ANY, caching: POLLED },
  { name: 'the methods', status: 204, path: '/v1/summary', method: 'OPTIONS', caching: null },
  { name: 'an unknown path', status: 404, path: '/v1/nothing', caching: REFUSAL },
  { name: 'an unknown strategy', status: 404, path: '/v1/strategies/oak', caching: REFUSAL },
  { name: 'an unknown id', status: 404, path: '/v1/correlation?ids=oak', caching: REFUSAL },
  { name: 'a wrong method', status: 405, path: '/v1/summary', method: 'POST', caching: NEVER },
  { name: 'too long an address', status: 414, path: TOO_LONG, caching: NEVER },
  { name: 'an unfit parameter', status: 422, path: '/v1/export?period=yearly', caching: REFUSAL },
  { name: 'a fault', status: 500, path: '/v1/summary', state: 'faulty', caching: NEVER },
  { name: 'no dataset', status: 503, path: '/v1/summary', state: 'empty', caching: NEVER },
  { name: 'not ready', status: 503, path: '/readyz', state: 'empty', caching: NEVER },
]

export const ERRORS = KINDS.filter(({ status }) => status >= 400)

/** What no answer may contain. */
export const SECRET = '/srv/secret.key cannot be read'

/** Opens the three apps on a store; `settings` may differ from those of other tests. */
export async function openApps(stores: Stores, settings: Partial<HistorySettings> = {}): Promise<Apps> {
  const changes = { settings: { ...SETTINGS, ...settings } }
  const [serving, empty, faulty] = await Promise.all([
    openHistoryApp(stores, changes),
    openEmpty(changes),
    openEmpty({ ...changes, source: createFaultySource() }),
  ])
  return { serving: serving.app, empty: empty.app, faulty: faulty.app }
}

/** Fails at every look. */
export const createFaultySource = (): VersionSource => ({
  current: () => {
    throw new Error(SECRET)
  },
  history: () => null,
  unfitVersion: () => null,
  checks: () => ({
    manifest_loaded: false,
    count_matches: false,
    per_strategy_loaded: false,
    correlation_dims: false,
  }),
  refresh: async () => ({ kind: 'empty' }),
})

/** Makes the request of a kind, with more headers. */
export const ask = (apps: Apps, kind: Kind, headers: Readonly<Record<string, string>> = {}) =>
  apps[kind.state ?? 'serving'].request(kind.path, {
    method: kind.method ?? 'GET',
    headers: { ...kind.headers, ...headers },
  })
