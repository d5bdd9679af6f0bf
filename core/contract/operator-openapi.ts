// The OpenAPI 3.1 document of the operator's interface, generated from its route table.
import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import { keyedMeta } from './keyed-meta.ts'
import { envelopeSchema, errorSchema } from './openapi-envelope.ts'
import { REQUEST_ID_COMPONENT, withRequestId } from './openapi-request-id.ts'
import { refusals } from './openapi-responses.ts'
import { type Schema, toSchema } from './openapi-schema.ts'
import { operatorExampleComponents, operatorExampleOf, operatorSentExampleOf } from './operator-examples.ts'
import { DESCRIBED_OPERATOR_ROUTES, type DescribedRoute, type OperatorRouteId } from './operator-routes.ts'
import { links } from './register.ts'

/** What every route may refuse because of who asks, from where, and what is behind it. */
const ACCESS_REFUSALS: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'unavailable']

/** The OpenAPI document as a plain object. */
export const toOperatorOpenApi = (apiVersion: string): Schema => ({
  openapi: '3.1.0',
  info: {
    title: 'Operator of live trade signals',
    version: apiVersion,
    summary: 'Clients, keys, webhooks, deliveries and the live strategies.',
    description:
      'Every route wants `Authorization: Bearer` with the operator token, and a host name by which this listener is ' +
      'known. Open are `/healthz`, `/metrics` and this document; the page at `/ops` has a login of its own. ' +
      'Every answer tells the name of its request in `X-Request-Id`; none is taken from outside.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This listener.' }],
  tags: [{ name: 'Operator', description: 'Whoever holds the operator token.' }],
  security: [{ OperatorToken: [] }],
  paths: Object.fromEntries(
    [...Map.groupBy(DESCRIBED_OPERATOR_ROUTES, ({ path }) => path)].map(([path, routes]) => [
      path,
      Object.fromEntries(routes.map(route => [route.method.toLowerCase(), toOperation(route)])),
    ]),
  ),
  components: {
    schemas: { Meta: toSchema(keyedMeta), Links: toSchema(links), Error: errorSchema() },
    headers: REQUEST_ID_COMPONENT,
    examples: operatorExampleComponents(),
    securitySchemes: {
      OperatorToken: { type: 'http', scheme: 'bearer', description: 'The value of OPERATOR_TOKEN.' },
    },
  },
})

type OperatorRoute = DescribedRoute<OperatorRouteId>

const toOperation = (route: OperatorRoute): Schema => ({
  operationId: route.id,
  tags: ['Operator'],
  summary: route.title,
  parameters: [...variablesOf(route.path).map(toVariable), ...queryParameters(route.query)],
  ...(route.body === undefined
    ? {}
    : {
        requestBody: {
          required: route.isBodyOptional !== true,
          content: {
            'application/json': { schema: toSchema(route.body, 'input'), ...operatorSentExampleOf(route.id) },
          },
        },
      }),
  responses: withRequestId({ ...successes(route), ...refusals(refusalsOf(route)) }),
})

/** Besides its own: those that follow from what a route takes. */
function refusalsOf({ path, query, body, refusals: own = [] }: DescribedRoute): readonly ErrorCode[] {
  const variables = variablesOf(path)
  return [
    ...own,
    ...ACCESS_REFUSALS,
    ...(variables.length > 0 ? (['not_found'] as const) : []),
    ...(query !== undefined || variables.includes('seq') || variables.includes('key')
      ? (['validation_error'] as const)
      : []),
    ...(body !== undefined
      ? (['bad_request', 'validation_error', 'payload_too_large', 'unsupported_media_type'] as const)
      : []),
  ]
}

function successes({
  id,
  title,
  statuses = [200],
  data,
  isPaged,
}: OperatorRoute): Readonly<Record<string, Schema>> {
  const paged = {
    next: {
      type: ['integer', 'null'],
      description: 'What to give as `before` for older ones; null where there is none.',
    },
  }
  const envelope = envelopeSchema(toSchema(data), `${title}.`)
  const meta = { allOf: [{ $ref: '#/components/schemas/Meta' }, { type: 'object', properties: paged }] }
  const schema = isPaged
    ? { ...envelope, properties: { ...(envelope.properties as Schema), meta } } // an object, as envelopeSchema makes it
    : envelope
  const success = {
    description: 'The answer.',
    content: { 'application/json': { schema, ...operatorExampleOf(id) } },
  }
  return Object.fromEntries(statuses.map(status => [status, success]))
}

const variablesOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

const ABOUT_VARIABLES: Readonly<Record<string, string>> = {
  client: 'Id of the client.',
  key: 'Public part of a key.',
  seq: 'Number of a signal.',
}

const toVariable = (name: string): Schema => ({
  name,
  in: 'path',
  required: true,
  description: ABOUT_VARIABLES[name],
  schema: name === 'seq' ? { type: 'integer', minimum: 1 } : { type: 'string' },
})

function queryParameters(query: z.ZodObject | undefined): readonly Schema[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = toSchema(query, 'input') as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
  } // the JSON Schema of an object
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
  }))
}
