// The types of the client are made from the OpenAPI documents of the services, for the routes that the client reads: the
// parameters of a route as `ReturnsQuery`, its answer as `ReturnsAnswer`, and the payloads under their own names.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run generated-types
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSource } from 'oazapfts'
import { expect, test } from 'vitest'
import { DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import { openApiDocuments } from '../../support/http/openapi-documents.ts'
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.ts'

const GENERATED = join(import.meta.dirname, '../../../clients/typescript/src/generated')

/** The operations that the client calls. */
const READ: Readonly<Record<'history' | 'signals', readonly string[]>> = {
  history: [...DATASET_ROUTES.map(({ id }) => id), 'version'],
  signals: ['whoami', 'head', 'history'],
}

/** They are part of the address that the client makes, not of what its caller chooses. */
const FIXED = ['dataset_version', 'format']

/** A part of an OpenAPI document, of which these keywords are read. */
type Part = {
  readonly [key: string]: unknown
  readonly description?: string
  readonly anyOf?: readonly Part[]
}

type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly parameters: readonly { name: string; in: string; description: string; schema: Part }[]
  readonly responses: {
    readonly 200: { readonly content: { readonly 'application/json': { schema: Part } } }
  }
}

type Document = {
  readonly openapi: string
  readonly info: Part
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Part>> }
}

const HEADING =
  '// Made from the OpenAPI document by `UPDATE_GOLDEN=1 vitest run generated-types`: do not edit.\n\n'

/** The types of a document, without the functions that the generator would add. */
async function typesOf(document: Document, ids: readonly string[]): Promise<string> {
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'document.json': JSON.stringify(reduced(document, ids), describedNulls) })
  const source = await generateSource(join(folder, 'document.json'))
  return HEADING + source.slice(source.indexOf('export type'), source.indexOf('export function'))
}

/** A document with a named schema for the query and for the answer of each operation. */
function reduced({ openapi, info, paths, components }: Document, ids: readonly string[]) {
  const all = Object.values(paths).flatMap(({ get }) => get ?? [])
  const operations = ids.map(id => all.find(({ operationId }) => operationId === id)!)
  const own = Object.fromEntries(operations.flatMap(namedSchemas))
  const named = [...Object.keys(own), 'Error'].map(name => [
    `/${name}`,
    { get: { responses: { 200: { description: '', ...jsonOf({ $ref: `#/components/schemas/${name}` }) } } } },
  ])
  return {
    ...{ openapi, info, paths: Object.fromEntries(named) },
    components: { schemas: { ...components.schemas, ...own } },
  }
}

const jsonOf = (schema: Part) => ({ content: { 'application/json': { schema } } })

function namedSchemas({ operationId: id, summary, parameters, responses }: Operation): [string, Part][] {
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  const chosen = parameters.filter(each => each.in === 'query' && !FIXED.includes(each.name))
  const fields = chosen.map(({ name: field, description, schema }) => [field, { description, ...schema }])
  const { schema } = responses[200].content['application/json']
  return [
    ...(chosen.length === 0
      ? []
      : [[`${name}Query`, { type: 'object', properties: Object.fromEntries(fields) }] as [string, Part]]),
    [`${name}Answer`, { description: `${summary}.`, ...schema }],
  ]
}

/** The generator reads what is said of a field only outside of its alternatives. */
function describedNulls(_key: string, part: unknown): unknown {
  const { anyOf, description } = (part ?? {}) as Part // a missing keyword is undefined on every JSON value
  const about = description ?? anyOf?.flatMap(branch => branch.description ?? [])[0]
  return about === undefined || anyOf === undefined ? part : { ...(part as Part), description: about }
}

test.each(['history', 'signals'] as const)(
  'the types of the %s service are those of its document',
  async name => {
    const documents = await openApiDocuments()
    const types = await typesOf(documents[name] as Document, READ[name])
    const path = join(GENERATED, `${name}.ts`)
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, types)
    expect(readFileSync(path, 'utf8')).toBe(types)
    expect(types.match(/^[^*]*: (?:unknown|any)\b/gm)).toBeNull()
  },
)
