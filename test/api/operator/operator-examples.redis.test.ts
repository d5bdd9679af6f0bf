// The document of the operator's interface describes the routes that there are, and what they answer, no more and no
// less; every example of it is what the interface answers to the question beside it.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { createOperatorApp } from '#api/operator/app.ts'
import type { OperatorParts } from '#api/operator/exchange.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { MOST_WAITING_TOKENS, MOST_WRONG_TOKENS } from '#api/service/guessing.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import {
  type Answers,
  answersTo,
  assertExample,
  assertRecorded,
  base62Bytes,
  base64Bytes,
  partsOf,
  recordIfAsked,
} from '../../support/history/recorded-examples.ts'
import { type OpenApi, openApi } from '../../support/http/openapi-documents.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { operatorClient, operatorParts, testBox } from '../../support/signals/operator.ts'
import { playScene } from '../../support/signals/operator-scene.ts'
import { NOW_MS } from '../../support/signals/signals.ts'
import { registerParts } from '../../support/signals/signals-app.ts'

const TOKEN = 'hw_live_00EXAMPL_0000KeyOfAnExampleItOpensNothingAnywhere000'
const SECRET = 'whsec_SecretOfAnExampleItSignsNothingAnywhere0000'

let redis: Redis
let answers: Answers
let document: OpenApi

