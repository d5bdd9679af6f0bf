// The published document describes the signals service that there is, no more and no less.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { isKeyless } from '#api/signals/signals-route.ts'
import { STATUS_OF } from '#core/contract/errors.ts'
import { connectRedis } from '#signals/redis/connect.ts'
import { createTestSignals } from '../../support/signals/signals-app.ts'

const operation = z.looseObject({
  operationId: z.string(),
  description: z.string().min(1),
  security: z.array(z.record(z.string(), z.array(z.never()))),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.literal('query') })),
  requestBody: z
    .looseObject({
      content: z.looseObject({ 'application/json': z.looseObject({ schema: z.looseObject({}) }) }),
    })
    .optional(),
  responses: z.record(
    z.string(),
    z.looseObject({
      description: z.string().min(1),
      headers: z.looseObject({}).optional(),
      content: z.looseObject({}).optional(),
    }),
  ),
})

const openApi = z.looseObject({
  info: z.looseObject({ title: z.literal('Live trade signals') }),
  servers: z.tuple([z.looseObject({ url: z.literal('https://signals.example.org') })]),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    securitySchemes: z.looseObject({
      ApiKey: z.looseObject({ in: z.literal('header'), name: z.literal('X-API-Key') }),
    }),
  }),
})

/** The document needs no Redis: none is there. */
async function readDocument() {
  const { app } = createTestSignals(connectRedis('redis://127.0.0.1:1', () => {}))
  const response = await app.request('/openapi.json')
  expect(response.headers.get('content-type')).toBe('application/openapi+json; charset=utf-8')
  return openApi.parse(await response.json())
}

test('the document of the signals service has every route of the table under its method, and nothing else', async () => {
  const { paths } = await readDocument()
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  )
  expect(described).toEqual(SIGNALS_ROUTES.map(({ id, method, path }) => [id, method, path]))
})

test.each(SIGNALS_ROUTES)(
  'the document has the credentials of $method $path, and how others are refused',
  async route => {
    const found = (await readDocument()).paths[route.path]?.[route.method.toLowerCase()]
    const keyed = isKeyless(route) ? [] : ['401', '503']
    expect(found?.security).toEqual(isKeyless(route) ? [] : [{ ApiKey: [] }])
    const statuses = Object.keys(found?.responses ?? {})
    const refused = (route.refusals ?? []).map(code => String(STATUS_OF[code]))
    expect(statuses).toEqual(
      expect.arrayContaining(['200', '400', '405', '414', '431', '500', ...keyed, ...refused]),
    )
    expect(statuses.includes('403')).toBe(route.group === 'account' || route.group === 'program')
    expect(statuses.includes('429')).toBe(route.group === 'preview' || route.id === 'put_webhook')
  },
)

test('the preview documents the headers of its limit wherever they are, and Retry-After', async () => {
  const { paths } = await readDocument()
  const methods = ['/v1/program/preview', '/v1/program/preview/simulate'].map(path => paths[path] ?? {})
  for (const { responses } of methods.flatMap(Object.values<z.infer<typeof operation>>)) {
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

test.each([
  ['/v1/signals/history', ['since', 'limit', 'format']],
  ['/v1/signals/account', ['from', 'to']],
  ['/v1/program/basket', ['view']],
  ['/v1/program/deploys', ['since', 'limit', 'format']],
  ['/v1/program/performance', ['benchmark']],
])('the document has the parameters of %s', async (path, expected) => {
  const { paths } = await readDocument()
  const names = paths[path]?.get?.parameters.map(({ name }) => name)
  expect(names).toEqual(expected)
})

test('a registration documents its body, in which the secret is optional', async () => {
  const { paths, components } = await readDocument()
  const { requestBody } = paths['/v1/webhook']?.put ?? {}
  expect(requestBody?.content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/OwnWebhookRequest',
  })
  expect(components.schemas.OwnWebhookRequest).toMatchObject({
    type: 'object',
    required: ['url'],
    properties: { url: { type: 'string' }, secret: { description: expect.any(String) } },
  })
  expect(paths['/v1/webhook']?.get?.requestBody).toBeUndefined()
})
