// The history service as it is composed, in this process, as an operator sees it: what it prints at its start, which address its
// document has, a line a request, metrics on a listener of their own, and alerts on versions that cannot be served.
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import type { Answered } from '#api/history/exchange.ts'
import { NO_CHECKS, UnfitVersionError } from '#api/history/versions/served-version.ts'
import type { RefreshOutcome } from '#api/history/versions/version-source.ts'
import {
  createSwapAlerts,
  type HistoryService,
  serveHistory,
  watchHistory,
} from '#cli/services/serve-history.ts'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { REQUEST_ID_PATTERN } from '#core/contract/openapi.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { openStore } from '#storage/open-store.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { pointAt } from '../../support/history/point-to.ts'
import { copyStores, NEXT_VERSION } from '../../support/stores/stores.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { createStream, madeUp } from '../made-up.ts'

const NOW = '2025-02-26T00:00:00.000Z'
const { url: STORE_URL, privateUrl: PRIVATE_STORE_URL } = inject('tinyStore')

/** Serves the tiny book, or another store, and gives what is noted and the lines of the log when the service has ended. */
async function serving(
  env: Readonly<Record<string, string>>,
  look: (service: HistoryService) => Promise<void> = async () => {},
) {
  const stream = createStream()
  const notes: string[] = []
  const environment = parseEnvironment(
    { STORE_URL, PRIVATE_STORE_URL, HISTORY_PORT: '0', ...env },
    '/nowhere',
  )
  const world = { ...madeUp().runtime, now: () => Date.parse(NOW), logStream: stream }
  const service = await serveHistory(environment, world, line => notes.push(line))
  try {
    await look(service)
  } finally {
    await service.stop()
  }
  return { lines: stream.text().split('\n').slice(0, -1).map(toLine), text: stream.text(), notes }
}

const toLine = (line: string) => z.record(z.string(), z.unknown()).parse(JSON.parse(line))

/** The address in the document of a service on these variables, and the one that is bound. */
async function addressesOn(env: Readonly<Record<string, string>>) {
  let document = ''
  let port = ''
  await serving(env, async service => {
    port = new URL(service.url).port
    const host = env.HOST === '::1' ? '[::1]' : '127.0.0.1'
    const answer = await fetch(`http://${host}:${port}/openapi.json`)
    document = openApi.parse(await answer.json()).servers[0].url
  })
  expect(port).not.toBe('0')
  return document.replace(new RegExp(`:${port}$`), ':PORT')
}

const openApi = z.object({ servers: z.tuple([z.object({ url: z.string() })]) })

test.each<[what: string, Record<string, string>, address: string]>([
  ['the one that is bound, whichever port the system gave', {}, 'http://127.0.0.1:PORT'],
  ['localhost if every address of the machine is bound', { HOST: '0.0.0.0' }, 'http://localhost:PORT'],
  [
    'the one that the operator sets, if any',
    { HOST: '0.0.0.0', PUBLIC_BASE_URL: 'https://data.example.org/' },
    'https://data.example.org',
  ],
])('the address in /openapi.json is %s', async (_what, env, address) => {
  expect(await addressesOn(env)).toBe(address)
})

const hasIpv6 = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)

test.skipIf(!hasIpv6)(
  'the address in /openapi.json has brackets if it is one of IPv6 (skipped on a machine without)',
  async () => {
    expect(await addressesOn({ HOST: '::1' })).toBe('http://[::1]:PORT')
  },
)

const JSON_HEADERS = { content_type: 'application/json' }

const newStore = async () => pathToFileURL(join(await temporaryFolder(), 'store')).href

test('the start of the history service prints which version is served', async () => {
  expect((await serving({})).notes).toEqual([expect.stringMatching(/^serving 2\S+Z$/)])
})

test('the start of the history service prints that nothing is published, in which store, and how to publish', async () => {
  const url = await newStore()
  expect((await serving({ STORE_URL: url, PRIVATE_STORE_URL: '' })).notes).toEqual([
    `nothing is published in ${url}; publish with \`highwater build --store ${url}\`; ` +
      'it will be served as soon as it is there',
  ])
})

test('the start of the history service prints that the newest version is damaged, and which one is served in its place', async () => {
  const { url, privateUrl } = await copyStores(inject('tinyStore'))
  const store = await openStore(url)
  await store.create(manifestKey(NEXT_VERSION), new TextEncoder().encode('{}'), JSON_HEADERS)
  await pointAt(store, NEXT_VERSION, '0'.repeat(64))
  const { notes } = await serving({ STORE_URL: url, PRIVATE_STORE_URL: privateUrl }, async service => {
    const readyz = await fetch(`${service.url}/readyz`)
    expect(await readyz.json()).toMatchObject({ data: { ready: true, unfit_version: NEXT_VERSION } })
  })
  expect(notes).toEqual([
    `serving ${TINY_VERSION}, which was published before: the version ${NEXT_VERSION} cannot be served: ` +
      'its manifest is not the one that was published',
  ])
})

