// Every example of the OpenAPI document is what the service answers to the question beside it, on the tiny book.
// Where a change is meant, rewrite them: UPDATE_GOLDEN=1 vitest run examples
import { inject, test } from 'vitest'
import { ROUTES } from '#api/history/routes.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import type { ErrorCode } from '#core/contract/errors.ts'
import { FILE_ROUTES } from '#core/contract/file-routes.ts'
import { FIRST_VERSION, openBothVersions, SECOND_VERSION } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { pointAt } from '../../support/history/point-to.ts'
import {
  type Answers,
  answersTo,
  assertRecorded,
  partsOf,
  recordIfAsked,
} from '../../support/history/recorded-examples.ts'
import { openApi } from '../../support/http/openapi-documents.ts'
import { meddled, outage } from '../../support/stores/store-doubles.ts'
import { type App, openServing } from './answers.ts'
import { type Apps, openApps } from './kinds.ts'

const apps = await openApps(inject('tinyStore'))
const app = apps.serving

/** The digest of a manifest changes with the code that built it, and with its compressed bytes. */
const portable = (text: string): string =>
  text.replaceAll(/(?<="manifest_sha256":"|Z,,?)[0-9a-f]{64}/g, 'f'.repeat(64))

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
    const { method, path } = partsOf(request)
    const response = await by.request(path, { method })
    return [code, { request, json: JSON.parse(portable(await response.text())) as unknown }] as const
  })
  return Object.fromEntries(await Promise.all(refused))
}

/** Services whose first version was removed or cannot be read, and one that loads as many versions as it may. */
async function openFailing(): Promise<{ removed: App; unread: App; crowded: App }> {
  const { app: removed, store, privateStore } = await openServing(SECOND_VERSION)
  const manifest = manifestKey(FIRST_VERSION)
  const down = meddled(store, key => key === manifest, outage(store))
  const { app: unread } = await createTestApp(down, privateStore)
  await store.remove(manifest)
  return { removed, unread, crowded: await openCrowded() }
}

/** Before each request to it, as many other versions are requested as it loads at a time. */
async function openCrowded(): Promise<App> {
  const { store, privateStore } = await openBothVersions()
  const names = Array.from({ length: 8 }, (_, i) => `2024-02-${10 + i}T00:15:00Z`)
  for (const version of names) await pointAt(store, version, 'x')
  const { app: crowded } = await createTestApp(store, privateStore)
  const request: App['request'] = (...given) => {
    for (const version of names) void crowded.request(`/v1/summary?dataset_version=${version}`)
    return crowded.request(...given)
  }
  return { request }
}

const textOf = async (path: string) => portable(await (await app.request(path)).text())
const answered = await answersTo(ROUTES, async (_, path) => ({ status: 200, text: await textOf(path) }))
const answers: Answers = { answers: answered, refusals: await refuseAll(apps) }
recordIfAsked('examples.json', answers)
const document = openApi.parse(JSON.parse(await textOf('/openapi.json')))

test('every example of the document is what the service answered or refused, and every answer and refusal has one', () => {
  const files = FILE_ROUTES.map(({ path }) => path)
  assertRecorded(document, answers, ROUTES, files)
})
