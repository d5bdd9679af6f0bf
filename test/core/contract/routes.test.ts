import { expect, test } from 'vitest'
import { historyDocument, ROUTES } from '#api/history/routes.ts'
import { operatorDocument } from '#api/operator/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'
import { artifactKey } from '#core/contract/artifacts.ts'
import { STATUS_OF } from '#core/contract/errors.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES, routeOf } from '#core/dataset/resources/routes.ts'

const VERSION = '2026-11-21T00:15:00Z'
const IDS = ['alder', 'birch']

const POINTS = DATASET_ROUTES.flatMap(route => canonicalPoints(route, IDS).map(params => ({ route, params })))

test('the route table has every path and parameter of the specification, and formats beside it', () => {
  expect(ROUTES.map(({ path, query }) => [path, ...Object.keys(query)])).toEqual([
    ['/healthz'],
    ['/readyz'],
    ['/version'],
    ['/v1/dataset/versions', 'as_of', 'format'],
    ['/v1/strategies', 'format'],
    ['/v1/summary'],
    ['/v1/dataset'],
    ['/v1/correlation', 'period', 'ids', 'format'],
    ['/v1/export', 'period', 'risk_pct', 'from', 'to', 'format'],
    ['/v1/benchmark', 'format'],
    ['/v1/strategies/{sid}'],
    ['/v1/strategies/{sid}/stats', 'risk_pct'],
    ['/v1/strategies/{sid}/returns', 'period', 'risk_pct', 'from', 'to', 'format'],
    ['/v1/strategies/{sid}/curve', 'risk_pct', 'format'],
    ['/v1/strategies/{sid}/rolling', 'risk_pct', 'format'],
    ['/v1/strategies/{sid}/risk', 'risk_pct'],
    ['/v1/strategies/{sid}/trades', 'format'],
    ['/v1/strategies/{sid}/live', 'risk_pct'],
  ])
})

test('the route table names every route once, and knows it by its name', () => {
  for (const route of DATASET_ROUTES) expect(routeOf(route.id)).toBe(route)
  expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length)
})

test('a route has the parameter format exactly if it has more than one format', () => {
  for (const { id, query, formats } of ROUTES) {
    expect('format' in query, id).toBe(formats.length > 1)
  }
})

test('the canonical points are each one address and one key', () => {
  const paths = POINTS.map(({ route, params }) => canonicalPath(route.id, params))
  const keys = POINTS.map(({ route, params }) => artifactKey(VERSION, route, params))
  expect(new Set(paths).size).toBe(POINTS.length)
  expect(new Set(keys).size).toBe(POINTS.length)
})

test('the table of error codes is closed: a code that is added, dropped or moved to another status is a change of the contract', () => {
  const byStatus = Object.groupBy(Object.entries(STATUS_OF), ([, status]) => status)
  const codes = Object.entries(byStatus).map(([status, entries = []]) => [
    Number(status),
    ...entries.map(([code]) => code),
  ])
  expect(codes).toEqual([
    [400, 'bad_request'],
    [401, 'unauthorized'],
    [403, 'forbidden', 'account_not_active', 'not_entitled'],
    [404, 'not_found', 'profile_not_set'],
    [405, 'method_not_allowed'],
    [409, 'conflict'],
    [410, 'gone'],
    [413, 'payload_too_large'],
    [414, 'uri_too_long'],
    [415, 'unsupported_media_type'],
    [422, 'validation_error'],
    [429, 'rate_limited'],
    [500, 'internal_error'],
    [503, 'not_ready', 'unavailable', 'overloaded'],
  ])
})

const HERE = 'https://example.org'

const DOCUMENTS = [
  ['history', await historyDocument(HERE)],
  ['signals', signalsDocument(HERE)],
  ['operator', operatorDocument()],
] as const

/** Whether a schema says what it is: itself, by what it refers to, which is checked itself, or in one of the shapes that it may have. */
function isDescribed({ description, $ref, anyOf = [], allOf = [] }: Described): boolean {
  return Boolean(description ?? $ref) || [...anyOf, ...allOf].some(isDescribed)
}
type Described = Partial<Record<'description' | '$ref', string> & Record<'anyOf' | 'allOf', Described[]>>

/** The properties, parameters and headers of a document that say nothing. */
function bareNames(document: object): string[] {
  const bare: string[] = []
  const named = new Set<unknown>() // a property may have the name of a keyword
  JSON.stringify(document, function (this: unknown, key, node) {
    if (named.has(this)) return node
    if (['examples', 'default', 'enum', 'const'].includes(key)) return null // values, which may look like schemas
    if (!['properties', 'parameters', 'headers'].includes(key)) return node
    named.add(node)
    for (const [name, part] of Object.entries<Described>(node))
      if (!isDescribed(part)) bare.push(`${key} ${name}: ${JSON.stringify(part)}`)
    return node
  })
  return bare
}

test.each(DOCUMENTS)('the document of %s describes every field, parameter and header', (_, document) => {
  expect([...new Set(bareNames(document))]).toEqual([])
})
