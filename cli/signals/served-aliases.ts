import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { findManifest } from '#storage/published-manifest.ts'

/** How often the served version is looked at: a strategy that is published can be fired this long after. */
const LOOK_MS = 5_000

/** The strategies of the served dataset: what an alias may be. */
export type ServedAliases = {
  /** In catalogue order; none as long as nothing is published. */
  readonly list: () => readonly string[]
  readonly stop: () => void
}

/** Looks at once, and again and again. `onError` is told where the store cannot be read; the list then stays as it was. */
export async function followAliases(
  store: ObjectStore,
  onError: (error: unknown) => void,
): Promise<ServedAliases> {
  let aliases: readonly string[] = []
  let seen = ''
  const look = async (): Promise<void> => {
    const head = await readHead(store)
    if (head === null || head.sha256 === seen) return
    const found = await findManifest(store, head.entry)
    if (found.fault !== null) throw new Error(`the manifest of ${head.entry.version} ${found.what}`)
    aliases = found.manifest.strategies
    seen = head.sha256
  }
  await look().catch(onError)
  const timer = setInterval(() => void look().catch(onError), LOOK_MS)
  return { list: () => aliases, stop: () => clearInterval(timer) }
}
