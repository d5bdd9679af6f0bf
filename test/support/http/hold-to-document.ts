// Checks every answer against the OpenAPI document that its service publishes.
import type { Pool } from 'undici'
import { z } from 'zod'
import type { App } from '../../api/history/answers.ts'
import type { Asked, Document, Operation } from './any-request.ts'

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
export function holdToDocument(document: Document, ask: Ask, passing: readonly number[] = []): Hold {
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
function createSchemas({ components }: Document): Schemas {
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