beforeAll(async () => {
  redis = await (await sharedRedis()).connect()
  await redis.flushall()
  await playScene(redis)
  answers = { answers: await answerAll(), refusals: await refuseAll() }
  recordIfAsked('operator-examples.json', answers)
  const response = await createOperatorApp(parts()).request('http://127.0.0.1:8082/openapi.json')
  expect(response.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
  document = openApi.parse(await response.json()) // nobody needs a token to learn what there is
})

/** Keys and secrets say of themselves that they are examples. */
const parts = (more: Partial<OperatorParts> = {}): OperatorParts =>
  operatorParts(redis, {
    random: base62Bytes('00EXAMPL', '0000KeyOfAnExampleItOpensNothingAnywhere000'),
    registering: {
      ...registerParts(redis, () => NOW_MS),
      box: testBox(),
      drawBytes: base64Bytes('SecretOfAnExampleItSignsNothingAnywhere0000'),
    },
    ...more,
  })

/** The same Redis, whose clock shows what that of the interface shows: nothing is fired where they differ. */
const atOneTime = (server: Redis): Redis =>
  new Proxy(server, {
    get: (target, name): unknown =>
      name === 'time' ? async () => [String(NOW_MS / 1000), '0'] : Reflect.get(target, name),
  })

/** Routes that change what the others answer come after those that only read, in this order. */
const CHANGING = [
  ...[
    'add_client',
    'issue_key',
    'link_client',
    'fire',
    'activate',
    'entitle',
    'suspend',
    'confirm_key',
    'revoke_key',
  ],
  ...['set_webhook', 'rotate_webhook', 'disable_webhook', 'enable_webhook', 'test', 'replay'],
  ...['remove_webhook', 'halt', 'resume', 'mode', 'rollback'],
]
const IN_ORDER = OPERATOR_ROUTES.toSorted((a, b) => CHANGING.indexOf(a.id) - CHANGING.indexOf(b.id))

/** Requests every route in turn: some change the answers of others. */
function answerAll(): Promise<Answers['answers']> {
  const ask = operatorClient(parts({ redis: atOneTime(redis) }))
  return answersTo(IN_ORDER, async (...asked) => {
    const { status, text } = await ask(...asked)
    return { status, text: portable(text) }
  })
}

/** The Redis of this machine, and how much memory it takes, are another matter. */
const portable = (text: string): string =>
  text
    .replace(/"redis":{"version":"[^"]+"/, '"redis":{"version":"7.0.15"')
    .replace(/"used_bytes":\d+/, '"used_bytes":1572864')

/** Refusals of what comes as a request, by the interface as it is, and by others that fail. */
async function refuseAll(): Promise<Answers['refusals']> {
  const found: Record<string, Answers['refusals'][string]> = {}
  const asked = async (
    code: ErrorCode,
    request: string,
    {
      body,
      headers = {},
      of = parts(),
    }: { body?: string; headers?: Record<string, string>; of?: OperatorParts } = {},
  ) => {
    const { method, path } = partsOf(request)
    const { json } = await operatorClient(of)(method, path, body, headers)
    found[code] = { request, json }
  }
  const away = connectRedis('redis://127.0.0.1:1', () => {})
  const aliases = () => {
    throw new Error('a fault of ours')
  }
  await asked('unauthorized', 'GET /ops/status', { headers: { authorization: 'Bearer none' } })
  await asked('forbidden', 'GET /ops/status', { headers: { host: 'rebound.example.org' } })
  await asked('not_found', 'GET /ops/clients/nobody')
  await asked('method_not_allowed', 'DELETE /ops/status')
  await asked('conflict', 'POST /ops/clients', {
    body: '{"id":"acme-capital"}',
    of: parts({ clock: { now: () => NOW_MS + 60_000, elapsed: () => 0 } }), // at once it would be the same request again
  })
  await asked('validation_error', 'GET /ops/deliveries?status=lost&limit=0')
  await asked('bad_request', 'POST /ops/live/mode', { body: '{"mode":' })
  await asked('payload_too_large', 'POST /ops/live/mode', { body: JSON.stringify('x'.repeat(1e6)) })
  await asked('unsupported_media_type', 'POST /ops/live/mode', {
    body: 'alder',
    headers: { 'content-type': 'text/plain' },
  })
  await asked('uri_too_long', 'GET /ops/deliveries?limit=...')
  await asked('internal_error', 'POST /ops/clients', {
    body: '{"id":"newest","aliases":["alder"]}',
    of: parts({ aliases, onError: () => {} }),
  })
  await asked('unavailable', 'GET /ops/clients', { of: parts({ redis: away }) })
  away.disconnect()
  found.rate_limited = { request: 'GET /ops/status', json: await guessTooOften() }
  return found
}

/** The answer to a wrong token while as many as may wait do. */
async function guessTooOften(): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const client = operatorClient(parts({ pause: () => promise }))
  const guess = () => client('GET', '/ops/status', undefined, { authorization: 'Bearer none' })
  const earlier = Array.from({ length: MOST_WRONG_TOKENS + MOST_WAITING_TOKENS }, guess)
  const { json } = await guess()
  resolve()
  await Promise.all(earlier)
  return json
}

/** What the app answers beside the table: the page, which has forms of its own, and what is open. */
const BESIDE =
  /^(?:GET|POST) (?:\/ops(?:\/view\/.*|\/login|\/logout|\/style\.css|\/icon\.svg|\/updates\.js)?|\/healthz|\/metrics|\/openapi\.json|\/docs.*)$/

test('every route of the operator that the app mounts is described, and nothing else', () => {
  const mounted = createOperatorApp(parts())
    .routes.filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .filter(route => !BESIDE.test(route))
  expect(mounted).toHaveLength(OPERATOR_ROUTES.length)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(mounted.toSorted())
})

test('every example of the document of the operator is what was answered or refused, and every answer and refusal has one', () => {
  assertRecorded(document, answers, OPERATOR_ROUTES)
})

test.each(OPERATOR_ROUTES)('the example of $method $path has the fields of its schemas alone', route => {
  const { responses } = assertExample(document, route)
  expect(Object.keys(responses)).toContain(String(route.statuses?.[0] ?? 200))
})

const fill = (path: string, variables: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name] ?? `no-${name}`)

test.each(OPERATOR_ROUTES)('the document says how $method $path refuses a wrong request', async route => {
  const { requestBody, responses } = document.paths[route.path]![route.method.toLowerCase()]!
  const described = Object.keys(responses)
  const request = operatorClient(parts())
  const path = fill(route.path, { seq: '99' })
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
    for (const [body, type] of Object.entries({ '{': 'json', '[]': 'json', '{}': 'x' })) {
      const headers = { 'content-type': `application/${type}` }
      const { status } = await request(route.method, path, body, headers)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(described).toContain(String(status))
    }
  }
  expect(described).toEqual(expect.arrayContaining(['401', '403', '405', '503']))
  expect(requestBody?.required).toBe(route.body === undefined ? undefined : !route.isBodyOptional)
})

test('every key and every secret in an example of the operator says that it is one', () => {
  const text = JSON.stringify(document.components.examples)
  const keys = text.match(/hw_live_\w+/g) ?? []
  expect(new Set(keys.map(key => key.slice(0, TOKEN.length)))).toEqual(new Set([TOKEN]))
  expect(new Set(text.match(/whsec_\w+/g))).toEqual(new Set([SECRET]))
})
