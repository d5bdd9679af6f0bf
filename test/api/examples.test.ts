// Every example of the OpenAPI document is what the service answers to the question beside it, on the tiny book.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { asCsv, EXAMPLE_REQUESTS } from '#core/contract/openapi-examples.ts'
import { isPinnable, pinnedPath } from '#core/contract/pins.ts'
import { ROUTE_DATA } from '#core/contract/route-data.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { openHistoryApp } from '../setup/history-app.ts'
import { TINY_VERSION } from '../setup/publish-book.ts'
import type { App } from './answers.ts'
import { undescribedFields } from './described.ts'

const FILE = join(import.meta.dirname, '../../core/contract/examples.json')

const example = z.strictObject({ summary: z.string(), value: z.unknown() })
const openApi = z.object({
  components: z.object({ examples: z.record(z.string(), example) }),
  paths: z.record(z.string(), z.object({ get: z.unknown() })),
})
const envelope = z.object({ data: z.unknown() })

let app: App
let document: z.infer<typeof openApi>

beforeAll(async () => {
  app = (await openHistoryApp(inject('tinyStore'))).app
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(FILE, `${JSON.stringify(await record())}\n`)
  document = openApi.parse(await (await app.request('/openapi.json')).json())
})

const textOf = async (path: string): Promise<string> => portable(await (await app.request(path)).text())

/** The digest of a manifest changes with the code that built it, and with its compressed bytes. */
const portable = (text: string): string =>
  text.replaceAll(/(?<="manifest_sha256":")[0-9a-f]{64}/g, 'f'.repeat(64))

/** Asks every question; the running module keeps what it has loaded, so the next run compares. */
async function record(): Promise<object> {
  const answers = ROUTES.map(async ({ id, formats }) => {
    const json: unknown = JSON.parse(await textOf(EXAMPLE_REQUESTS[id]))
    const csv = formats.includes('csv') ? { csv: await textOf(asCsv(EXAMPLE_REQUESTS[id])) } : {}
    return [id, { json, ...csv }] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

test('the document has an example for every route as JSON, and as CSV where there is one', () => {
  const expected = ROUTES.flatMap(({ id, formats }) => [
    id,
    ...(formats.includes('csv') ? [`${id}_csv`] : []),
  ])
  expect(Object.keys(document.components.examples)).toEqual(expected)
})

test('and has no other one', () => {
  const text = JSON.stringify(document.paths)
  expect(text).not.toContain('"example":')
  const referred = [...text.matchAll(/"examples":(\{.*?\}\})/g)].map(([, found]) => found)
  const known = Object.keys(document.components.examples).map(
    name => `{"answer":{"$ref":"#/components/examples/${name}"}}`,
  )
  expect(new Set(referred)).toEqual(new Set(known))
})

describe.each(ROUTES.map(route => [route.id, route] as const))('the example of %s', (id, route) => {
  test('is the answer to its question, which it states', async () => {
    const { summary, value } = document.components.examples[id]!
    expect(summary).toBe(`GET ${EXAMPLE_REQUESTS[id]}`)
    expect(value).toEqual(JSON.parse(await textOf(EXAMPLE_REQUESTS[id])))
    if (!isPinnable(route)) return
    expect(value).toEqual(JSON.parse(await textOf(pinnedPath(TINY_VERSION, EXAMPLE_REQUESTS[id]))))
  })

  test('is what the schema describes, field for field', () => {
    const { data } = envelope.parse(document.components.examples[id]!.value)
    expect(ROUTE_DATA[route.id].safeParse(data).error).toBeUndefined()
    expect(undescribedFields(ROUTE_DATA[route.id], data)).toEqual([])
  })
})

const AS_ROWS = ROUTES.filter(({ formats }) => formats.includes('csv')).map(({ id }) => id)

test.each(AS_ROWS)('the example of %s is as true as CSV', async id => {
  const { summary, value } = document.components.examples[`${id}_csv`]!
  expect(summary).toBe(`GET ${asCsv(EXAMPLE_REQUESTS[id])}`)
  expect(value).toBe(await textOf(asCsv(EXAMPLE_REQUESTS[id])))
})
