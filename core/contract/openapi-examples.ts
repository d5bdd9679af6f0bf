// The examples of the document of the history service, recorded from a book of four strategies.
import recorded from './examples.json' with { type: 'json' }
import type { Schema } from './openapi-schema.ts'
import { exampleNamed, type Recorded, refusalComponents } from './recorded-examples.ts'
import type { Route, RouteId } from './route.ts'

/** What each example asks: the smallest answers that show everything. */
export const EXAMPLE_REQUESTS: { readonly [Id in RouteId]: string } = {
  healthz: '/healthz',
  readyz: '/readyz',
  version: '/version',
  versions: '/v1/dataset/versions',
  strategies: '/v1/strategies',
  summary: '/v1/summary',
  dataset: '/v1/dataset',
  correlation: '/v1/correlation?period=weekly&ids=ash,elm',
  export: '/v1/export?period=weekly&risk_pct=0.01',
  strategy: '/v1/strategies/ash',
  stats: '/v1/strategies/ash/stats',
  returns: '/v1/strategies/ash/returns?from=2024-03-04&risk_pct=0.01&to=2024-03-10',
  curve: '/v1/strategies/yew/curve',
  trades: '/v1/strategies/ash/trades',
}

const RECORDED: Recorded<RouteId> = recorded

/** The examples of a media type of a route: the pinned twin of the route refers to the same ones. */
export const exampleOf = ({ id }: Route, format: 'json' | 'csv'): Schema =>
  exampleNamed(format === 'json' ? id : `${id}_csv`)

/** All examples, by the names that the answers and the refusals refer to. */
export function exampleComponents(routes: readonly Route[]): Schema {
  const examples = routes.flatMap(({ id }) => {
    const { json, csv } = RECORDED.answers[id]
    const request = EXAMPLE_REQUESTS[id]
    return [
      [id, { summary: `GET ${request}`, value: json }] as const,
      ...(csv === undefined
        ? []
        : [[`${id}_csv`, { summary: `GET ${asCsv(request)}`, value: csv }] as const]),
    ]
  })
  return { ...Object.fromEntries(examples), ...refusalComponents(RECORDED.refusals) }
}

/** The same question, its answer as CSV. */
export const asCsv = (request: string): string => `${request}${request.includes('?') ? '&' : '?'}format=csv`