test('the start of the history service prints that the first version cannot be served, and names none before it', async () => {
  const url = await newStore()
  const store = await openStore(url)
  await store.create(pointerKey(1), new TextEncoder().encode('[]'), JSON_HEADERS)
  const { notes } = await serving({ STORE_URL: url, PRIVATE_STORE_URL: '' })
  expect(notes).toEqual([
    expect.stringMatching(
      /^nothing is served yet: file:.*v1\/pointer\/0000000001\.json is not a pointer entry: [^\n]*$/,
    ),
  ])
})

const ask = async (service: HistoryService, path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(service.url + path, { headers })
  await answer.arrayBuffer()
  return answer
}

const STATS = '/v1/strategies/{sid}/stats'

test('the access log has route, kind, version, status and bytes of each request, and never its address', async () => {
  const { lines, text } = await serving({}, async service => {
    const id = (await ask(service, '/v1/strategies')).headers.get('etag') ?? ''
    await ask(service, '/v1/strategies', { 'if-none-match': id, 'accept-encoding': 'gzip, deflate' })
    await ask(service, '/v1/export?risk_pct=hw_live_secret')
    await ask(service, '/nowhere/hw_live_secret?token=hw_live_secret', { 'x-request-id': 'hw_live_secret' })
    await ask(service, '/healthz', { 'x-request-id': '0123456789abcdef' })
  })
  expect(lines).toMatchObject([
    {
      ...{ route: '/v1/strategies', kind: 'static', version: TINY_VERSION, status: 200 },
      ...{ method: 'GET', time: NOW },
    },
    { route: '/v1/strategies' },
    { route: '/v1/export', kind: 'refused', status: 422 },
    { route: 'none', kind: 'refused', status: 404 },
    { route: '/healthz', kind: 'live', status: 200, request_id: '0123456789abcdef' },
  ])
  expect(text).not.toMatch(/secret/)
  expect(new Set(lines.map(line => line.request_id)).size).toBe(5)
})

test('the access log distinguishes a computation, a compressed file, a 304 and a HEAD', async () => {
  const { lines } = await serving({}, async service => {
    const [sid] = z
      .object({ data: z.array(z.object({ id: z.string() })) })
      .parse(await (await fetch(`${service.url}/v1/strategies`)).json()).data
    const path = `/v1/strategies/${sid?.id}/stats`
    const computed = await ask(service, `${path}?risk_pct=0.0123`)
    await ask(service, `${path}?risk_pct=0.0123`, { 'if-none-match': computed.headers.get('etag') ?? '' })
    await ask(service, computed.headers.get('content-location')?.split('?')[0] ?? '')
    await fetch(service.url + path, { method: 'HEAD' })
  })
  expect(lines.slice(1)).toMatchObject([
    { route: STATS, kind: 'computed', status: 200, bytes: expect.any(Number) },
    { route: STATS, kind: '304', status: 304, bytes: 0 },
    { route: `/v1/snapshots/{version}${STATS.slice(3)}`, kind: 'static', status: 200 },
    { route: STATS, kind: 'static', method: 'HEAD', bytes: 0 },
  ])
  expect(lines[1]?.bytes).toBeGreaterThan(500)
})

test('the history service names requests in the form that a request may quote, so that a quoted name is kept', async () => {
  const names: (string | null)[] = []
  const nameOf = async (service: HistoryService, headers = {}) =>
    (await ask(service, '/nowhere', headers)).headers.get('x-request-id')
  await serving({}, async service => {
    for (let i = 0; i < 40; i++) names.push(await nameOf(service))
    for (const name of names) expect(await nameOf(service, { 'x-request-id': name })).toBe(name)
  })
  expect(names.filter(name => !REQUEST_ID_PATTERN.test(name ?? ''))).toEqual([])
  expect(new Set(names).size).toBe(40)
})

const ANSWERED: Answered = {
  ...{ request_id: 'ab-1', method: 'GET', route: STATS, kind: 'static', version: null },
  ...{ status: 200, ms: 0.25, bytes: 7 },
}

test.each([
  ['info', 2],
  ['warn', 1],
  ['error', 0],
  ['silent', 0],
] as const)(
  'at LOG_LEVEL %s the access log has %i lines for an answer and a fault of ours',
  (level, count) => {
    const stream = createStream()
    const environment = parseEnvironment({ STORE_URL, PRIVATE_STORE_URL, LOG_LEVEL: level }, '/nowhere')
    const world = { ...madeUp().runtime, now: () => Date.parse(NOW), logStream: stream }
    const observed = {
      dataset: () => null,
      findings: async () => [],
      residentVersions: () => 0,
      unanchored: async () => null,
      caches: {},
    }
    const watch = watchHistory(environment, world, observed, () => {})
    watch.onAnswered(ANSWERED)
    watch.onAnswered({ ...ANSWERED, status: 503 })
    watch.stop()
    const lines = stream.text().split('\n').slice(0, -1)
    expect(lines).toHaveLength(count)
    if (count === 2)
      expect(toLine(lines[0]!)).toEqual({ level: 'info', time: NOW, ...ANSWERED, msg: 'request' })
  },
)

