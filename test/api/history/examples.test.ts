// Every example of the OpenAPI document is what the service answers to the question beside it, on the tiny book.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import { expect, inject, test } from 'vitest'
import { type HistoryRoute, ROUTES } from '#api/history/routes.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { asCsv } from '#core/contract/openapi.ts'
import type { Format } from '#core/contract/parameters.ts'
import { FIRST_VERSION, openBothVersions, pointTo, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import {
  type Answers,
  assertAnswersShown,
  assertRefusalsShown,
  componentsOf,
  exampledDocument,
  recordIfAsked,
} from '../../support/history/recorded-examples.ts'
import { meddled, outage } from '../../support/stores/store-doubles.ts'
import type { App } from './answers.ts'
import { type Apps, openApps } from './kinds.ts'

const apps = await openApps(inject('tinyStore'))
const app = apps.serving

const textOf = async (path: string) => portable(await (await app.request(path)).text())

/** The digest of a manifest changes with the code that built it, and with its compressed bytes. */
const portable = (text: string): string =>
  text.replaceAll(/(?<="manifest_sha256":"|Z,)[0-9a-f]{64}/g, 'f'.repeat(64))

const exampleOf = ({ id, example }: HistoryRoute): string => {
  if (example === undefined) throw new Error(`the route '${id}' has no example`)
  return example.path
}

/** Asks every question. */
async function answerAll(): Promise<Answers['answers']> {
  const asked = ROUTES.map(async route => {
    const { id } = route
    const request = exampleOf(route)
    const formats: readonly Format[] = route.formats
    const json: unknown = JSON.parse(await textOf(request))
    const csv = formats.includes('csv') ? { csv: await textOf(asCsv(request)) } : {}
    return [id, { json, ...csv }] as const
  })
  return Object.fromEntries(await Promise.all(asked))
}

/** Refusals of what comes as a request, by the service as it is, empty, and at fault. */
async function refuseAll({ serving, empty, faulty }: Apps): Promise<Answers['refusals']> {
  const { removed, unread, crowded } = await openFailing()
  const asked: readonly (readonly [ErrorCode, string, App])[] = [
    ['not_found', 'GET /v1/strategies/oak', serving],
    ['method_not_allowed', 'DELETE /v1/summary', serving],
    ['uri_too_long', 'GET /v1/correlation?ids=...', serving],
    ['validation_error', 'GET /v1/export?period=yearly&risk_pct=two', serving],
    ['gone', `GET /v1/summary?dataset_version=${FIRST_VERSION}`, removed],
    ['internal_error', 'GET /v1/summary', faulty],
    ['not_ready', 'GET /readyz', empty],
    ['unavailable', `GET /v1/summary?dataset_version=${FIRST_VERSION}`, unread],
    ['overloaded', `GET /v1/summary?dataset_version=${FIRST_VERSION}`, crowded],
  ]
  const refused = asked.map(async ([code, request, by]) => {
    const [method = '', path = ''] = request.split(' ')
    const response = await by.request(path.replace('...', 'x'.repeat(TOO_LONG)), { method })
    return [code, { request, json: JSON.parse(portable(await response.text())) as unknown }] as const
  })
  return Object.fromEntries(await Promise.all(refused))
}

/** More than an address may be long. */
const TOO_LONG = 8_192

/** Services whose first version was removed or cannot be read, and one that loads as many versions as it may. */
async function openFailing(): Promise<{ removed: App; unread: App; crowded: App }> {
  const stores = await openBothVersions()
  await pointTo(stores, SECOND_VERSION)
  const { store, privateStore } = stores
  const manifest = manifestKey(FIRST_VERSION)
  const down = meddled(store, key => key === manifest, outage(store))
  const { app: unread } = await createTestApp(down, privateStore)
  await store.remove(manifest)
  const { app: removed } = await createTestApp(store, privateStore)
  return { removed, unread, crowded: await openCrowded() }
}

/** Before each request to it, as many other versions are requested as it loads at a time. */
async function openCrowded(): Promise<App> {
  const stores = await openBothVersions()
  const names = Array.from({ length: 8 }, (_, i) => `2024-02-${10 + i}T00:15:00Z`)
  for (const version of names) await pointAt(stores.store, version, 'x')
  const { app: crowded } = await createTestApp(stores.store, stores.privateStore)
  const request: App['request'] = (...given) => {
    for (const version of names) void crowded.request(`/v1/summary?dataset_version=${version}`)
    return crowded.request(...given)
  }
  return { request }
}

const answers: Answers = { answers: await answerAll(), refusals: await refuseAll(apps) }
recordIfAsked('examples.json', answers)
const document = exampledDocument.parse(await (await app.request('/openapi.json')).json())

test('every example of the document is what the service answered or refused, and there is no other one', () => {
  const requestOf = (name: string, isCsv: boolean): string => {
    const request = exampleOf(ROUTES.find(({ id }) => id === name)!)
    return `GET ${isCsv ? asCsv(request) : request}`
  }
  expect(document.components.examples).toEqual(componentsOf(answers, requestOf))
})

test('every answer and every refusal that the document describes has its example', () => {
  assertAnswersShown(
    document,
    FILE_ROUTES.map(({ path }) => path),
  )
  assertRefusalsShown(document)
})
