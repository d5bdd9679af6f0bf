// The audit log and the tokens of operators: nothing that changes something is left out, and no secret is in it.
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createOperatorApp } from '#api/operator/app.ts'
import { FORMS } from '#api/operator/page/forms.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { copyActions, readActions } from '#signals/operators/audit-log.ts'
import { EPOCH } from '#signals/redis/keys.ts'
import { openStore } from '#storage/open-store.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { startTestRedis, type TestRedis } from '../../support/servers/redis.ts'
import { operatorParts, TOKEN } from '../../support/signals/operator.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'

const ORIGIN = 'http://127.0.0.1:8082'

let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startTestRedis()
  redis = await server.connect()
})
beforeEach(() => redis.flushall())
afterAll(() => server.stop())

const call = async (method: string, path: string, body?: object, token = TOKEN) => {
  const response = await createOperatorApp(operatorParts(redis)).request(ORIGIN + path, {
    method,
    headers: {
      host: '127.0.0.1:8082',
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { data } = z
    .object({ data: z.unknown() })
    .catch({ data: null })
    .parse(await response.json())
  return { status: response.status, data }
}

const newest = async () => (await readActions(redis, { limit: 100 })).rows

test.each(OPERATOR_ROUTES.filter(({ method }) => method !== 'GET').map(route => [route.id, route] as const))(
  '%s is logged once, done or refused',
  async (id, { method, path, body }) => {
    await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
    const variables: Readonly<Record<string, string>> = { client: 'acme', key: '00000000', name: 'jane' }
    const { status } = await call(
      method,
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name]!),
      body === undefined ? undefined : {},
    )
    expect(await newest()).toMatchObject([
      {
        seq: 1,
        who: 'operator',
        action: id,
        outcome: status < 300 ? 'done' : expect.not.stringMatching(/^done$/),
      },
    ])
  },
)

test('what is only read is not logged', async () => {
  await call('GET', '/ops/clients')
  await call('GET', '/ops/audit')
  expect(await newest()).toEqual([])
})

test('every form of the page is logged as the route that does the same', () => {
  const ids = OPERATOR_ROUTES.map(({ id }) => id)
  for (const { action } of Object.values(FORMS)) expect(ids).toContain(action)
})

test('an action has its subject, what was asked for, and the state before and after', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await call('POST', '/ops/clients/acme/suspend')
  await call('POST', '/ops/live/halt', { alias: 'alder' })
  await call('POST', '/ops/live/halt', { alias: 'nothing' })
  expect(await newest()).toMatchObject([
    { seq: 3, action: 'halt', subject: 'nothing', outcome: 'validation_error' },
    { seq: 2, action: 'halt', subject: 'alder', before: { halted: [] }, after: { halted: ['alder'] } },
    { seq: 1, action: 'suspend', subject: 'acme', before: { status: 'active' }, after: { suspended: true } },
  ])
})

test('a key is named by its id, also if it was given whole, and its client has the state before and after', async () => {
  const { token, keyId } = await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await call('POST', `/ops/keys/${token}/confirm`)
  await call('POST', `/ops/keys/${token}/revoke`)
  await call('POST', '/ops/keys/no-key-at-all/revoke')
  const log = await newest()
  expect(log).toMatchObject([
    { action: 'revoke_key', subject: null, outcome: 'validation_error', request: { key: '***' } },
    { subject: 'acme', request: { key: keyId }, before: { keys: [keyId] }, after: { keys: [] } },
    { action: 'confirm_key', subject: 'acme', request: { key: keyId } },
  ])
  expect(JSON.stringify(log)).not.toContain(token)
})

test('is read page by page, newest first', async () => {
  for (const alias of ['alder', 'birch', '*']) await call('POST', '/ops/live/halt', { alias })
  const first = await readActions(redis, { limit: 2 })
  expect([first.rows.map(({ seq }) => seq), first.next]).toEqual([[3, 2], 2])
  const last = await readActions(redis, { before: 2, limit: 2 })
  expect([last.rows.map(({ seq }) => seq), last.next]).toEqual([[1], null])
})