test('the admin listener counts requests by route and kind, times them, reports the state of the process, and is on this machine alone, also if HOST is open', async () => {
  let text = ''
  await serving({ ANCHOR_COMMAND: 'true', HOST: '0.0.0.0' }, async service => {
    expect(new URL(service.adminUrl).hostname).toBe('127.0.0.1')
    for (let i = 0; i < 3; i++) await ask(service, '/v1/strategies')
    await ask(service, '/nowhere?secret=1')
    const answer = await fetch(`${service.adminUrl}/metrics`)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    text = await answer.text()
    expect((await fetch(`${service.adminUrl}/healthz`)).status).toBe(200)
    expect((await fetch(`${service.adminUrl}/v1/strategies`)).status).toBe(404)
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  })
  const age = (Date.parse(NOW) - Date.parse(TINY_VERSION)) / 1_000
  for (const line of [
    'highwater_history_requests_total{route="/v1/strategies",kind="static",status="200"} 3',
    'highwater_history_requests_total{route="none",kind="refused",status="404"} 1',
    'highwater_history_request_seconds_bucket{le="+Inf",route="/v1/strategies",kind="static"} 3',
    'highwater_history_request_seconds_count{route="/v1/strategies",kind="static"} 3',
    `highwater_history_dataset_age_seconds ${age}`,
    'highwater_history_data_age_seconds 259200', // three days
    'highwater_history_finding{check="disk"} 0',
    'highwater_history_finding{check="last night"} 0',
    'highwater_history_faults_total 0',
    'highwater_history_resident_versions 1',
    'highwater_history_entries_without_time_stamp 1',
    'highwater_history_swaps_total 1',
    'highwater_history_swap_failures_total 0',
    'highwater_history_cache_lookups_total{cache="published",outcome="hit"} 2',
    'highwater_history_cache_lookups_total{cache="published",outcome="miss"} 1',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toMatch(/^highwater_history_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+$/m)
  expect(text).not.toContain('secret')
})

test('entries without a time stamp are counted only where an authority is used', async () => {
  await serving({}, async ({ adminUrl }) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text()
    expect(text).not.toMatch(/^highwater_history_entries_without_time_stamp/m)
  })
})

test('a set admin port that is taken keeps the history service from starting', async () => {
  await serving({}, async ({ adminUrl }) => {
    const { port } = new URL(adminUrl)
    await expect(serving({ ADMIN_PORT: port }, async () => {})).rejects.toThrow(
      `ADMIN_HOST, ADMIN_PORT: cannot listen on 127.0.0.1:${port}: another process has the port: stop it, or choose another port`,
    )
  })
})

const unfit = (version: string): RefreshOutcome => ({
  kind: 'failed',
  error: new UnfitVersionError(version, 'its manifest is not the one that was published', NO_CHECKS),
})
const away: RefreshOutcome = { kind: 'failed', error: new Error('the store does not answer') }
const fine: RefreshOutcome = { kind: 'unchanged' }
const kindsAfter = (...outcomes: readonly RefreshOutcome[]) => {
  const kinds: string[] = []
  const look = createSwapAlerts(({ kind }) => kinds.push(kind))
  look({ kind: 'swapped', from: null, to: TINY_VERSION })
  outcomes.forEach(look)
  return kinds
}

test('an alert on an unfit version is raised once, again for another version, and once more when it is resolved', () => {
  expect(kindsAfter(unfit('a'), unfit('a'), unfit('a'))).toEqual(['swap_failed'])
  const twice = ['swap_failed', 'swap_failed', 'swap_mended']
  expect(kindsAfter(unfit('a'), unfit('b'), fine, fine)).toEqual(twice)
  expect(kindsAfter(unfit('a'), fine, unfit('a'))).toEqual(['swap_failed', 'swap_mended', 'swap_failed'])
})

test('an alert on a store that is away is raised at the third look in a row', () => {
  expect(kindsAfter(away, away, fine, away, away, fine)).toEqual([])
  expect(kindsAfter(away, away, away, away, fine)).toEqual(['swap_failed', 'swap_mended'])
})

test('no alert is raised before the first publication, and one is when nothing is published any more', () => {
  const empty: RefreshOutcome = { kind: 'empty' }
  const kinds: string[] = []
  const look = createSwapAlerts(({ kind }) => kinds.push(kind))
  for (let i = 0; i < 5; i++) look(empty)
  expect(kinds).toEqual([])
  expect(kindsAfter(empty, empty, empty)).toEqual(['swap_failed'])
})
