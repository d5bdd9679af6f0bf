// Every example of the document of the operator's interface is what it answers to the question beside it.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createOperatorApp } from '#api/operator/app.ts'
import { MOST_WAITING_TOKENS, MOST_WRONG_TOKENS } from '#api/operator/guard.ts'
import type { OperatorRoute } from '#api/operator/operator-route.ts'
import type { OperatorParts } from '#api/operator/parts.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { dataSchema, type Example } from '#core/contract/route.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import {
  type Answers,
  assertAnswersShown,
  assertRefusalsShown,
  componentsOf,
  type ExampledDocument,
  exampledDocument,
  recordIfAsked,
  sentExamples,
} from '../../support/history/recorded-examples.ts'
import { base62Bytes, base64Bytes } from '../../support/http/word-bytes.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { offlineOrders, operatorClient, operatorParts, testBox } from '../../support/signals/operator.ts'
import { playScene } from '../../support/signals/operator-scene.ts'
import { NOW_MS } from '../../support/signals/signals.ts'
import { undescribedFields } from '../history/described.ts'

const TOKEN = 'hw_live_00EXAMPL_0000KeyOfAnExampleItOpensNothingAnywhere000'
const SECRET = 'whsec_SecretOfAnExampleItSignsNothingAnywhere0000'

let server: TestRedis
let redis: Redis
let answers: Answers
let document: ExampledDocument

beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
  await playScene(redis)
  answers = { answers: await answerAll(), refusals: await refuseAll() }
  recordIfAsked('operator-examples.json', answers)
  const response = await createOperatorApp(parts()).request('http://127.0.0.1:8082/openapi.json')
  document = exampledDocument.parse(await response.json())
})
afterAll(() => server.stop())

/** Keys and secrets say of themselves that they are examples. */
const parts = (more: Partial<OperatorParts> = {}): OperatorParts =>
  operatorParts(redis, {
    random: base62Bytes('00EXAMPL', '0000KeyOfAnExampleItOpensNothingAnywhere000'),
    orders: offlineOrders(redis, testBox(), base64Bytes('SecretOfAnExampleItSignsNothingAnywhere0000')),
    ...more,
  })

/** The same Redis, whose clock shows what that of the interface shows: nothing is fired where they differ. */
const atOneTime = (server: Redis): Redis =>
  new Proxy(server, {
    get: (target, name): unknown =>
      name === 'time' ? async () => [String(NOW_MS / 1000), '0'] : Reflect.get(target, name),
  })

const exampleOf = ({ id, example }: OperatorRoute): Example => {
  if (example === undefined) throw new Error(`the route '${id}' has no example`)
  return example
}

/** Routes that change what the others answer come after those that only read, in this order. */
const CHANGING = [
  ...['add_client', 'issue_key', 'fire', 'activate', 'entitle', 'suspend', 'confirm_key', 'revoke_key'],
  ...['set_webhook', 'rotate_webhook', 'disable_webhook', 'enable_webhook', 'test', 'replay'],
  ...['remove_webhook', 'halt', 'resume', 'mode'],
]
const IN_ORDER = OPERATOR_ROUTES.toSorted((a, b) => CHANGING.indexOf(a.id) - CHANGING.indexOf(b.id))

/** Requests every route in turn: some change the answers of others. */
async function answerAll(): Promise<Answers['answers']> {
  const ask = operatorClient(parts({ redis: atOneTime(redis) }))
  const found: Record<string, Answers['answers'][string]> = {}
  for (const route of IN_ORDER) {
    const { id, method, statuses = [200] } = route
    const { path, body } = exampleOf(route)
    const { status, json } = await ask(method, path, body)
    expect([id, status, json]).toEqual([id, statuses[0], json])
    found[id] = { json: portable(json) }
  }
  return found
}

/** The Redis of this machine, and how much memory it takes, are another matter. */
const portable = (json: unknown): unknown =>
  JSON.parse(
    JSON.stringify(json)
      .replace(/"version":"[^"]+"/, '"version":"7.0.15"')
      .replace(/"used_bytes":\d+/, '"used_bytes":1572864'),
  )

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
    const [method = '', path = ''] = request.split(' ')
    const { json } = await operatorClient(of)(
      method,
      path.replace('...', '0'.repeat(TOO_LONG)),
      body,
      headers,
    )
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

/** More than an address may be long. */
const TOO_LONG = 8_192

test('every example of the document is what was answered and refused, and there is no other one', () => {
  const requestOf = (name: string): string =>
    OPERATOR_ROUTES.flatMap(route =>
      route.id === name ? [`${route.method} ${exampleOf(route).path}`] : [],
    ).join()
  expect(document.components.examples).toEqual(componentsOf(answers, requestOf))
})

test('every answer and every refusal that is described has its example', () => {
  assertAnswersShown(document)
  assertRefusalsShown(document)
})

const enveloped = z.looseObject({ data: z.unknown() })

describe.each(OPERATOR_ROUTES)('the example of $method $path', route => {
  const { id, method, path } = route
  test('is what the schema describes, field for field', () => {
    const shown = enveloped.parse(document.components.examples[id]?.value).data
    expect(dataSchema(route).safeParse(shown).error).toBeUndefined()
    expect(undescribedFields(dataSchema(route), shown)).toEqual([])
  })

  test('sends what is taken, where it sends something', () => {
    const { body } = exampleOf(route)
    const sent = sentExamples(document.paths[path]![method.toLowerCase()]!)
    expect(sent).toEqual(body === undefined ? [] : [body])
  })
})

test('every key and every secret in an example says that it is one', () => {
  const text = JSON.stringify(document.components.examples)
  const keys = text.match(/hw_live_\w+/g) ?? []
  expect(new Set(keys.map(key => key.slice(0, TOKEN.length)))).toEqual(new Set([TOKEN]))
  expect(new Set(text.match(/whsec_\w+/g))).toEqual(new Set([SECRET]))
})
