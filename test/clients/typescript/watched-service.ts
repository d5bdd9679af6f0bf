// The history service on two versions of a small book, and every request that reaches it.
import { createHistoryApp } from '#api/history/app.ts'
import type { HistoryParts } from '#api/history/exchange.ts'
import { openBothVersions, pointTo } from '../../support/books/small-book.ts'
import { createTestApp } from '../../support/history/history-app.ts'
import { start } from '../../support/http/raw-server.ts'

/** Serves the first version, for the running test. */
export async function watchedService(changes: Partial<HistoryParts> = {}) {
  const stores = await openBothVersions()
  const { parts, source } = await createTestApp(stores.store, stores.privateStore, changes)
  const app = createHistoryApp(parts)
  /** `304 /v1/summary`, oldest first. */
  const requests: string[] = []
  const { url } = await start(async (request, env) => {
    const response = await app.fetch(request, env)
    const { pathname, search } = new URL(request.url)
    requests.push(`${response.status} ${pathname}${search}`)
    return response
  })
  /** The service serves another version from now on. */
  const serve = async (version: string) => {
    await pointTo(stores, version)
    await source.refresh()
  }
  return { url, requests, serve }
}

/** The value that a promise is rejected with; fails if it is not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const answer = await promise.catch((error: unknown) => ({ error }))
  if (typeof answer === 'object' && answer !== null && 'error' in answer) return answer.error
  throw new Error('the promise was not rejected')
}
