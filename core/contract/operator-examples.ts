// The examples of the document of the operator's interface, recorded from a scene of four clients and six signals.
import type { Schema } from './openapi-schema.ts'
import recorded from './operator-examples.json' with { type: 'json' }
import { DESCRIBED_OPERATOR_ROUTES, type OperatorRouteId } from './operator-routes.ts'
import { exampleNamed, type Recorded, refusalComponents } from './recorded-examples.ts'

type ExampleRequest = { readonly path: string; readonly body?: Schema }

const ACME = '/ops/clients/acme-capital'
const NEW = '/ops/clients/new-client'

/** What each example asks; in this order, as some change what others tell. */
export const OPERATOR_EXAMPLE_REQUESTS: { readonly [Id in OperatorRouteId]: ExampleRequest } = {
  status: { path: '/ops/status' },
  signals: { path: '/ops/signals?limit=2' },
  signal: { path: '/ops/signals/3' },
  delivery: { path: '/ops/signals/2/quiet-harbour' },
  deliveries: { path: '/ops/deliveries?status=exhausted' },
  clients: { path: '/ops/clients' },
  client: { path: ACME },
  account: { path: '/ops/clients/north-ridge/account?from=2&to=5' },
  keys: { path: `${ACME}/keys` },
  webhook: { path: `${ACME}/webhook` },
  live: { path: '/ops/live' },
  add_client: { path: '/ops/clients', body: { id: 'new-client', aliases: ['alder'] } },
  issue_key: { path: `${NEW}/keys` },
  fire: {
    path: '/ops/signals',
    body: {
      signal_id: 'alder-20261121-1',
      alias: 'alder',
      action: 'long',
      signal_price: 50_000,
      stop: 49_000,
      base_risk_pct: 0.02,
      timestamp: '2026-11-21T00:00:00Z',
    },
  },
  activate: { path: `${NEW}/activate` },
  entitle: { path: `${NEW}/entitlements`, body: { add: ['birch'] } },
  suspend: { path: `${NEW}/suspend` },
  confirm_key: { path: '/ops/keys/00EXAMPL/confirm' },
  revoke_key: { path: '/ops/keys/00EXAMPL/revoke' },
  set_webhook: { path: `${NEW}/webhook`, body: { url: 'https://hooks.new-client.example.org/signals' } },
  rotate_webhook: { path: `${ACME}/webhook/rotate`, body: { overlap_hours: 24 } },
  disable_webhook: { path: `${ACME}/webhook/disable`, body: { why: 'the client asked for it' } },
  enable_webhook: { path: `${ACME}/webhook/enable` },
  test: { path: `${ACME}/test` },
  replay: { path: `${ACME}/replay?from=5` },
  remove_webhook: { path: `${ACME}/webhook` },
  halt: { path: '/ops/live/halt', body: { alias: 'alder' } },
  resume: { path: '/ops/live/resume', body: { alias: 'alder' } },
  mode: { path: '/ops/live/mode', body: { alias: 'alder', mode: 'DRY_RUN' } },
}

const RECORDED: Recorded<OperatorRouteId> = recorded

/** The example of an answer of a route. */
export const operatorExampleOf = (id: OperatorRouteId): Schema => exampleNamed(id)

/** The example of what is sent, where the example sends something. */
export function operatorSentExampleOf(id: OperatorRouteId): Schema {
  const { body } = OPERATOR_EXAMPLE_REQUESTS[id]
  return body === undefined ? {} : { examples: { request: { value: body } } }
}

/** All examples, by the names that the answers and the refusals refer to. */
export const operatorExampleComponents = (): Schema => ({
  ...Object.fromEntries(
    DESCRIBED_OPERATOR_ROUTES.map(({ id, method }) => [
      id,
      {
        summary: `${method} ${OPERATOR_EXAMPLE_REQUESTS[id].path}`,
        value: RECORDED.answers[id].json,
      },
    ]),
  ),
  ...refusalComponents(RECORDED.refusals),
})