test('no secret, key, token or address of a webhook is in it', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const url = 'https://hooks.example.org/in?key=very-private'
  const answers = [
    await call('PUT', '/ops/clients/acme/webhook', { url, secret }),
    await call('POST', '/ops/clients/acme/keys'),
    await call('POST', '/ops/tokens', { name: 'jane' }),
  ]
  const shown = answers.flatMap(({ data }) => Object.values(z.record(z.string(), z.unknown()).parse(data)))
  const secrets = shown.filter(value => typeof value === 'string' && /^(hw_|whsec_)/.test(value))
  expect(secrets.length).toBeGreaterThan(1)
  const log = JSON.stringify(await newest())
  for (const each of [secret, 'very-private', ...secrets]) expect(log).not.toContain(each)
  expect(log).toContain('hooks.example.org')
})

test('a named token opens everything, is named in the log, and opens nothing once it is revoked', async () => {
  const issued = await call('POST', '/ops/tokens', { name: 'jane' })
  const { token } = z.object({ token: z.string() }).parse(issued.data)
  expect((await call('POST', '/ops/tokens', { name: 'jane' })).status).toBe(409)
  expect((await call('POST', '/ops/tokens', { name: 'operator' })).status).toBe(409)
  expect((await call('GET', '/ops/tokens')).data).toMatchObject([{ name: 'jane' }])
  expect(JSON.stringify(await redis.hgetall('{hw}:ops-tokens'))).not.toContain(token)
  expect((await call('POST', '/ops/live/halt', { alias: 'alder' }, token)).status).toBe(200)
  expect((await newest())[0]).toMatchObject({ who: 'jane', action: 'halt' })
  expect((await call('DELETE', '/ops/tokens/jame')).status).toBe(404)
  expect((await call('DELETE', '/ops/tokens/jane')).status).toBe(200)
  expect((await call('GET', '/ops/status', undefined, token)).status).toBe(401)
})

test('a session on the page has the name of its token, and ends with it', async () => {
  const { data } = await call('POST', '/ops/tokens', { name: 'jane' })
  const { token } = z.object({ token: z.string() }).parse(data)
  const app = createOperatorApp(operatorParts(redis))
  const headers = {
    host: '127.0.0.1:8082',
    origin: ORIGIN,
    'content-type': 'application/x-www-form-urlencoded',
  }
  const login = await app.request(`${ORIGIN}/ops/login`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token }).toString(),
  })
  const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const text = await (
    await app.request(`${ORIGIN}/ops/view/live`, { headers: { ...headers, cookie } })
  ).text()
  const [, csrf = ''] = /name="csrf" value="(\w+)"/.exec(text) ?? []
  const halt = new URLSearchParams({ csrf, alias: 'alder' }).toString()
  await app.request(`${ORIGIN}/ops/view/live/halt`, {
    method: 'POST',
    headers: { ...headers, cookie },
    body: halt,
  })
  expect((await newest())[0]).toMatchObject({
    who: 'jane',
    action: 'halt',
    subject: 'alder',
    outcome: 'done',
  })
  await call('DELETE', '/ops/tokens/jane')
  const after = await app.request(`${ORIGIN}/ops`, { headers: { ...headers, cookie } })
  expect([after.status, after.headers.get('location')]).toEqual([303, '/ops/login'])
})

test('every action is copied to the private store once, also after the store was away', async () => {
  const folder = await temporaryFolder()
  const store = await openStore(`file://${folder}`)
  await redis.set(EPOCH, 'e1')
  for (const alias of ['alder', 'birch']) await call('POST', '/ops/live/halt', { alias })
  const away = { ...store, create: () => Promise.reject(new Error('away')) }
  await expect(copyActions(redis, away)).rejects.toThrow('away')
  await copyActions(redis, store)
  await copyActions(redis, store)
  const keys = await store.list('audit/')
  expect(keys).toEqual(['audit/e1/0000000001.json', 'audit/e1/0000000002.json'])
  const bytes = await store.read(keys[1]!)
  expect(JSON.parse(new TextDecoder().decode(bytes!))).toEqual((await newest())[0])
})
