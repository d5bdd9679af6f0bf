// Requests made from an OpenAPI document: each of its operations, with each of its parameters valid, at its boundary,
// invalid, repeated, oddly encoded or left out, and with unknown parameters.
import fc from 'fast-check'
import type { Pool } from 'undici'
import { z } from 'zod'
import type { App } from '../../api/history/answers.ts'
import type { OpenApi, Operation, Parameter } from './openapi-documents.ts'

export type Asked = {
  readonly operation: Operation
  readonly method: string
  /** Path and query as they are sent. */
  readonly address: string
  readonly body: string | null
}

/** Values that mean something to the service, by the name of their parameter. */
export type Known = Readonly<Record<string, readonly string[]>>

/** One request of any operation of a document. */
export function anyRequest(
  document: OpenApi,
  known: Known,
  bodies: readonly string[] = [],
): fc.Arbitrary<Asked> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => anyCall(path, method.toUpperCase(), each, known, bodies)),
  )
  return fc.oneof(...operations)
}

function anyCall(
  path: string,
  method: string,
  each: Operation,
  known: Known,
  bodies: readonly string[],
): fc.Arbitrary<Asked> {
  const inPath = each.parameters.filter(({ in: place }) => place === 'path')
  const inQuery = each.parameters.filter(({ in: place }) => place === 'query')
  const segments = fc.tuple(...inPath.map(one => anyValue(one, known).chain(anySpelling)))
  const pairs = fc.array(anyPair(inQuery, known), { maxLength: 4 })
  const body = each.requestBody === undefined ? fc.constant(null) : anyBody(bodies)
  return fc.tuple(segments, pairs, body).map(([values, query, text]) => {
    const filled = inPath.reduce((at, { name }, i) => at.replace(`{${name}}`, () => values[i] ?? ''), path)
    const address = [filled, query.join('&')].filter(Boolean).join('?')
    const printed = () => `${method} ${address}${text === null ? '' : ` with ${text}`}`
    return { operation: each, method, body: text, address, [fc.toStringMethod]: printed }
  })
}

function anyPair(parameters: readonly Parameter[], known: Known): fc.Arbitrary<string> {
  const own = parameters.map(one =>
    anyValue(one, known)
      .chain(anySpelling)
      .chain(text => anySpelling(one.name, 9).map(name => `${name}=${text}`)),
  )
  const oddPairs = ['', ...'= x __proto__=1 constructor[a]=1 % %zz=% %ff=%fe a=1;b=2 #a=1'.split(' ')]
  const foreign = fc.oneof(anyText.chain(anySpelling), fc.constantFrom(...oddPairs))
  return fc.oneof(...own.map(arbitrary => ({ weight: 4, arbitrary })), { weight: 1, arbitrary: foreign })
}

const anyText = fc.string({ unit: 'binary', maxLength: 12 }).map(text => text.toWellFormed())

const ODD_VALUES = ['', ' ', '0', '-1', 'null', 'NaN', '\u0000', '\r\n', 'é', '%', 'x'.repeat(300)]

/** Mostly what the parameter takes, and what is just beside it. */
const anyValue = ({ name, schema }: Parameter, known: Known): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...(known[name] ?? []), ...boundariesOf(schema)) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 1, arbitrary: anyText.map(text => text.replaceAll(/^\.{1,2}$/g, '.a')) }, // `..` is another path
  )

/** The values at the ends of what a schema takes, and the first ones past them. */
function boundariesOf({ type, enum: words, format, minimum, maximum }: Parameter['schema']): string[] {
  if (words !== undefined) return [...words, ...words.map(word => word.toUpperCase()), words.join()]
  if (format === 'date')
    return ['2024-02-29', '2023-02-29', '0000-01-01', '0001-01-01', '9999-12-31', '2024-3-01']
  if (format === 'date-time') return ['2025-02-24T00:15:00Z', '2025-02-24T00:15:00.000Z', '2025-02-24']
  if (type === 'integer' || type === 'number') return numbersBeside(minimum ?? 0, maximum ?? 1e15)
  return [words ?? 'a', 'a,b', 'a'.repeat(64), 'a'.repeat(65)].flat()
}

const numbersBeside = (least: number, most: number): string[] =>
  [least, least / 2, least - 1, least + 1, 0.013, 0.5, most - 1, most, most + 1, 1e300, 2 ** 53, 1e-12]
    .map(String)
    .concat('1e309', '-0', '0x10', '1_000', '2e-2')

/** A text as an address may hold it: encoded as usual, in places needlessly, twice, or with plus signs. */
function anySpelling(text: string, plainWeight = 3): fc.Arbitrary<string> {
  const plain = encodeURIComponent(text)
  return fc.oneof(
    { weight: plainWeight, arbitrary: fc.constant(plain) },
    fc.constantFrom(
      escapeAll(text),
      escapeAll(text).toLowerCase(),
      encodeURIComponent(plain),
      plain.replaceAll('%20', '+'),
    ),
  )
}

