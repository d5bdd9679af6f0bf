// The OpenAPI 3.1 document of a service, generated from its routes.
import { z } from 'zod'
import { MEDIA_TYPES } from './artifacts.ts'
import { type ErrorCode, STATUS_OF } from './errors.ts'
import { type Format, isBinary, type JsonSchema, type Parameter, type Schema } from './parameters.ts'
import { object, text } from './payloads/field.ts'
import { errorDetails, links } from './payloads/meta.ts'
import { byPath, dataSchema, type Query, type Route, type SuccessStatus, variablesOf } from './route.ts'

export type Service<Group extends string> = {
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
  }
  readonly server: { readonly url: string; readonly description: string }
  readonly groups: { readonly [G in Group]: GroupDescription }
  readonly securityScheme?: { readonly name: string; readonly scheme: Schema }
  readonly meta: z.ZodType
  /** The variables of paths; without a pattern it is a number, from 1. */
  readonly variables: Readonly<Record<string, { readonly about: string; readonly pattern: RegExp | null }>>
  /** Headers of every response but those that never become a request. */
  readonly hasRequestIds?: 'refusals' | 'all'
  readonly recorded: Recorded
}

export type GroupDescription = {
  readonly name: string
  readonly description: string
  readonly isKeyless?: true
  readonly refusals?: readonly ErrorCode[]
  readonly headers?: (status: number) => Readonly<Record<string, Header>>
}

type Header = { readonly description: string; readonly schema: JsonSchema }

type Reference = { readonly $ref: string }

/** Recorded answers by route id and recorded refusals by code: tests repeat the requests and compare. */
export type Recorded = {
  /** The whole body, and the rows alone if the route has them as CSV. */
  readonly answers: Readonly<Record<string, { readonly json: unknown; readonly csv?: string }>>
  /** What was asked, as the reader sees it, and the whole body. */
  readonly refusals: Readonly<Record<string, { readonly request: string; readonly json: unknown }>>
}

/** The ids that proxies such as nginx and UUIDs have: any other could carry a secret into the log. */
export const REQUEST_ID_PATTERN = /^[0-9A-Fa-f-]{8,64}$/

/** A request name as the header carries it, for the description of a service that takes one. */
export const REQUEST_ID_TEXT =
  'A request may bring an id in `X-Request-Id`, 8 to 64 hexadecimal digits and hyphens; any other value is ignored, and ' +
  'the service generates one. Every refusal has it in the same header: quote it, and the operator finds the request.'

export type OpenApi = ReturnType<typeof toOpenApi>

