// Every request that can be made from the published document, in process and over a wire: each answer is as the
// document describes it, and never a fault.
import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { createTestApp, openHistoryApp } from '../../support/history/history-app.ts'
import { anyRequest, type Document, openApi } from '../../support/http/any-request.ts'
import { type Ask, askIn, askOver, holdToDocument } from '../../support/http/hold-to-document.ts'
import { SIDS } from '../history/paths.ts'

const KNOWN = {
  sid: SIDS,
  ids: [...SIDS, SIDS.join(), 'yew,ash', 'ash,oak'],
  version: ['20250224T001500Z'],
  seq: ['0000000001'],
  dataset_version: [TINY_VERSION],
  from: ['2024-03-02'],
  to: ['2024-11-30', '2025-02-22'],
}

let opened: Awaited<ReturnType<typeof openHistoryApp>>
let document: Document
let server: RunningServer
let pool: Pool

beforeAll(async () => {
  opened = await openHistoryApp(inject('tinyStore'))
  document = openApi.parse(await (await opened.app.request('/openapi.json')).json())
  server = await startServer(() => opened.app.fetch, '127.0.0.1', 0)
  pool = new Pool(server.url)
})
afterAll(async () => {
  await pool.close()
  await server.close()
})

async function askAnything(ask: Ask, numRuns: number, passing: readonly number[] = []): Promise<void> {
  const hold = holdToDocument(document, ask, passing)
  const property = fc.asyncProperty(anyRequest(document, KNOWN), async asked => {
    expect(await hold(asked), asked.address).toEqual([])
  })
  await fc.assert(property, { numRuns })
}

test('each answer is as the document has it, HEAD as GET, and its own link leads to the same bytes', async () => {
  await askAnything(askIn(opened.app), 1_200)
  expect(opened.errors).toEqual([])
  expect(opened.damages).toEqual([])
})

test('over a wire, too', async () => {
  await askAnything(askOver(pool), 300)
  expect(opened.errors).toEqual([])
})

test('and while there is no dataset', async () => {
  const { store, privateStore } = createMemoryStores()
  const { app, errors } = await createTestApp(store, privateStore)
  await askAnything(askIn(app), 200, [503])
  expect(errors).toEqual([])
})
