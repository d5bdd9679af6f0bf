// Every example of the document of the signals service is what the service answers to the question beside it.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { type ErrorCode, STATUS_OF } from '#core/contract/errors.ts'
import { issueKey } from '#signals/clients/api-keys.ts'
import { createClient, entitleClient } from '#signals/clients/clients.ts'
import { owe } from '#signals/outbox/outbox.ts'
import { createPreviewLimits, PREVIEW_LIMITS } from '#signals/program/preview-limits.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { EPOCH, RELAY_CURSOR } from '#signals/redis/keys.ts'
import {
  type Answers,
  answersTo,
  assertExample,
  assertRecorded,
  base64Bytes,
  partsOf,
  recordIfAsked,
} from '../../support/history/recorded-examples.ts'
import { type OpenApi, openApi } from '../../support/http/openapi-documents.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { settleAs } from '../../support/signals/operator-scene.ts'
import { startSealed } from '../../support/signals/sealed-chain.ts'
import { addClient, fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, isKeyless, registerParts } from '../../support/signals/signals-app.ts'
import { ROUTES_IN_TURN } from './keyed-answers.ts'

/** Every route but the document, which would stand in itself. */
const ROUTES = ROUTES_IN_TURN.filter(({ id }) => id !== 'openapi')

let redis: Redis
let service: ReturnType<typeof createTestSignals>
let answers: Answers
let document: OpenApi

beforeAll(async () => {
  redis = await (await sharedRedis()).connect()
  await redis.flushall()
  const sealed = await startSealed(redis)
  service = createTestSignals(redis, {
    privateStore: sealed.chain.privateStore,
    registering: {
      ...registerParts(redis, () => NOW_MS),
      drawBytes: base64Bytes('SecretOfAnExampleItSignsNothingAnywhere0000'),
    },
  })
  const token = await playLog()
  await sealed.seal(1, 2, 3)
  answers = { answers: await answerAll(token), refusals: await refuseAll(token) }
  recordIfAsked('signals-examples.json', answers)
  const response = await service.app.request('/openapi.json')
  expect(response.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
  document = openApi.parse(await response.json())
})

/** Four signals of one client, whose webhook has taken two of them; gives its key, the newer of two. */
async function playLog(): Promise<string> {
  const random = seededBytes('examples')
  await addClient(redis, 'acme', ['alder', 'birch'], random)
  await entitleClient(redis, 'acme', { program: true }, PROGRAM_ALIAS)
  const { token } = await issueKey(redis, 'acme', random, NOW_MS)
  for (const [i, alias] of ['alder', 'birch', 'elm', 'alder'].entries()) {
    const seq = await fire(redis, `${alias}-20261121-${i + 1}`, alias)
    await owe(redis, [{ destination: 'acme', signals: [{ seq, prev: seq - 1 }] }], NOW_MS)
    if (seq <= 2) await settleAs(redis, seq, 'acme', 'delivered', 1)
  }
  await redis.mset(EPOCH, 'first-epoch', RELAY_CURSOR, 4)
  return token
}

const headersOf = (token: string | null, body: unknown): Record<string, string> => ({
  ...(token === null ? {} : { 'X-API-Key': token }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
})

/** Requests every route in turn: some change the answers of others. */
const answerAll = (token: string): Promise<Answers['answers']> =>
  answersTo(ROUTES, async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await service.app.request(path, { method, headers: headersOf(token, body), ...sent })
    return { status: response.status, text: await response.text() }
  })

/** Refusals of what comes as a request, in the service as it is and in others that fail. */
async function refuseAll(token: string): Promise<Answers['refusals']> {
  const found: Record<string, Answers['refusals'][string]> = {}
  const asked = async (code: ErrorCode, request: string, init: RequestInit = {}, { app } = service) => {
    const { method, path } = partsOf(request)
    const response = await app.request(path, { method, ...init })
    found[code] = { request, json: await response.json() }
  }
  const keyed = (key = token) => ({ headers: headersOf(key, undefined) })
  const sent = (body: string, type = 'application/json') => ({
    headers: { 'X-API-Key': token, 'content-type': type },
    body,
  })
  const { older, pending } = await addOthers()
  await asked('unauthorized', 'GET /v1/whoami')
  await asked('account_not_active', 'GET /v1/signals/latest', keyed(pending))
  await asked('not_entitled', 'GET /v1/program', keyed(pending))
  await asked('not_found', 'GET /v1/webhook', keyed(pending))
  await asked('profile_not_set', 'GET /v1/program/basket?view=personal', keyed(older))
  await asked('conflict', 'POST /v1/keys/confirm', keyed(older))
  await asked('method_not_allowed', 'DELETE /v1/webhook', keyed())
  await asked('bad_request', 'PUT /v1/program/profile', sent('{"equity_usd":25000'))
  await asked('payload_too_large', 'PUT /v1/program/profile', sent(JSON.stringify('x'.repeat(100_000))))
  await asked('unsupported_media_type', 'PUT /v1/program/profile', sent('equity_usd=25000', 'text/plain'))
  await asked('validation_error', 'GET /v1/signals/history?since=yesterday&limit=0', keyed())
  await asked('uri_too_long', 'GET /v1/signals/history?since=...', keyed())
  const away = connectRedis('redis://127.0.0.1:1', () => {})
  const counting = createTestSignals(redis, {
    limits: createPreviewLimits(
      away,
      () => 0,
      () => {},
    ),
  }) // by this clock
  for (let i = 0; i <= PREVIEW_LIMITS.preview; i++)
    await asked('rate_limited', 'GET /v1/program/preview', {}, counting)
  const program = () => {
    throw new Error('a fault of ours')
  }
  await asked('internal_error', 'GET /v1/program', keyed(), createTestSignals(redis, { program }))
  await asked('not_ready', 'GET /readyz', {}, createTestSignals(redis, { isDraining: () => true }))
  await asked('unavailable', 'GET /v1/signals/head', keyed(), createTestSignals(away))
  away.disconnect()
  return found
}

/** A client with the program and two keys, and one without anything that waits to be activated. */
async function addOthers(): Promise<{ older: string; pending: string }> {
  const random = seededBytes('others')
  const { token: older } = await addClient(redis, 'north-ridge', [], random)
  await entitleClient(redis, 'north-ridge', { program: true }, PROGRAM_ALIAS)
  await issueKey(redis, 'north-ridge', random, NOW_MS)
  await createClient(redis, 'old-mill', 'standard', NOW_MS)
  const { token: pending } = await issueKey(redis, 'old-mill', random, NOW_MS)
  return { older, pending }
}

test('every example of the document of the signals service is what it answered or refused, and every answer and refusal has one', () => {
  assertRecorded(document, answers, ROUTES, ['/openapi.json'])
})

test.each(ROUTES)('the example of $method $path has the fields of its schemas alone', route => {
  assertExample(document, route)
})

test('no example holds a key, and every secret says that it is an example', () => {
  const text = JSON.stringify(document.components.examples)
  expect(text).not.toContain('hw_live_')
  expect([...new Set(text.match(/whsec_\w+/g))]).toEqual([
    'whsec_SecretOfAnExampleItSignsNothingAnywhere0000',
  ])
})

test('the document of the signals service has every route of the table under its method, and nothing else', () => {
  expect(document).toMatchObject({
    info: { title: 'Live trade signals' },
    servers: [{ url: 'https://signals.example.org' }],
    components: { securitySchemes: { ApiKey: { in: 'header', name: 'X-API-Key' } } },
  })
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  )
  expect(described).toEqual(SIGNALS_ROUTES.map(({ id, method, path }) => [id, method, path]))
})

