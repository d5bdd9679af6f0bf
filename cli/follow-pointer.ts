import { openStore } from '#storage/open-store.ts'
import { dataFolder } from './data-folder.ts'
import { parseEnvironment } from './environment.ts'
import { type PurgeOutcome, purgeCaches } from './purge-caches.ts'
import type { StoreUrls } from './store-option.ts'
import type { Surroundings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

/** What caches need after the pointer moved. Null where the environment names none. */
export async function purgeAfter(urls: StoreUrls, surroundings: Surroundings): Promise<PurgeOutcome | null> {
  const { env, root, pause } = surroundings
  const { cdn } = parseEnvironment(env, dataFolder(root, env))
  if (cdn === null) return null
  const store = await openStore(urls.storeUrl, urls.s3)
  const privateStore = await openStore(urls.privateStoreUrl, urls.s3)
  return purgeCaches({ store, privateStore, cdn, env, pause })
}

/**
 * The same at the end of a command that moved the pointer. The version is published by then, whatever becomes of this:
 * so nothing here fails the command, and what stays due is told with the remedy.
 */
export async function followPointer(
  urls: StoreUrls,
  surroundings: Surroundings,
  { note }: Terminal,
): Promise<void> {
  try {
    const outcome = await purgeAfter(urls, surroundings)
    if (outcome?.kind === 'purged') note(describePurge(outcome))
    if (outcome?.kind === 'late') note(`warning: ${describePurge(outcome)}`)
  } catch (error) {
    note(
      `warning: ${describePurge({ kind: 'late', why: error instanceof Error ? error.message : String(error) })}`,
    )
  }
}

/** A sentence for people. */
export function describePurge(outcome: PurgeOutcome): string {
  switch (outcome.kind) {
    case 'nothing due':
      return 'nothing to purge: caches follow the pointer'
    case 'purged':
      return `purged: caches give ${outcome.version}`
    case 'late':
      return `caches may give an older version: ${outcome.why}; \`highwater purge\` tries again`
  }
}