/** The document as a plain object. Named schemas (`.meta({ id })`) are its components, each once. */
export function toOpenApi<Group extends string>(service: Service<Group>, routes: readonly Route<Group>[]) {
  const { toSchema, schemas } = createComponents()
  const writer = { service, toSchema }
  const paths = [...byPath(routes)].map(([path, all]) => {
    const operations = all.map(route => [route.method.toLowerCase(), toOperation(route, writer)] as const)
    return [path, Object.fromEntries(operations)] as const
  })
  const meta = toSchema(service.meta, 'output')
  const error = envelope(['error', 'meta'], { error: toSchema(errorPayload, 'output'), meta: META })
  const { securityScheme: security } = service
  return {
    openapi: '3.1.0',
    info: {
      ...service.info,
      contact: { name: 'The operator of this service' }, // whoever runs it publishes its documents
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [service.server],
    tags: Object.values<GroupDescription>(service.groups).map(({ name, description }) => ({
      name,
      description,
    })),
    ...(security === undefined ? { security: [] } : {}),
    paths: Object.fromEntries(paths),
    components: {
      schemas: {
        Meta: meta,
        Links: toSchema(links, 'output'),
        Error: { ...error, description: 'The envelope of every error.' },
        ...schemas(),
      },
      examples: exampleComponents(routes, service.recorded),
      ...(service.hasRequestIds === undefined ? {} : { headers: { RequestId: REQUEST_ID } }),
      ...(security === undefined ? {} : { securitySchemes: { [security.name]: security.scheme } }),
    },
  }
}

type ToSchema = ReturnType<typeof createComponents>['toSchema']

type Writer = { readonly service: Service<string>; readonly toSchema: ToSchema }

type Converted = { readonly properties: { schema: JsonSchema }; readonly $defs?: Record<string, JsonSchema> }

/** Turns zod schemas into JSON Schema 2020-12, and collects the named ones. */
function createComponents() {
  const named = new Map<string, JsonSchema>()
  const toSchema = (schema: z.ZodType, io: 'output' | 'input'): JsonSchema => {
    const converted = JSON.stringify(z.toJSONSchema(z.object({ schema }), { io, override: leaveOpen }))
    const { properties, $defs = {} }: Converted = JSON.parse(
      converted.replaceAll('"#/$defs/', '"#/components/schemas/'),
    )
    for (const [name, each] of Object.entries($defs)) {
      if (JSON.stringify(named.get(name) ?? each) !== JSON.stringify(each))
        throw new Error(`two different schemas have the name ${name}`)
      named.set(name, each)
    }
    return properties.schema
  }
  return { toSchema, schemas: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** JSON Schema allows further fields anyway; generators would add an index of `unknown` to each object. */
function leaveOpen({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { additionalProperties: rest } = jsonSchema
  if (typeof rest === 'object' && Object.keys(rest).length === 0) delete jsonSchema.additionalProperties
}

function toOperation(route: Route, { service, toSchema }: Writer) {
  const group = service.groups[route.group]!
  const { securityScheme: scheme } = service
  return {
    operationId: route.id,
    tags: [group.name],
    summary: route.title,
    description: route.about,
    ...(scheme === undefined ? {} : { security: group.isKeyless ? [] : [{ [scheme.name]: [] }] }),
    ...(route.scope === undefined ? {} : { 'x-required-scope': route.scope }),
    parameters: [
      ...variablesOf(route.path).map(name => toVariable(name, service)),
      ...queryParameters(route.query ?? {}, toSchema),
    ],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, toSchema) }),
    responses: responses(route, group, { service, toSchema }),
  }
}

function toVariable(name: string, { variables }: Service<string>) {
  const variable = variables[name]
  if (variable === undefined) throw new Error(`the service does not describe the path variable '${name}'`)
  const { about: description, pattern } = variable
  const number = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
  const schema: JsonSchema = pattern === null ? number : { type: 'string', pattern: pattern.source }
  return { name, in: 'path', required: true, description, schema }
}

const isZodObject = (query: Query): query is z.ZodObject => query instanceof z.ZodObject

function queryParameters(query: Query, toSchema: ToSchema) {
  if (!isZodObject(query))
    return Object.entries(query).map(([name, { about, schema, style }]: [string, Parameter<unknown>]) => ({
      ...{ name, in: 'query', required: false, description: about, schema, ...style },
    }))
  const { properties = {}, required = [] } = toSchema(query, 'input')
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name), description, schema },
  }))
}

const requestBody = (route: Route, body: z.ZodType, toSchema: ToSchema) => ({
  required: route.isBodyOptional !== true,
  content: {
    'application/json': {
      schema: toSchema(body, 'input'),
      ...(route.example?.body === undefined ? {} : { examples: { request: { value: route.example.body } } }),
    },
  },
})

type Content = {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, Reference>>
}

type Answer = {
  readonly description: string
  readonly content?: Readonly<Record<string, Content>>
  readonly headers?: Readonly<Record<string, Header | Reference>>
}

function responses(route: Route, group: GroupDescription, writer: Writer) {
  const { statuses = [200] } = route
  const { hasRequestIds } = writer.service
  const all: Readonly<Record<string, Answer>> = {
    ...SERVER_REFUSALS,
    ...Object.fromEntries(statuses.map(status => [status, success(route, status, writer)])),
    ...refusals([...refusalsOf(route), ...(group.refusals ?? [])]),
  }
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => {
      const isNamed = hasRequestIds === 'all' || (hasRequestIds === 'refusals' && Number(status) >= 400)
      const headers = {
        // Refusals of the HTTP server itself have no name and no content.
        ...(isNamed && 'content' in response ? REQUEST_ID_HEADER : {}),
        ...('content' in response || status === '304' ? group.headers?.(Number(status)) : {}),
        ...response.headers,
      }
      return [status, { ...response, ...(Object.keys(headers).length === 0 ? {} : { headers }) }] as const
    }),
  )
}

function success(route: Route, status: SuccessStatus, writer: Writer): Answer {
  if (status === 304) return { description: 'The client has this answer: `If-None-Match` names its ETag.' }
  if (status === 307)
    return {
      description: 'A redirect to the pinned address.',
      headers: { Location: { description: 'Its path.', schema: { type: 'string' } } },
    }
  return { description: 'The answer.', content: contentOf(route, writer) }
}

