// The header X-Request-Id as the OpenAPI documents describe it: the name of a request in the log of the operator.
import type { Schema } from './openapi-schema.ts'

/** How a request comes by its name, for the description of a service that takes one. */
export const REQUEST_ID_TEXT =
  'A request may bring a name in `X-Request-Id`, 8 to 64 hexadecimal digits and hyphens; any other is passed over and one ' +
  'is made. Every refusal tells it in the same header: quote it, and the operator finds the request.'

/** The header as a component. */
export const REQUEST_ID_COMPONENT: Schema = {
  RequestId: {
    description: 'Name of the request in the log of the service.',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f-]{8,64}$' },
  },
}

/** Responses with the name of their request: all but those of the HTTP server itself, which have no content. */
export const withRequestId = (responses: Readonly<Record<string, Schema>>): Schema =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      'content' in response
        ? { ...response, headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } } }
        : response,
    ]),
  )
