// The OpenAPI 3.1 document of the history service, generated from the route table.
import { z } from 'zod'
import { MEDIA_TYPES } from './artifacts.ts'
import { type ErrorCode, errorPayload, STATUS_OF } from './errors.ts'
import { FORMATS, PERIODS, type QueryName, SMALLEST_RISK_PCT } from './parameters.ts'
import { links, meta } from './register.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

type Schema = Readonly<Record<string, unknown>>

/** What the document says about the service beside its routes. */
export type ServiceDescription = {
  readonly apiVersion: string
  readonly publicBaseUrl: string
}

const TAGS: { readonly [Kind in Route['kind']]: { readonly name: string; readonly description: string } } = {
  book: { name: 'Book', description: 'What is true of all strategies together.' },
  strategy: { name: 'Strategy', description: 'One strategy: its figures, series and trades.' },
  infrastructure: { name: 'Infrastructure', description: 'The process and the version that it serves.' },
}

/** The OpenAPI document as a plain object. */
export const toOpenApi = ({ apiVersion, publicBaseUrl }: ServiceDescription): Schema => ({
  openapi: '3.1.0',
  info: {
    title: 'Historical strategy data',
    version: apiVersion,
    summary: 'Audited history of BTC trading strategies: free, read-only, versioned.',
    description:
      'Factual history, not advice and not a forecast. Every figure can be rescaled to another risk level with ' +
      '`risk_pct`. Unknown query parameters are ignored; every refused one is listed in `error.details`.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: publicBaseUrl, description: 'This service.' }],
  security: [],
  tags: Object.values(TAGS),
  paths: Object.fromEntries(ROUTES.map(route => [route.path, { get: toOperation(route) }])),
  components: { schemas: { Meta: toSchema(meta), Links: toSchema(links), Error: errorSchema() } },
})

const toOperation = (route: Route): Schema => ({
  operationId: route.id,
  tags: [TAGS[route.kind].name],
  summary: route.title,
  description: route.about,
  parameters: [
    ...(route.kind === 'strategy' ? [SID] : []),
    ...route.query.map(name => toParameter(name, route)),
  ],
  responses: { 200: success(route), ...(isStored(route) ? NOT_MODIFIED : {}), ...refusals(route) },
})

const SID: Schema = {
  name: 'sid',
  in: 'path',
  required: true,
  description: 'Id of the strategy.',
  schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' },
}

const QUERY: { readonly [Name in Exclude<QueryName, 'format'>]: Schema } = {
  period: {
    description: 'Period of the returns; weeks are complete ISO weeks.',
    schema: { type: 'string', enum: PERIODS, default: 'daily' },
  },
  risk_pct: {
    description:
      'Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by ' +
      '`risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. ' +
      'A level at which a figure would pass what a number can hold is refused.',
    schema: { type: 'number', minimum: SMALLEST_RISK_PCT },
  },
  from: { description: 'First day, inclusive.', schema: { type: 'string', format: 'date' } },
  to: { description: 'Last day, inclusive.', schema: { type: 'string', format: 'date' } },
  ids: {
    description: 'Strategies of the matrix, in the order wanted: separated by commas, or as repeated keys.',
    schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
    style: 'form',
    explode: false,
  },
}

const toParameter = (name: QueryName, { formats }: Route): Schema => ({
  name,
  in: 'query',
  required: false,
  ...(name === 'format'
    ? {
        description: '`csv` answers the rows alone, without the envelope.',
        schema: { type: 'string', enum: FORMATS.filter(format => formats.includes(format)), default: 'json' },
      }
    : QUERY[name]),
})

const success = ({ data, formats }: Route): Schema => ({
  description: 'The answer.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['data', 'meta', 'links'],
        properties: {
          data: toSchema(data),
          meta: { $ref: '#/components/schemas/Meta' },
          links: { $ref: '#/components/schemas/Links' },
        },
      },
    },
    ...(formats.includes('csv')
      ? { [MEDIA_TYPES.csv]: { schema: { type: 'string', description: 'RFC 4180 with a header row.' } } }
      : {}),
  },
})

/** Health and readiness are true of one moment: caches do not store them, so no client can name one that it has. */
const isStored = ({ id }: Route): boolean => id !== 'healthz' && id !== 'readyz'

const NOT_MODIFIED = { 304: { description: 'The client has this answer: `If-None-Match` names its ETag.' } }

/** What every route may refuse. */
const COMMON_REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'method_not_allowed',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
]

function refusals({ refusals: own }: Route): Schema {
  const codes = [...own, ...COMMON_REFUSALS]
  const statuses = [...new Set(codes.map(code => STATUS_OF[code]))]
  const describe = (status: number) => ({
    description: `Refused: ${codes.filter(code => STATUS_OF[code] === status).join(', ')}.`,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  })
  return Object.fromEntries(statuses.map(status => [status, describe(status)]))
}

const errorSchema = (): Schema => ({
  type: 'object',
  required: ['error', 'meta'],
  properties: { error: toSchema(errorPayload), meta: { $ref: '#/components/schemas/Meta' } },
  description: 'The envelope of every error.',
})

/** A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function toSchema(schema: z.ZodType): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' })
  return rest
}
