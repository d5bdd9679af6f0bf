// What is published and how the nights went, for the operator's page.
import { readFailing, readNight } from '#storage/night-report.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, publicationsOf, readHead, readLog } from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-files.ts'

const MOST_LISTED = 7

export type Published = NonNullable<Awaited<ReturnType<ReturnType<typeof createPublishedReader>>>>

/** Reads what is published, null if nothing is. The log and the manifest, which are large, are read again only if the log has grown. */
export function createPublishedReader(store: ObjectStore, privateStore: ObjectStore) {
  let known: { readonly sha256: string; readonly facts: Awaited<ReturnType<typeof readFacts>> } | null = null
  return async () => {
    const head = await readHead(store)
    if (head === null) return null
    if (known?.sha256 !== head.sha256) known = { sha256: head.sha256, facts: await readFacts(store, head) }
    const { served, versions } = known.facts
    const nights = await Promise.all(versions.map(({ version }) => readNight(privateStore, version)))
    return {
      ...served,
      versions: versions.map((each, i) => ({ ...each, night: nights[i] ?? null })),
      failing: await readFailing(privateStore),
    }
  }
}

async function readFacts(store: ObjectStore, { entry }: LoggedEntry) {
  const [manifest, log] = await Promise.all([readManifest(store, entry), readLog(store)])
  const { version, window, strategies, built_with } = manifest
  const served = { version, ...window, strategies: strategies.length, builtWith: built_with.highwater }
  return { served, versions: publicationsOf(log).slice(0, MOST_LISTED) }
}
