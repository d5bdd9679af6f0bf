// The responses of the OpenAPI document.
import { isBinary, MEDIA_TYPES } from './artifacts.ts'
import { type ErrorCode, STATUS_OF } from './errors.ts'
import { envelopeSchema } from './openapi-envelope.ts'
import { exampleOf } from './openapi-examples.ts'
import { type Schema, toSchema } from './openapi-schema.ts'
import type { Format } from './parameters.ts'
import { refusalExamples } from './recorded-examples.ts'
import type { Route } from './route.ts'
import { ROUTE_DATA } from './route-data.ts'

/** The answer of a route, in all its formats. */
export const success = (route: Route): Schema => ({
  description: 'The answer.',
  content: {
    'application/json': {
      schema: envelopeSchema(toSchema(ROUTE_DATA[route.id]), `${route.title}.`),
      ...exampleOf(route, 'json'),
    },
    ...Object.fromEntries(
      TABLE_FORMATS.filter(format => route.formats.includes(format)).map(format => [
        MEDIA_TYPES[format],
        {
          schema: {
            type: 'string',
            ...(isBinary(format) ? { format: 'binary' } : {}),
            description: ABOUT[format],
          },
          ...(format === 'csv' ? exampleOf(route, format) : {}),
        },
      ]),
    ),
  },
})

const TABLE_FORMATS = ['csv', 'arrow', 'parquet'] as const satisfies readonly Format[]

const ABOUT: { readonly [F in (typeof TABLE_FORMATS)[number]]: string } = {
  csv: 'RFC 4180 with a header row.',
  arrow: 'Arrow IPC file with typed columns: the numbers that the CSV holds.',
  parquet: 'Parquet file with typed columns: the numbers that the CSV holds.',
}

export const NOT_MODIFIED = {
  304: { description: 'The client has this answer: `If-None-Match` names its ETag.' },
}

/** What every route may refuse. */
const COMMON_REFUSALS: readonly ErrorCode[] = ['method_not_allowed', 'uri_too_long', 'internal_error']

/** What the HTTP server refuses by itself, without a body. A route that takes a body refuses some with its own 400. */
const SERVER_REFUSALS = {
  400: { description: 'The request is not well-formed HTTP, or did not arrive in time. No body.' },
  431: { description: 'Request line and headers are too long. No body.' },
}

/** The refusals by status: those given, and those that every route has. */
export function refusals(own: readonly ErrorCode[]): Readonly<Record<string, Schema>> {
  const codes = [...new Set([...own, ...COMMON_REFUSALS])]
  const statuses = [...new Set(codes.map(code => STATUS_OF[code]))]
  return {
    ...SERVER_REFUSALS,
    ...Object.fromEntries(
      statuses.map(status => [status, refusal(codes.filter(code => STATUS_OF[code] === status))]),
    ),
  }
}

/** The refusals of one status. */
const refusal = (codes: readonly ErrorCode[]): Schema => ({
  description: `Refused: ${codes.join(', ')}.`,
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Error' }, ...refusalExamples(codes) },
  },
})
