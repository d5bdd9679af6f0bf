// Every request that can be made from the published document of the signals service, with a key and without one: each
// answer is as the document describes it, and never a fault.
import { beforeAll, expect, test } from 'vitest'
import { forAllInTurn } from '#test/support/for-all.ts'
import { anyRequest, askIn, holdToDocument } from '../../support/http/any-request.ts'
import { openApi } from '../../support/http/openapi-documents.ts'
import { sharedRedis } from '../../support/servers/use-redis.ts'
import { addClient, fire, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'

const BODIES = [
  '{"url":"https://hooks.example.org/token-of-mine"}',
  '{"url":"http://127.0.0.1:1/","secret":"whsec_x"}',
  '{"url":1}',
  '{"equity_usd":5000,"contribution_cadence_bars":14}',
  '{"equity_usd":1e308,"contribution_cadence_bars":-1}',
]
const KNOWN = { since: ['0', '1', '3'], from: ['1', '2'], to: ['3'] }

let made: ReturnType<typeof createTestSignals>
let token: string

beforeAll(async () => {
  const redis = await (await sharedRedis()).connect()
  await redis.flushall()
  made = createTestSignals(redis)
  token = (await addClient(redis, 'acme', ['alder'], seededBytes('anything'))).token
  for (const id of ['a', 'b', 'c']) await fire(redis, id, 'alder')
})

test.each([
  ['with a key', () => ({ 'x-api-key': token, 'content-type': 'application/json' })],
  ['without a key', () => ({ 'content-type': 'application/json' })],
  [
    'with a key that is none, and a body that is no JSON',
    () => ({ 'x-api-key': 'hw_x', 'content-type': 'a' }),
  ],
])('each answer of the signals service to a request %s is as its document has it', async (_who, headers) => {
  const document = openApi.parse(await (await made.app.request('/openapi.json')).json())
  const hold = holdToDocument(document, askIn(made.app, headers()))
  await forAllInTurn(250, anyRequest(document, KNOWN, BODIES), async asked => {
    expect(await hold(asked)).toEqual([])
  })
  expect(made.errors).toEqual([])
})
