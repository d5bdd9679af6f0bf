// What is published and how the nights went, for the operator's page.
import type { Publication } from '#api/operator/parts.ts'
import { parseIsoInstant } from '#core/calendar.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { publicationsOf } from '#storage/publications.ts'
import { readManifest } from '#storage/published-manifest.ts'
import { readFailing, readNight } from '../read-night.ts'

/** Versions that the page lists. */
const MOST_LISTED = 7

/** The log and the manifest, which are large, are read again only if the log has grown. */
export function createPublicationReader(store: ObjectStore, privateStore: ObjectStore) {
  let known: { readonly sha256: string; readonly facts: Awaited<ReturnType<typeof readFacts>> } | null = null
  return async (): Promise<Publication | null> => {
    const head = await readHead(store)
    if (head === null) return null
    if (known?.sha256 !== head.sha256) known = { sha256: head.sha256, facts: await readFacts(store, head) }
    const { served, versions } = known.facts
    const [failing, ...nights] = await Promise.all([
      readFailing(privateStore),
      ...versions.map(({ version }) => readNight(privateStore, version)),
    ])
    return {
      ...served,
      versions: versions.map((version, i) => ({ ...version, night: toNight(nights[i] ?? null) })),
      failing: failing && { sinceMs: toMs(failing.since), cause: failing.cause },
    }
  }
}

async function readFacts(store: ObjectStore, { entry }: LoggedEntry) {
  const [manifest, log] = await Promise.all([readManifest(store, entry), readLog(store)])
  const { version, window, strategies, built_with } = manifest
  const served = { version, ...window, strategies: strategies.length, builtWith: built_with.highwater }
  const versions = publicationsOf(log)
    .slice(0, MOST_LISTED)
    .map(({ version, published, is_served, history_restated }) => ({
      ...{ version, publishedMs: toMs(published), isServed: is_served, isRestated: history_restated },
    }))
  return { served, versions }
}

const toNight = (night: Awaited<ReturnType<typeof readNight>>) =>
  night && {
    isDone: night.outcome === 'done',
    startedMs: toMs(night.started_utc),
    endedMs: toMs(night.ended_utc),
    error: night.error,
    missing: night.summary?.missing_bars ?? [],
  }

const toMs = (instant: string): number => parseIsoInstant(instant) ?? Number.NaN
