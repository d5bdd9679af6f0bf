import { createComputedAnswers } from '#api/history/answers/computed-answers.ts'
import { createPublishedAnswers } from '#api/history/answers/published-answers.ts'
import { createHistoryApp } from '#api/history/app.ts'
import type { Answered, HistoryParts, HistorySettings } from '#api/history/exchange.ts'
import { createStoredFiles } from '#api/history/files/stored-files.ts'
import { createPinnedVersions } from '#api/history/versions/pinned-versions.ts'
import { createVersionSource } from '#api/history/versions/version-source.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import type { Stores } from '../books/publish-book.ts'

export const ALLOWED_ORIGIN = 'https://www.example.org'

/** The instant that the app of a test believes to be now. */
export const NOW_MS = Date.parse('2025-02-25T00:00:00Z')

export const SETTINGS: HistorySettings = {
  allowedOrigins: new Set([ALLOWED_ORIGIN]),
  publicBaseUrl: 'https://data.example.org',
  signalsBaseUrl: null,
  deprecatedAtMs: null,
  sunsetAtMs: null,
}

/**
 * The history app on two stores, with a clock that stands still; `damages`, `faults` and `errors` collect what it complains
 * of, `answers` what it logs of each answer.
 */
export async function createTestApp(
  store: ObjectStore,
  privateStore: ObjectStore,
  changes: Partial<HistoryParts> = {},
) {
  const damages: string[] = []
  const errors: unknown[] = []
  const faults: unknown[] = []
  const answers: Answered[] = []
  const source = createVersionSource(store, privateStore)
  await source.refresh()
  const tellDamage = (message: string): number => damages.push(message)
  const published = createPublishedAnswers(store, tellDamage)
  const parts: HistoryParts = {
    source,
    published,
    computed: createComputedAnswers(),
    pinned: createPinnedVersions(
      source,
      store,
      privateStore,
      error => faults.push(error),
      changes.clock?.elapsed ?? (() => 0),
    ),
    files: createStoredFiles(store, source.history),
    settings: SETTINGS,
    clock: { now: () => NOW_MS, elapsed: () => 0 },
    isDraining: () => false,
    clientOf: () => 'a client',
    newRequestId: () => 'a-request',
    onAnswered: answered => answers.push(answered),
    onError: error => errors.push(error),
    ...changes,
  }
  return { app: createHistoryApp(parts), parts, source, damages, errors, faults, answers }
}

/** The same on the stores that two URLs name. */
export const openHistoryApp = async ({ url, privateUrl }: Stores, changes: Partial<HistoryParts> = {}) =>
  createTestApp(await openStore(url), await openStore(privateUrl), changes)
