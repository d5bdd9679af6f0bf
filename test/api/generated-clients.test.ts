// What a generator of clients makes of the three OpenAPI documents: a named type for each payload, and no type that is unknown.
import { expect, test } from 'vitest'
import { openApiDocuments } from '../support/http/openapi-documents.ts'

type Node = Readonly<Record<string, unknown>>

/** Payloads that have a name in each document. */
const NAMES = {
  history: [
    ...['Stats', 'DueDiligence', 'Strategy', 'Trade', 'ReturnPoint'],
    ...['Summary', 'Dataset', 'Manifest', 'Changes'],
  ],
  signals: ['Signal', 'DeliveryAccount', 'ProgramBasket'],
  operator: ['Client', 'Webhook', 'Delivery', 'Signal', 'ServiceStatus'],
}

const { history, signals, operator } = await openApiDocuments()

const DOCUMENTS: readonly (readonly [string, Node, readonly string[]])[] = [
  ['history', history, NAMES.history],
  ['signals', signals, NAMES.signals],
  ['operator', operator, NAMES.operator],
]

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const nodeAt = (node: Node, name: string): Node => (isNode(node[name]) ? node[name] : {})

/** The keywords of which one at least says what a value is. */
const KINDS = ['type', '$ref', 'anyOf', 'allOf', 'oneOf', 'enum', 'const']

/** The paths of all schemas below one that say nothing of their value. */
function unknownsIn(schema: unknown, path: string): string[] {
  if (!isNode(schema)) return []
  const lists = ['anyOf', 'allOf', 'oneOf', 'prefixItems'].flatMap(name =>
    Array.isArray(schema[name]) ? schema[name].map((each, i) => [`${name}/${i}`, each] as const) : [],
  )
  const below = [
    ...Object.entries(nodeAt(schema, 'properties')),
    ...lists,
    ...['items', 'additionalProperties'].flatMap(name =>
      name in schema ? [[name, schema[name]] as const] : [],
    ),
  ]
  return [
    ...(KINDS.some(kind => kind in schema) ? [] : [path]),
    ...below.flatMap(([name, each]) => unknownsIn(each, `${path}/${name}`)),
  ]
}

const operationsOf = (document: Node): (readonly [string, Node])[] =>
  Object.entries(nodeAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isNode(methods) ? methods : {}).flatMap(([method, each]) =>
      isNode(each) ? [[`${method} ${path}`, each] as const] : [],
    ),
  )

/** The schemas of a document: its components, and those of what is sent and answered. */
function schemasOf(document: Node): (readonly [string, unknown])[] {
  const media = operationsOf(document).flatMap(([name, { requestBody, responses }]) => {
    const bodies = [requestBody, ...Object.values(isNode(responses) ? responses : {})].filter(isNode)
    return bodies.flatMap(body =>
      Object.entries(nodeAt(body, 'content')).map(([type, each]) => [`${name} ${type}`, each] as const),
    )
  })
  return [
    ...Object.entries(nodeAt(nodeAt(document, 'components'), 'schemas')),
    ...media.map(([name, each]) => [name, isNode(each) ? (each.schema ?? {}) : {}] as const),
  ]
}

test.each(DOCUMENTS)('the document of the %s service names its payloads', (_name, document, names) => {
  const schemas = nodeAt(nodeAt(document, 'components'), 'schemas')
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Meta', 'Links', 'Error', ...names]))
  for (const name of names) expect(nodeAt(schemas, name).properties, name).toBeDefined()
})

test.each(DOCUMENTS)('the %s document has exactly the components that it refers to', (_, document) => {
  const text = JSON.stringify(document)
  const targets = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]*)"/g)].map(([, target]) => target))
  const known = Object.entries(nodeAt(document, 'components'))
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, named]) => Object.keys(isNode(named) ? named : {}).map(name => `${kind}/${name}`))
  expect([...targets].toSorted()).toEqual(known.toSorted())
  expect(text).not.toContain('"#/$defs/')
})

test.each(DOCUMENTS)('the %s document says what each number and text of an address may be', (_, document) => {
  const parameters = operationsOf(document).flatMap(([name, operation]) =>
    (Array.isArray(operation.parameters) ? operation.parameters : []).map(
      each => [`${name} ${each.name}`, nodeAt(each, 'schema')] as const,
    ),
  )
  expect(parameters.length).toBeGreaterThan(5)
  for (const [name, schema] of parameters) {
    const value = schema.type === 'array' ? nodeAt(schema, 'items') : schema
    if (value.type === 'string')
      expect([name, 'enum' in value || 'format' in value || 'pattern' in value]).toEqual([name, true])
    else expect([name, Object.keys(value)]).toEqual([name, expect.arrayContaining(['minimum', 'maximum'])])
  }
})

test.each(DOCUMENTS)('the %s document has no unknown schema, and names each large payload', (_, document) => {
  const schemas = schemasOf(document)
  expect(schemas.length).toBeGreaterThan(20)
  expect(schemas.flatMap(([name, schema]) => unknownsIn(schema, name))).toEqual([])
  for (const [name, schema] of schemas) {
    const data = isNode(schema) ? nodeAt(nodeAt(schema, 'properties'), 'data') : {}
    const payload = data.type === 'array' ? nodeAt(data, 'items') : data
    if (payload.type === 'object') expect([name, payload.$ref]).toEqual([name, expect.any(String)])
  }
})