test.each(SIGNALS_ROUTES)('the document has credentials of $method $path, and refusals', route => {
  const found = document.paths[route.path]?.[route.method.toLowerCase()]
  const keyed = isKeyless(route) ? [] : ['401', '503']
  expect(found?.security).toEqual(isKeyless(route) ? [] : [{ ApiKey: [] }])
  const statuses = Object.keys(found?.responses ?? {})
  const refused = (route.refusals ?? []).map(code => String(STATUS_OF[code]))
  expect(statuses).toEqual(
    expect.arrayContaining([
      String(route.statuses?.[0] ?? 200),
      '400',
      '405',
      '414',
      '431',
      '500',
      ...keyed,
      ...refused,
    ]),
  )
  expect(statuses.includes('403')).toBe(route.group === 'account' || route.group === 'program')
  expect(statuses.includes('429')).toBe(
    route.group === 'preview' || route.refusals?.includes('rate_limited') === true,
  )
})

test('the preview documents the headers of its limit wherever they are, and Retry-After', () => {
  const paths = ['/v1/program/preview', '/v1/program/preview/simulate']
  for (const { responses } of paths.flatMap(path => Object.values(document.paths[path]!))) {
    const headers = Object.entries(responses).map(
      ([status, { headers, content }]) =>
        [status, Object.keys(headers ?? {}), content === undefined && status !== '304'] as const,
    )
    for (const [status, names, isOfServer] of headers) {
      const isUncounted = isOfServer || ['405', '414'].includes(status)
      const limit = isUncounted ? [] : ['RateLimit', 'RateLimit-Policy']
      expect([status, names]).toEqual([status, status === '429' ? [...limit, 'Retry-After'] : limit])
    }
  }
})
