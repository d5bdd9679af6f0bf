// The document of the operator's interface describes the routes that there are, and what they answer, no more and no less.
import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createOperatorApp } from '#api/operator/app.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { dataSchema } from '#core/contract/route.ts'
import { issueKey } from '#signals/clients/api-keys.ts'
import { useTestRedis } from '../../support/servers/use-redis.ts'
import { operatorClient, operatorParts } from '../../support/signals/operator.ts'
import { playScene } from '../../support/signals/operator-scene.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'

let redis: Redis
useTestRedis(connected => {
  redis = connected
})

const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  parameters: z.array(
    z.looseObject({ name: z.string(), in: z.enum(['path', 'query']), description: z.string().min(1) }),
  ),
  requestBody: z.looseObject({ required: z.boolean() }).optional(),
  responses: z.record(z.string(), z.unknown()),
})

const openApi = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

const parts = () => operatorParts(redis, { clock: { now: () => Date.now(), elapsed: () => 0 } })

/** Nobody needs a token to learn what there is. */
async function readOperations() {
  const response = await createOperatorApp(parts()).request('http://127.0.0.1:8082/openapi.json')
  expect(response.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
  const { paths } = openApi.parse(await response.json())
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, found]) => [`${method.toUpperCase()} ${path}`, found]),
    ),
  )
}

/** What the app answers beside the table: the page, which has forms of its own, and what is open. */
const BESIDE =
  /^(?:GET|POST) (?:\/ops(?:\/view\/.*|\/login|\/logout|\/style\.css|\/updates\.js)?|\/healthz|\/metrics|\/openapi\.json)$/

test('every route that the app mounts is described, and nothing else', async () => {
  const mounted = createOperatorApp(parts())
    .routes.filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .filter(route => !BESIDE.test(route))
  expect(mounted).toHaveLength(OPERATOR_ROUTES.length)
  expect([...(await readOperations()).keys()].toSorted()).toEqual(mounted.toSorted())
})

type Call = {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
}

const ACME = { client: 'acme-capital' }

/** What is asked of each route in the scene; in this order, as some change the answers of others. */
const calls = (key: string): Readonly<Record<string, Call>> => ({
  status: {},
  signals: { query: '?limit=2' },
  signal: { path: { seq: '3' } },
  delivery: { path: { seq: '3', client: 'north-ridge' } },
  deliveries: { query: '?status=exhausted' },
  clients: {},
  client: { path: ACME },
  account: { path: { client: 'north-ridge' }, query: '?from=2&to=5' },
  keys: { path: ACME },
  webhook: { path: ACME },
  live: {},
  add_client: { body: { id: 'new', aliases: ['aldr'] } },
  issue_key: { path: { client: 'new' } },
  fire: {
    body: {
      signal_id: 'fired',
      alias: 'alder',
      action: 'long',
      signal_price: 50_000,
      stop: 49_000,
      base_risk_pct: 0.02,
      timestamp: '2026-11-21T00:00:00Z',
      mode: 'DRY_RUN',
    },
  },
  activate: { path: { client: 'new' } },
  entitle: { path: { client: 'new' }, body: { add: ['alder'] } },
  suspend: { path: { client: 'new' } },
  confirm_key: { path: { key } },
  revoke_key: { path: { key } },
  set_webhook: { path: { client: 'new' }, body: { url: 'https://hooks.new.example.org/' } },
  rotate_webhook: { path: ACME },
  disable_webhook: { path: ACME },
  enable_webhook: { path: ACME },
  test: { path: ACME },
  replay: { path: ACME, query: '?from=5' },
  remove_webhook: { path: ACME },
  halt: { body: { alias: 'alder' } },
  resume: {},
  mode: { body: { alias: 'alder', mode: 'DRY_RUN' } },
  builds: {},
  issue_token: { body: { name: 'jane' } },
  tokens: {},
  audit: { query: '?limit=2' },
  revoke_token: { path: { name: 'jane' } },
})

const fill = (path: string, variables: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name] ?? `no-${name}`)

const enveloped = z.object({ data: z.unknown() })

test('every route answers with a status and with fields that are described, and with no others', async () => {
  await playScene(redis)
  await addClient(redis, 'keyed', [], seededBytes('keyed'))
  const { id } = await issueKey(redis, 'keyed', seededBytes('second'), Date.now())
  const request = operatorClient(parts())
  const operations = await readOperations()
  const routes = new Map(OPERATOR_ROUTES.map(route => [route.id, route]))
  expect(Object.keys(calls(id)).toSorted()).toEqual([...routes.keys()].toSorted())
  for (const [name, { path = {}, query = '', body }] of Object.entries(calls(id))) {
    const route = routes.get(name)!
    const { status, json } = await request(route.method, fill(route.path, path) + query, body)
    expect([name, status]).toEqual([name, route.statuses?.[0] ?? 200])
    expect(Object.keys(operations.get(`${route.method} ${route.path}`)?.responses ?? {})).toContain(
      String(status),
    )
    const { data } = enveloped.parse(json)
    expect([name, dataSchema(route).parse(data)]).toEqual([name, data]) // a field that is not described would be gone
  }
})

describe.each(OPERATOR_ROUTES)('$method $path', route => {
  test('says how it refuses what is not there, and what is wrong', async () => {
    const found = (await readOperations()).get(`${route.method} ${route.path}`)
    const described = Object.keys(found?.responses ?? {})
    const request = operatorClient(parts())
    const path = fill(route.path, { seq: '9' })
    const wrong = [
      ...(route.path.includes('{') ? [path] : []),
      ...(route.query === undefined ? [] : [`${path}?colour=red`]),
    ]
    for (const each of wrong) {
      const { status } = await request(route.method, each)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(described).toContain(String(status))
    }
    if (route.body !== undefined) {
      for (const [body, headers] of [
        ['{', {}],
        ['[]', {}],
        ['{}', { 'content-type': 'text/plain' }],
      ] as const) {
        const { status } = await request(route.method, path, body, headers)
        expect(status).toBeGreaterThanOrEqual(400)
        expect(described).toContain(String(status))
      }
    }
    expect(described).toEqual(expect.arrayContaining(['401', '403', '405', '503']))
    expect(found?.requestBody?.required).toBe(route.body === undefined ? undefined : !route.isBodyOptional)
  })
})
