// Every field, parameter and header of the three OpenAPI documents says what it is: a reader of /docs never meets a bare name.
import { expect, test } from 'vitest'
import { historyDocument } from '#api/history/routes.ts'
import { operatorDocument } from '#api/operator/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'

const HERE = 'https://example.org'

const DOCUMENTS = {
  history: await historyDocument(HERE),
  signals: signalsDocument(HERE),
  operator: operatorDocument('1.0'),
}

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a schema says what it is: itself, by what it refers to, or in one of the shapes that it may have. */
function isDescribed(schema: unknown): boolean {
  if (!isNode(schema)) return false
  const { description, $ref, anyOf, allOf } = schema
  if (typeof description === 'string' && description !== '') return true
  if (typeof $ref === 'string') return true // a component, which is checked itself
  return [anyOf, allOf].some(branches => Array.isArray(branches) && branches.some(isDescribed))
}

/** Examples hold values, which may look like schemas. */
const VALUES = new Set(['examples', 'default', 'enum', 'const'])

/** The paths of all properties, parameters and headers below a node that say nothing. */
function bareNames(node: unknown, path: string): string[] {
  if (Array.isArray(node)) return node.flatMap((each, i) => bareNames(each, `${path}/${i}`))
  if (!isNode(node)) return []
  const named = isNode(node.properties) ? Object.entries(node.properties) : []
  const listed = Array.isArray(node.parameters)
    ? node.parameters.map((each, i) => [String(i), each] as const)
    : []
  const headers = isNode(node.headers) ? Object.entries(node.headers) : []
  const bare = [...named, ...listed, ...headers]
    .filter(([, each]) => !isDescribed(each))
    .map(([name]) => `${path}/${name}`)
  const below = Object.entries(node)
    .filter(([key]) => !VALUES.has(key))
    .flatMap(([key, each]) =>
      key === 'properties' && isNode(each)
        ? Object.entries(each).flatMap(([name, field]) => bareNames(field, `${path}/properties/${name}`))
        : bareNames(each, `${path}/${key}`),
    )
  return [...bare, ...below]
}

test.each(Object.entries(DOCUMENTS))(
  'the document of %s describes every field, parameter and header',
  (_name, document) => {
    expect([...new Set(bareNames(document, '').map(path => path.replace(/^\/paths\/~?/, '')))]).toEqual([])
  },
)

test('a name without a description is found wherever it stands', () => {
  const field = { type: 'string' }
  const schema = {
    type: 'object',
    properties: { a: { type: 'array', description: 'x', items: { properties: { b: field } } } },
  }
  expect(bareNames({ schema }, '')).toEqual(['/schema/properties/a/items/b'])
  expect(bareNames({ parameters: [{ name: 'p' }], headers: { H: { schema: field } } }, '')).toEqual([
    '/0',
    '/H',
  ])
})
