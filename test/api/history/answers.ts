// Bodies of answers, parsed: a test reads fields that a schema has seen, never guesses.
import { expect, inject } from 'vitest'
import { z } from 'zod'
import { createMemoryStores } from '../../support/books/publish-in-memory.ts'
import { FIRST_VERSION, openBothVersions, pointTo } from '../../support/books/small-book.ts'
import { createTestApp, openHistoryApp } from '../../support/history/history-app.ts'
import { ERROR_ENVELOPE } from './specification.ts'

/** Anything that answers requests in process. */
export type App = {
  readonly request: (path: string, init?: RequestInit) => Response | Promise<Response>
}

type Changes = Parameters<typeof createTestApp>[2]

/** The app on the tiny book. */
export const openTiny = (changes?: Changes) => openHistoryApp(inject('tinyStore'), changes)

/** The app on both versions of the small book, of which this one is served, and its stores. */
export async function openServing(version: string, changes?: Changes) {
  const stores = await openBothVersions()
  if (version !== FIRST_VERSION) await pointTo(stores, version)
  return { ...stores, ...(await createTestApp(stores.store, stores.privateStore, changes)) }
}

/** The app on stores in which nothing is published. */
export async function openEmpty(changes?: Changes) {
  const { store, privateStore } = createMemoryStores()
  return createTestApp(store, privateStore, changes)
}

const ENVELOPE = z.strictObject({
  data: z.unknown(),
  meta: z.record(z.string(), z.unknown()),
  links: z.record(z.string(), z.string()),
})

/** The envelope of an answer, and the answer. Throws where the body is anything but data, meta and links. */
export async function getEnvelope(app: App, address: string) {
  const response = await app.request(address)
  return { response, ...ENVELOPE.parse(await response.json()) }
}

/** The payload of an answer in the form of a schema. */
export const getData = async <T>(app: App, address: string, schema: z.ZodType<T>): Promise<T> =>
  schema.parse((await getEnvelope(app, address)).data)

/** The error of an answer; its whole envelope is checked against the specification. */
export async function errorOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  return ERROR_ENVELOPE.parse(await response.json()).error
}

/** The headers as a plain object, sorted by name. */
export const headersOf = (response: Response): Record<string, string> =>
  Object.fromEntries([...response.headers].sort(([a], [b]) => (a < b ? -1 : 1)))
