// Every example of the document of the signals service is what the service answers to the question beside it.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import type { SignalsRoute } from '#api/signals/signals-route.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { dataSchema, type Example } from '#core/contract/route.ts'
import { issueKey } from '#signals/clients/api-keys.ts'
import { createClient, entitleClient } from '#signals/clients/clients.ts'
import { owe } from '#signals/delivery/outbox.ts'
import { createPreviewLimits, PREVIEW_LIMITS } from '#signals/program/preview-limits.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import {
  type Answers,
  assertAnswersShown,
  assertRefusalsShown,
  base64Bytes,
  componentsOf,
  type ExampledDocument,
  exampledDocument,
  recordIfAsked,
  sentExamples,
} from '../../support/history/recorded-examples.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { settleAs } from '../../support/signals/operator-scene.ts'
import { addClient, fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, registerParts } from '../../support/signals/signals-app.ts'
import { undescribedFields } from '../history/described.ts'

/** Every route but the document, which would stand in itself. */
const ROUTES = SIGNALS_ROUTES.filter(({ id }) => id !== 'openapi')

const exampleOf = (route: SignalsRoute): Example => {
  if (route.example === undefined) throw new Error(`the route '${route.id}' has no example`)
  return route.example
}

/** Routes that change what the others answer come last, in this order. */
const CHANGING = ['put_webhook', 'get_webhook', 'put_profile', 'get_profile', 'confirm_key']

let redis: Redis
let service: ReturnType<typeof createTestSignals>
let answers: Answers
let document: ExampledDocument

beforeAll(async () => {
  redis = await (await sharedRedis()).connect()
  await redis.flushall()
  service = createTestSignals(redis, {
    registering: {
      ...registerParts(redis, () => NOW_MS),
      drawBytes: base64Bytes('SecretOfAnExampleItSignsNothingAnywhere0000'),
    },
  })
  const token = await playLog()
  answers = { answers: await answerAll(token), refusals: await refuseAll(token) }
  recordIfAsked('signals-examples.json', answers)
  document = exampledDocument.parse(await (await service.app.request('/openapi.json')).json())
})

/** Four signals of one client, whose webhook has taken two of them; gives its key, the newer of two. */
async function playLog(): Promise<string> {
  const random = seededBytes('examples')
  await addClient(redis, 'acme', ['alder', 'birch'], random)
  await entitleClient(redis, 'acme', { program: true }, PROGRAM_ALIAS)
  const { token } = await issueKey(redis, 'acme', random, NOW_MS)
  for (const [i, alias] of ['alder', 'birch', 'elm', 'alder'].entries()) {
    const seq = await fire(redis, `${alias}-20261121-${i + 1}`, alias)
    await owe(redis, [{ client: 'acme', signals: [{ seq, prev: seq - 1 }] }], NOW_MS)
    if (seq <= 2) await settleAs(redis, seq, 'acme', 'delivered', 1)
  }
  return token
}

const headersOf = (token: string | null, body: unknown): Record<string, string> => ({
  ...(token === null ? {} : { 'X-API-Key': token }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
})

/** Requests every route in turn: some change the answers of others. */
async function answerAll(token: string): Promise<Answers['answers']> {
  const found: Record<string, Answers['answers'][string]> = {}
  for (const route of ROUTES.toSorted((a, b) => CHANGING.indexOf(a.id) - CHANGING.indexOf(b.id))) {
    const { id, method } = route
    const { path, body } = exampleOf(route)
    const ask = (query: string) =>
      service.app.request(path + query, {
        method,
        headers: headersOf(token, body),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const response = await ask('')
    const json: unknown = await response.json()
    expect([id, response.status, json]).toEqual([id, 200, json])
    found[id] = route.formats?.includes('csv')
      ? { json, csv: await (await ask('&format=csv')).text() }
      : { json }
  }
  return found
}

/** Refusals of what comes as a request, in the service as it is and in others that fail. */
async function refuseAll(token: string): Promise<Answers['refusals']> {
  const found: Record<string, Answers['refusals'][string]> = {}
  const asked = async (code: ErrorCode, request: string, init: RequestInit = {}, { app } = service) => {
    const [method = '', path = ''] = request.split(' ')
    const response = await app.request(path.replace('...', '0'.repeat(TOO_LONG)), { method, ...init })
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

/** More than an address may be long. */
const TOO_LONG = 8_192

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

test('every example of the document of the signals service is what it answered or refused, and there is no other one', () => {
  const requestOf = (name: string, isCsv: boolean): string => {
    const route = ROUTES.find(({ id }) => id === name)!
    return `${route.method} ${exampleOf(route).path}${isCsv ? '&format=csv' : ''}`
  }
  expect(document.components.examples).toEqual(componentsOf(answers, requestOf))
})

test('every answer and every refusal that the document of the signals service describes has its example', () => {
  assertAnswersShown(document, ['/openapi.json'])
  assertRefusalsShown(document)
})

const enveloped = z.looseObject({ data: z.unknown() })

test.each(ROUTES)('the example of $method $path has the fields of its schemas and no others', route => {
  const { id, method, path, isBare } = route
  const value = document.components.examples[id]?.value
  const shown = isBare ? value : enveloped.parse(value).data
  expect(dataSchema(route).safeParse(shown).error).toBeUndefined()
  if (id !== 'schema') expect(undescribedFields(dataSchema(route), shown)).toEqual([]) // that one is a schema itself
  const sent = sentExamples(document.paths[path]![method.toLowerCase()]!)
  expect(sent).toEqual(route.body === undefined ? [] : [exampleOf(route).body])
})

test('no example holds a key, and the one secret says that it is an example', () => {
  const text = JSON.stringify(document.components.examples)
  expect(text).not.toContain('hw_live_')
  expect(text.match(/whsec_\w+/g)).toEqual(['whsec_SecretOfAnExampleItSignsNothingAnywhere0000'])
})
