// The examples of the document of the signals service, recorded from a small log with one client and one program.
import type { Schema } from './openapi-schema.ts'
import { exampleNamed, type Recorded, refusalComponents } from './recorded-examples.ts'
import recorded from './signals-examples.json' with { type: 'json' }
import type { SignalsRoute, SignalsRouteId } from './signals-route.ts'

/** Every route; but the document would stand in itself. */
export type ExampledRouteId = Exclude<SignalsRouteId, 'openapi'>

type ExampleRequest = { readonly path: string; readonly body?: Schema }

const INPUT = { equity_usd: 25_000, contribution_cadence_bars: 14 }

/** What each example asks, with a key where one is needed; in this order, as some change what others tell. */
export const SIGNALS_EXAMPLE_REQUESTS: { readonly [Id in ExampledRouteId]: ExampleRequest } = {
  healthz: { path: '/healthz' },
  readyz: { path: '/readyz' },
  version: { path: '/version' },
  whoami: { path: '/v1/whoami' },
  confirm_key: { path: '/v1/keys/confirm' },
  latest: { path: '/v1/signals/latest' },
  history: { path: '/v1/signals/history?limit=2&since=1' },
  schema: { path: '/v1/signals/schema' },
  head: { path: '/v1/signals/head' },
  account: { path: '/v1/signals/account?from=1&to=4' },
  put_webhook: { path: '/v1/webhook', body: { url: 'https://hooks.example.org/signals' } },
  get_webhook: { path: '/v1/webhook' },
  program: { path: '/v1/program' },
  program_basket: { path: '/v1/program/basket' },
  program_deploys: { path: '/v1/program/deploys?limit=3' },
  program_performance: { path: '/v1/program/performance?benchmark=hodl' },
  put_profile: { path: '/v1/program/profile', body: INPUT },
  get_profile: { path: '/v1/program/profile' },
  program_simulate: { path: '/v1/program/simulate', body: INPUT },
  program_preview: { path: '/v1/program/preview' },
  preview_simulate: { path: '/v1/program/preview/simulate', body: { ...INPUT, equity_usd: 10 } },
}

const RECORDED: Recorded<ExampledRouteId> = recorded

/** The example of an answer of a route, or none. */
export const signalsExampleOf = ({ id }: SignalsRoute, format: 'json' | 'csv' = 'json'): Schema =>
  id === 'openapi' ? {} : exampleNamed(format === 'json' ? id : `${id}_csv`)

/** The example of what is sent. */
export const sentExampleOf = ({ id }: SignalsRoute): Schema =>
  id === 'openapi' ? {} : { examples: { request: { value: SIGNALS_EXAMPLE_REQUESTS[id].body } } }

/** All examples, by the names that the answers and the refusals refer to. */
export function signalsExampleComponents(routes: readonly SignalsRoute[]): Schema {
  const examples = routes.flatMap(({ id, method }) => {
    if (id === 'openapi') return []
    const { json, csv } = RECORDED.answers[id]
    const { path } = SIGNALS_EXAMPLE_REQUESTS[id]
    return [
      [id, { summary: `${method} ${path}`, value: json }] as const,
      ...(csv === undefined
        ? []
        : [[`${id}_csv`, { summary: `GET ${path}&format=csv`, value: csv }] as const]),
    ]
  })
  return { ...Object.fromEntries(examples), ...refusalComponents(RECORDED.refusals) }
}
