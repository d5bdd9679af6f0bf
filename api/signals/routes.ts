// The route table of the signals service, and its documents.
import { z } from 'zod'
import { type GroupDescription, type OpenApi, type Service, toOpenApi } from '#core/contract/openapi.ts'
import { ID_PATTERN, type Schema } from '#core/contract/parameters.ts'
import { keyedMeta } from '#core/contract/payloads/meta.ts'
import { SIGNAL_SCHEMA_VERSION, signal } from '#core/contract/signal.ts'
import recorded from '#core/contract/signals-examples.json' with { type: 'json' }
import { type Json, renderJson } from '#core/dataset/render/json.ts'
import type { Bytes } from '../service/content-coding.ts'
import { API_VERSION } from '../service/exchange.ts'
import type { ServedParts, SignalsGroup, SignalsRoute, SignalsSettings } from './exchange.ts'
import type { KeyedRoute } from './keyed-route.ts'
import { NOTICE_ROUTES, OWN_ROUTES } from './routes/client.ts'
import { DELIVERY_ROUTES } from './routes/deliveries.ts'
import { ENDPOINT_ROUTES } from './routes/endpoints.ts'
import { INFRASTRUCTURE_ROUTES } from './routes/infrastructure.ts'
import { PREVIEW_ROUTES } from './routes/preview.ts'
import { PROGRAM_ROUTES } from './routes/program.ts'
import { SEAL_ROUTES } from './routes/seals.ts'
import { LOG_ROUTES } from './routes/signals.ts'

/** What a subscriber does for itself: the page at `/account` offers it, too. */
export const KEYED_ROUTES: readonly KeyedRoute[] = [...ENDPOINT_ROUTES, ...DELIVERY_ROUTES]

export const SIGNALS_ROUTES: readonly SignalsRoute[] = [
  ...INFRASTRUCTURE_ROUTES,
  ...OWN_ROUTES,
  ...KEYED_ROUTES,
  ...NOTICE_ROUTES,
  ...LOG_ROUTES,
  ...SEAL_ROUTES,
  ...PROGRAM_ROUTES,
  ...PREVIEW_ROUTES,
]

/** Refused before the address is counted. */
const UNCOUNTED: readonly number[] = [405, 414]

const LIMIT_HEADERS = {
  RateLimit: {
    description: 'Requests that are left, and the seconds until all are back: `"preview";r=59;t=60`.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Requests of an address in how many seconds: `"preview";q=60;w=60`.',
    schema: { type: 'string' },
  },
}

const RETRY_AFTER = {
  description: 'Seconds until all requests are back.',
  schema: { type: 'integer', minimum: 1 },
}

/** Headers of the preview: the limit, once the address was counted. */
const limitHeaders: GroupDescription['headers'] = status => {
  if (UNCOUNTED.includes(status)) return {}
  return status === 429 ? { ...LIMIT_HEADERS, 'Retry-After': RETRY_AFTER } : LIMIT_HEADERS
}

const GROUPS: Service<SignalsGroup>['groups'] = {
  account: {
    name: 'Signals',
    description: 'The log of signals and its deliveries, for clients whose account is active.',
    refusals: ['unauthorized', 'account_not_active', 'unavailable'],
  },
  key: {
    name: 'Client',
    description: 'The client, its keys and its endpoints, for any valid key.',
    refusals: ['unauthorized', 'unavailable'],
  },
  program: {
    name: 'Program',
    description: 'The accumulation program, for clients that are entitled to it.',
    refusals: ['not_found', 'unauthorized', 'not_entitled', 'unavailable'],
  },
  preview: {
    name: 'Preview',
    description: 'The accumulation program for everybody: so many requests a minute of an address.',
    isKeyless: true,
    refusals: ['not_found', 'rate_limited'],
    headers: limitHeaders,
  },
  open: { name: 'Infrastructure', description: 'The process itself.', isKeyless: true },
}

export const signalsDocument = (publicBaseUrl: string): OpenApi =>
  toOpenApi(
    {
      info: {
        title: 'Live trade signals',
        version: API_VERSION,
        summary: 'A durable, numbered log of trade signals: pushed to webhooks, pulled by number.',
        description:
          'Skip every signal with `is_test: true` or a `mode` other than `LIVE`. Delivery is at least once: drop what you ' +
          'have by `seq` or `signal_id`, and close gaps with `/v1/signals/history?since=`. The key belongs into the header ' +
          'and never into an address or a browser.',
      },
      server: { url: publicBaseUrl, description: 'This service.' },
      groups: GROUPS,
      securityScheme: {
        name: 'ApiKey',
        scheme: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The key of a client.' },
      },
      meta: keyedMeta,
      variables: {
        endpoint: {
          about: 'Name of an endpoint; `default` is the webhook of `/v1/webhook`.',
          pattern: ID_PATTERN,
        },
        seq: { about: 'Number of a signal.', pattern: null },
      },
      recorded,
    },
    SIGNALS_ROUTES,
  )

/** The JSON Schema of a signal, for clients that validate: additional properties are allowed. */
const signalSchema = (publicBaseUrl: string): Schema => {
  const { $schema, ...rest } = z.toJSONSchema(z.looseObject(signal.shape), {
    target: 'draft-2020-12',
    io: 'output',
  }) // without its name, of which the document would make a reference
  return {
    $schema,
    $id: `${publicBaseUrl}/v1/signals/schema`,
    title: 'Signal',
    description: `A trade signal, schema_version ${SIGNAL_SCHEMA_VERSION}.`,
    ...rest,
  }
}

/** Each is made at its first request, which keeps the start short. */
export function createDocuments({ publicBaseUrl }: SignalsSettings): ServedParts['documents'] {
  let [schema, openApi]: [Json?, Bytes?] = []
  return {
    signalSchema: () => (schema ??= signalSchema(publicBaseUrl) as Json), // zod makes plain JSON, and calls it unknown
    openApi: () => (openApi ??= renderJson(signalsDocument(publicBaseUrl) as Json)), // as above
  }
}