const escapeAll = (text: string): string =>
  [...Buffer.from(text)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

const ODD_BODIES = ['', '{}', '[]', 'null', '{', '\u0000', `"${'x'.repeat(5_000)}"`, '['.repeat(4_000)]

const anyBody = (bodies: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...bodies, ...ODD_BODIES), fc.json())

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Asks a service, in process or over a wire. */
export type Ask = (method: string, address: string, body?: string | null) => Promise<Answer>

type Headers = Readonly<Record<string, string>>

/** Asks an app. */
export const askIn =
  (app: App, headers: Headers = {}): Ask =>
  async (method, address, body = null) => {
    const response = await app.request(`http://localhost${address}`, { method, headers, body })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    }
  }

/** Asks a server; the address is sent as it is. */
export const askOver =
  (pool: Pool, headers: Headers = {}): Ask =>
  async (method, address, body = null) => {
    const answer = await pool.request({ method, path: address, headers, body })
    const received = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(received),
      body: Buffer.from(await answer.body.arrayBuffer()),
    }
  }

/** What is wrong with the answers to a request; nothing where they are as the document has them. */
export type Hold = (asked: Asked) => Promise<readonly string[]>

/** `passing`: statuses that a state of the service adds to those below 500. */
export function holdToDocument(document: OpenApi, ask: Ask, passing: readonly number[] = []): Hold {
  const schemaOf = createSchemas(document)
  return async ({ operation, method, address, body }) => {
    const answer = await ask(method, address, body)
    const { status, headers } = answer
    const problems = [
      ...(status < 500 || passing.includes(status) ? [] : [`failed with ${status}`]),
      ...faultsOf(operation, answer, schemaOf),
    ]
    if (method !== 'GET') return problems
    const head = await ask('HEAD', address)
    if (head.status === 429) return problems // the last that was allowed was spent on GET
    if (head.body.length > 0) problems.push('HEAD has a body')
    if (head.status !== status) problems.push(`HEAD answers ${head.status} where GET answers ${status}`)
    problems.push(...differing(headers, head.headers).map(name => `HEAD has another ${name}`))
    const self = status === 200 ? selfOf(answer) : null
    const again = self === null ? null : await ask('GET', self)
    if (again !== null && again.status !== 429 && !again.body.equals(answer.body)) {
      problems.push(`${self} differs`)
    }
    return problems
  }
}

type Schemas = (operation: Operation, status: number, type: string) => z.ZodType | null

function faultsOf(operation: Operation, { status, headers, body }: Answer, schemaOf: Schemas): string[] {
  const described = operation.responses[status]
  if (described === undefined) return [`answers ${status}, which it does not describe`]
  if (status === 304 || status === 307) return []
  const type = (headers['content-type'] ?? '').replace('; charset=utf-8', '')
  const known = Object.keys(described.content ?? {}).map(name => name.replace('; charset=utf-8', ''))
  if (!known.includes(type)) return [`answers ${status} as ${type}, which it does not describe`]
  if (body.length === 0) return [`answers ${status} without a body`]
  const schema = schemaOf(operation, status, type)
  if (schema === null) return []
  const problem = schema.safeParse(JSON.parse(body.toString())).error
  return problem === undefined ? [] : [`is not as described: ${z.prettifyError(problem)}`]
}

/** The described schemas, made once each; null for what is not JSON or of no described form. */
function createSchemas({ components }: OpenApi): Schemas {
  const made = new Map<string, z.ZodType | null>()
  return ({ operationId, responses }, status, type) => {
    const key = `${operationId} ${status} ${type}`
    const known = made.get(key)
    if (known !== undefined) return known
    const schema = responses[status]?.content?.[type]?.schema
    const isJson = type === 'application/json' && schema !== undefined
    const parsed = isJson ? z.fromJSONSchema(withDefinitions(schema, components.schemas)) : null
    made.set(key, parsed)
    return parsed
  }
}

/** A schema of a document as one that stands alone. */
const withDefinitions = (schema: unknown, definitions: Readonly<Record<string, unknown>>) =>
  z
    .record(z.string(), z.json())
    .parse(
      JSON.parse(
        JSON.stringify({ ...z.looseObject({}).parse(schema), $defs: definitions }).replaceAll(
          '#/components/schemas/',
          '#/$defs/',
        ),
      ),
    )

/** Headers of the connection, or measured for each answer. */
const PASSING_HEADERS = new Set([
  ...['connection', 'keep-alive'],
  ...['date', 'server-timing', 'ratelimit', 'ratelimit-policy'],
])

function differing(one: Answer['headers'], other: Answer['headers']): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter(name => !PASSING_HEADERS.has(name) && one[name] !== other[name])
}

const enveloped = z.object({ links: z.object({ self: z.string() }) })

function selfOf({ headers, body }: Answer): string | null {
  if (headers['content-type'] !== 'application/json; charset=utf-8') return null
  return enveloped.safeParse(JSON.parse(body.toString())).data?.links.self ?? null
}
