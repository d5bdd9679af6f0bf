// The route table of the operator's interface, and what its OpenAPI document says beside it.

import { type OpenApi, toOpenApi } from '#core/contract/openapi.ts'
import recorded from '#core/contract/operator-examples.json' with { type: 'json' }
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { operatorMeta } from '#core/contract/payloads/meta.ts'
import { KEY_PATTERN } from '#signals/clients/token.ts'
import { API_VERSION } from '../service/exchange.ts'
import type { OperatorRoute } from './operator-route.ts'
import { BUILD_ROUTES } from './routes/builds.ts'
import { CLIENT_ROUTES } from './routes/clients.ts'
import { KEY_ROUTES } from './routes/keys.ts'
import { LIVE_ROUTES } from './routes/live.ts'
import { OPERATOR_ACCOUNT_ROUTES } from './routes/operators.ts'
import { SIGNAL_ROUTES } from './routes/signals.ts'
import { WEBHOOK_ROUTES } from './routes/webhooks.ts'

export const OPERATOR_ROUTES: readonly OperatorRoute[] = [
  ...SIGNAL_ROUTES,
  ...CLIENT_ROUTES,
  ...KEY_ROUTES,
  ...WEBHOOK_ROUTES,
  ...LIVE_ROUTES,
  ...BUILD_ROUTES,
  ...OPERATOR_ACCOUNT_ROUTES,
]

export const operatorDocument = (): OpenApi =>
  toOpenApi(
    {
      info: {
        title: 'Operator of live trade signals',
        version: API_VERSION,
        summary: 'Clients, keys, webhooks, deliveries and the live strategies.',
        description:
          'Every route needs `Authorization: Bearer` with a token of its scope, and a host name by which this listener is ' +
          'known. OPERATOR_TOKEN may do everything, others what their scopes say: `read`, `fire` or `fire:STRATEGY`, `clients`, `everything`. ' +
          'Open are `/healthz`, `/metrics`, this document and `/docs`; the page at `/ops` has a login of its own. ' +
          'Every answer has the name of its request in `X-Request-Id`; a name in a request is ignored.',
      },
      server: { url: '/', description: 'This listener.' },
      groups: {
        operator: {
          name: 'Operator',
          description: 'For holders of an operator token with the scope of the route.',
          refusals: ['unauthorized', 'forbidden', 'rate_limited', 'unavailable'],
        },
      },
      securityScheme: {
        name: 'OperatorToken',
        scheme: { type: 'http', scheme: 'bearer', description: 'OPERATOR_TOKEN, or a token with scopes.' },
      },
      meta: operatorMeta,
      variables: {
        client: { about: 'Id of the client.', pattern: ID_PATTERN },
        key: { about: 'Public part of a key, or the key.', pattern: KEY_PATTERN },
        name: { about: 'Name of an operator.', pattern: ID_PATTERN },
        seq: { about: 'Number of a signal.', pattern: null },
      },
      hasRequestIds: 'all',
      recorded,
    },
    OPERATOR_ROUTES,
  )
