// What the OpenAPI document says of the program's routes beyond the table.
import type { Schema } from './openapi-schema.ts'
import { pageParameters } from './page-parameters.ts'
import { BASKET_VIEWS } from './payloads/program-basket.ts'
import { PERFORMANCE_BENCHMARKS } from './payloads/program-performance.ts'
import type { ProgramRouteId } from './signals-route.ts'

/** The parameters of the query, by route. */
export const PROGRAM_PARAMETERS: { readonly [Id in ProgramRouteId]?: readonly Schema[] } = {
  program_basket: [
    {
      name: 'view',
      in: 'query',
      required: false,
      description: '`reference`: the equity and cadence of the program; `personal`: those of the profile.',
      schema: { type: 'string', enum: BASKET_VIEWS, default: 'reference' },
    },
  ],
  program_deploys: pageParameters('Deployments'),
  program_performance: [
    {
      name: 'benchmark',
      in: 'query',
      required: false,
      description: 'What the program is held against.',
      schema: { type: 'string', enum: PERFORMANCE_BENCHMARKS, default: 'dca' },
    },
  ],
}

/** The responses of a route of the preview: each with the limit, once the address was counted. */
export const withLimitHeaders = (responses: Readonly<Record<string, Schema>>): Schema =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if (UNCOUNTED.includes(status)) return [status, response]
      return [status, { ...response, headers: status === '429' ? REFUSAL_HEADERS : LIMIT_HEADERS }]
    }),
  )

/** Refused before the address is counted. */
const UNCOUNTED: readonly string[] = ['405', '414', '431']

const LIMIT_HEADERS: Schema = {
  RateLimit: {
    description: 'Requests that are left, and the seconds until all are back: `"preview";r=59;t=60`.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Requests of an address in how many seconds: `"preview";q=60;w=60`.',
    schema: { type: 'string' },
  },
}

const REFUSAL_HEADERS: Schema = {
  ...LIMIT_HEADERS,
  'Retry-After': {
    description: 'Seconds until all requests are back.',
    schema: { type: 'integer', minimum: 1 },
  },
}
