import { createHistoryApp } from '#api/history/app.ts'
import { createComputedAnswers } from '#api/history/computed-answers.ts'
import type { HistoryParts } from '#api/history/exchange.ts'
import { createPublishedAnswers } from '#api/history/published-answers.ts'
import { createVersionSource } from '#api/history/version-source.ts'
import { openStore } from '#storage/open-store.ts'
import type { Stores } from './publish-book.ts'

export const ALLOWED_ORIGIN = 'https://www.example.org'

/** The instant that the app of a test believes to be now. */
export const NOW_MS = Date.parse('2025-02-25T00:00:00Z')

/** The history app on a store, with a clock that stands still; `damages` and `errors` collect what it complains of. */
export async function openHistoryApp({ url, privateUrl }: Stores, changes: Partial<HistoryParts> = {}) {
  const damages: string[] = []
  const errors: unknown[] = []
  const store = await openStore(url)
  const source = createVersionSource(store, await openStore(privateUrl))
  await source.refresh()
  const app = createHistoryApp({
    source,
    published: createPublishedAnswers(store, message => damages.push(message)),
    computed: createComputedAnswers(),
    settings: {
      allowedOrigins: new Set([ALLOWED_ORIGIN]),
      publicBaseUrl: 'https://data.example.org',
      deprecatedAtMs: null,
      sunsetAtMs: null,
    },
    clock: { now: () => NOW_MS, elapsed: () => 0 },
    isDraining: () => false,
    onError: error => errors.push(error),
    ...changes,
  })
  return { app, source, damages, errors }
}
