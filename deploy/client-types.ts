// `node deploy/client-types.ts`: the types of the TypeScript client, made from the OpenAPI documents of the services for the routes
// that it reads: the parameters of a route as `ReturnsQuery`, its answer as `ReturnsAnswer`, and the payloads under their own names.
// They are not committed: `make types` makes them, and so does npm before it packs the client.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateAst, parseSpec, printAst } from 'oazapfts'
import { createContext } from 'oazapfts/context'
import { historyDocument } from '#api/history/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'
import type { OpenApi } from '#core/contract/openapi.ts'
import type { JsonSchema } from '#core/contract/parameters.ts'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'

/** They are part of the address that the client makes, not of what its caller chooses. */
const FIXED = ['dataset_version', 'format']

type Operation = OpenApi['paths'][string][string]

/** Routes of the endpoints of a client and of what is sent to them. */
const SELF_SERVICE = [
  ...['endpoints', 'put_endpoint', 'patch_endpoint', 'delete_endpoint', 'rotate_endpoint', 'test_endpoint'],
  ...['deliveries', 'delivery', 'resend', 'notices'],
]

export async function clientTypes() {
  const [history, signals] = [await historyDocument(''), signalsDocument('')]
  const ids = DATASET_ROUTES.map(({ id }) => id)
  return {
    history: await typesOf(history, [...ids, 'version']),
    signals: await typesOf(signals, [...['whoami', 'head', 'history', 'seals'], ...SELF_SERVICE]),
  }
}

export async function writeClientTypes(client: string): Promise<void> {
  const folder = join(client, 'src/generated')
  await mkdir(folder, { recursive: true })
  for (const [service, types] of Object.entries(await clientTypes()))
    await writeFile(join(folder, `${service}.ts`), types)
}

/** The types of a document, without the functions that the generator would add. */
async function typesOf(document: OpenApi, ids: readonly string[]): Promise<string> {
  const text = JSON.stringify(reduced(document, ids), describedNulls)
  const source = printAst(await generateAst(createContext(await parseSpec(JSON.parse(text)))))
  return `// Made from the OpenAPI document by deploy/client-types.ts: do not edit.\n\n${source.slice(source.indexOf('export type'), source.indexOf('export function'))}`
}

/** A document with a named schema for the query and for the answer of each operation. */
function reduced({ openapi, info, paths, components }: OpenApi, ids: readonly string[]) {
  const all = Object.values(paths).flatMap(methods => Object.values(methods))
  const operations = ids.map(id => all.find(({ operationId }) => operationId === id)!)
  const own = Object.fromEntries(operations.flatMap(namedSchemas))
  const named = [...Object.keys(own), 'Error'].map(name => {
    const schema = { $ref: `#/components/schemas/${name}` }
    const answer = { description: '', content: { 'application/json': { schema } } }
    return [`/${name}`, { get: { responses: { 200: answer } } }]
  })
  const schemas = { ...components.schemas, ...own }
  return { openapi, info, paths: Object.fromEntries(named), components: { schemas } }
}

function namedSchemas({
  operationId: id,
  summary,
  parameters,
  requestBody,
  responses,
}: Operation): [string, JsonSchema][] {
  const name = id.replaceAll(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase())
  const chosen = parameters.filter(each => each.in === 'query' && !FIXED.includes(each.name))
  const fields = chosen.map(({ name: field, description, schema }) => [field, { description, ...schema }])
  const query = { type: 'object', properties: Object.fromEntries(fields) }
  const { schema } = (responses[200] ?? responses[201]!).content!['application/json']! // routes of the client answer JSON
  const answer: [string, JsonSchema] = [`${name}Answer`, { description: `${summary}.`, ...schema }]
  const body: [string, JsonSchema][] = requestBody
    ? [[`${name}Body`, requestBody.content['application/json'].schema]]
    : []
  return [
    ...(chosen.length === 0 ? [] : [[`${name}Query`, query] satisfies [string, JsonSchema]]),
    ...body,
    answer,
  ]
}

/** The generator reads what is said of a field only outside of its alternatives. */
function describedNulls(_key: string, part: unknown): unknown {
  const { anyOf, description } = (part ?? {}) as JsonSchema // a missing keyword is undefined on every JSON value
  const about = description ?? anyOf?.flatMap(branch => branch.description ?? [])[0]
  return about === undefined || anyOf === undefined ? part : { ...(part as JsonSchema), description: about }
}

if (import.meta.main)
  await writeClientTypes(process.argv[2] ?? join(import.meta.dirname, '../clients/typescript'))
