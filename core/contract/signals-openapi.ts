// The OpenAPI 3.1 document of the signals service, generated from its route table.
import type { z } from 'zod'
import { MEDIA_TYPES } from './artifacts.ts'
import type { ErrorCode } from './errors.ts'
import { keyedMeta } from './keyed-meta.ts'
import { envelopeSchema, errorSchema } from './openapi-envelope.ts'
import { NOT_MODIFIED, refusals } from './openapi-responses.ts'
import { type Schema, toSchema } from './openapi-schema.ts'
import { pageParameters } from './page-parameters.ts'
import { PROGRAM_PARAMETERS, withLimitHeaders } from './program-openapi.ts'
import { links } from './register.ts'
import { HISTORY_FORMATS, MOST_ACCOUNTED } from './signal-query.ts'
import { sentExampleOf, signalsExampleComponents, signalsExampleOf } from './signals-examples.ts'
import { type Access, isKeyless, type SignalsRoute, type SignalsRouteId } from './signals-route.ts'
import { SIGNALS_ROUTES } from './signals-routes.ts'

const TAGS: { readonly [A in Access]: { readonly name: string; readonly description: string } } = {
  account: { name: 'Signals', description: 'The log of signals, for clients whose account is active.' },
  key: { name: 'Client', description: 'The client and its keys, for whoever has a valid one.' },
  program: { name: 'Program', description: 'The accumulation program, for clients that are entitled to it.' },
  preview: {
    name: 'Preview',
    description: 'The accumulation program for everybody: so many requests a minute of an address.',
  },
  open: { name: 'Infrastructure', description: 'The process itself.' },
}

/** What a route may refuse because of who asks. */
const ACCESS_REFUSALS: { readonly [A in Access]: readonly ErrorCode[] } = {
  open: [],
  key: ['unauthorized', 'unavailable'],
  account: ['unauthorized', 'account_not_active', 'unavailable'],
  program: ['unauthorized', 'not_entitled', 'unavailable'],
  preview: ['rate_limited'],
}

/** The OpenAPI document as a plain object. */
export const toSignalsOpenApi = (apiVersion: string, publicBaseUrl: string): Schema => ({
  openapi: '3.1.0',
  info: {
    title: 'Live trade signals',
    version: apiVersion,
    summary: 'A durable, numbered log of trade signals: pushed to webhooks, pulled by number.',
    description:
      'Skip every signal with `is_test: true` or a `mode` other than `LIVE`. Delivery is at least once: drop what you ' +
      'have by `seq` or `signal_id`, and close gaps with `/v1/signals/history?since=`. The key belongs into the header ' +
      'and never into an address or a browser.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: publicBaseUrl, description: 'This service.' }],
  tags: Object.values(TAGS),
  paths: Object.fromEntries(
    [...Map.groupBy(SIGNALS_ROUTES, ({ path }) => path)].map(([path, routes]) => [
      path,
      Object.fromEntries(routes.map(route => [route.method.toLowerCase(), toOperation(route)])),
    ]),
  ),
  components: {
    schemas: { Meta: toSchema(keyedMeta), Links: toSchema(links), Error: errorSchema() },
    examples: signalsExampleComponents(SIGNALS_ROUTES),
    securitySchemes: {
      ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The key of a client.' },
    },
  },
})

const toOperation = (route: SignalsRoute): Schema => ({
  operationId: route.id,
  tags: [TAGS[route.access].name],
  summary: route.title,
  description: route.about,
  security: isKeyless(route) ? [] : [{ ApiKey: [] }],
  parameters: PARAMETERS[route.id] ?? [],
  ...(route.body === undefined ? {} : { requestBody: bodyOf(route, route.body) }),
  responses: route.access === 'preview' ? withLimitHeaders(responsesOf(route)) : responsesOf(route),
})

const responsesOf = (route: SignalsRoute): Readonly<Record<string, Schema>> => ({
  200: { description: 'The answer.', content: contentOf(route) },
  ...(route.id === 'program_preview' ? NOT_MODIFIED : {}),
  ...refusals([
    ...route.refusals,
    ...ACCESS_REFUSALS[route.access],
    ...(route.body === undefined ? [] : (['bad_request'] as const)),
  ]),
})

const bodyOf = (route: SignalsRoute, body: z.ZodType): Schema => ({
  required: true,
  content: { 'application/json': { schema: toSchema(body, 'input'), ...sentExampleOf(route) } },
})

const HISTORY_PARAMETERS: readonly Schema[] = [
  ...pageParameters('Rows'),
  {
    name: 'format',
    in: 'query',
    required: false,
    description: 'CSV answers the rows alone, without the envelope.',
    schema: { type: 'string', enum: HISTORY_FORMATS, default: 'json' },
  },
]

const accounted = (name: 'from' | 'to', description: string): Schema => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'integer', minimum: 1 },
})

const ACCOUNT_PARAMETERS: readonly Schema[] = [
  accounted(
    'from',
    `First number. Without it: as many before \`to\` as one answer spans, ${MOST_ACCOUNTED}.`,
  ),
  accounted('to', 'Last number. Without it: that of the newest signal that the client sees.'),
]

const PARAMETERS: { readonly [Id in SignalsRouteId]?: readonly Schema[] } = {
  history: HISTORY_PARAMETERS,
  account: ACCOUNT_PARAMETERS,
  ...PROGRAM_PARAMETERS,
}

/** What is no JSON of ours alone. */
const MEDIA_TYPE_OF: { readonly [Id in SignalsRouteId]?: string } = { openapi: 'application/openapi+json' }

const contentOf = (route: SignalsRoute): Schema => ({
  [MEDIA_TYPE_OF[route.id] ?? 'application/json']: {
    schema: route.isBare ? toSchema(route.data) : envelopeSchema(toSchema(route.data), `${route.title}.`),
    ...signalsExampleOf(route),
  },
  ...(route.id === 'history'
    ? {
        [MEDIA_TYPES.csv]: {
          schema: { type: 'string', description: 'RFC 4180 with a header row.' },
          ...signalsExampleOf(route, 'csv'),
        },
      }
    : {}),
})