function contentOf(route: Route, { service, toSchema }: Writer): Readonly<Record<string, Content>> {
  const { mediaType = 'application/json', formats = ['json'] } = route
  const data = toSchema(dataSchema(route), 'output')
  const schema = route.isBare
    ? data
    : envelope(['data', 'meta', 'links'], {
        data: { description: `${route.title}.`, ...data },
        meta: META,
        links: { $ref: '#/components/schemas/Links' },
      })
  const name = route.example?.of ?? route.id // the pinned twin of a route shows the example of the route itself
  const { json, csv } = service.recorded.answers[name] ?? {}
  const tables = formats.flatMap(format => {
    if (format === 'json') return []
    const about = { type: 'string', ...(isBinary(format) ? { format: 'binary' } : {}) }
    const example = format === 'csv' && csv !== undefined ? exampleNamed(`${name}_csv`) : {}
    return [[MEDIA_TYPES[format], { schema: { ...about, description: ABOUT[format] }, ...example }] as const]
  })
  return {
    [mediaType]: { schema, ...(json === undefined ? {} : exampleNamed(name)) },
    ...Object.fromEntries(tables),
  }
}

const ABOUT: { readonly [F in Exclude<Format, 'json'>]: string } = {
  csv: 'RFC 4180 with a header row.',
  arrow: 'Arrow IPC file with typed columns: the numbers that the CSV holds.',
  parquet: 'Parquet file with typed columns: the numbers that the CSV holds.',
}

const META = { $ref: '#/components/schemas/Meta' }

const envelope = (required: readonly string[], properties: Readonly<Record<string, JsonSchema>>) => ({
  type: 'object',
  required,
  properties,
})

/** The refusals of a route: its own, and those that follow from what it takes. */
export const refusalsOf = ({ path, query, body, refusals = [] }: Route): readonly ErrorCode[] => [
  ...refusals,
  ...(variablesOf(path).length === 0 ? [] : (['not_found'] as const)),
  ...(takesQuery(query) ? (['validation_error'] as const) : []),
  ...(body === undefined ? [] : BODY_REFUSALS),
]

const takesQuery = (query: Query = {}): boolean =>
  isZodObject(query) || Object.values(query).some(({ isLookedUp }) => isLookedUp !== true)

const BODY_REFUSALS: readonly ErrorCode[] = [
  'bad_request',
  'validation_error',
  'payload_too_large',
  'unsupported_media_type',
]

const COMMON_REFUSALS: readonly ErrorCode[] = ['method_not_allowed', 'uri_too_long', 'internal_error']

/** What the HTTP server refuses by itself, without a body. A route that takes a body has its own 400. */
const SERVER_REFUSALS = {
  400: { description: 'The request is not well-formed HTTP, or did not arrive in time. No body.' },
  431: { description: 'Request line and headers are too long. No body.' },
}

/** The refusals by status: those given, and those that every route has. */
function refusals(own: readonly ErrorCode[]): Readonly<Record<string, Answer>> {
  const byStatus = Map.groupBy(new Set([...own, ...COMMON_REFUSALS]), code => STATUS_OF[code])
  return Object.fromEntries([...byStatus].map(([status, each]) => [status, refusal(each)]))
}

const refusal = (codes: readonly ErrorCode[]): Answer => ({
  description: `Refused: ${codes.join(', ')}.`,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(codes.map(code => [code, toReference(refusalName(code))])),
    },
  },
})

const REQUEST_ID: Header = {
  description: 'Name of the request in the log of the service.',
  schema: { type: 'string', pattern: REQUEST_ID_PATTERN.source },
}

const REQUEST_ID_HEADER = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

function exampleComponents(routes: readonly Route[], { answers, refusals }: Recorded) {
  const answered = routes.flatMap(({ id, method, example }) => {
    const { json, csv } = answers[id] ?? {}
    if (json === undefined || example === undefined) return []
    const named = (name: string, path: string, value: unknown) =>
      [name, { summary: `${method} ${path}`, value }] as const
    const whole = named(id, example.path, json)
    return csv === undefined ? [whole] : [whole, named(`${id}_csv`, asCsv(example.path), csv)]
  })
  const refused = Object.entries(refusals).map(
    ([code, { request, json }]) => [refusalName(code), { summary: request, value: json }] as const,
  )
  return Object.fromEntries([...answered, ...refused])
}

export const asCsv = (request: string): string => `${request}${request.includes('?') ? '&' : '?'}format=csv`

const exampleNamed = (name: string) => ({ examples: { answer: toReference(name) } })

const refusalName = (code: string): string => `refused_${code}`

const toReference = (name: string): Reference => ({ $ref: `#/components/examples/${name}` })

const errorPayload = object('What went wrong.', {
  code: z
    .enum(Object.keys(STATUS_OF) as [ErrorCode, ...ErrorCode[]]) // keyof of the literal above
    .describe('One of a closed list of codes; branch on this, never on the message.'),
  message: text('What was wrong, in one sentence, for people.'),
  details: errorDetails,
})
