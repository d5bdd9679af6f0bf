import { toIsoInstant } from '#core/calendar.ts'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { tolerate } from '#storage/error-code.ts'
import { switchNginx } from '#storage/nginx-files.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import {
  appendEntry,
  type LoggedEntry,
  type NextEntry,
  type Publication,
  publicationsOf,
  readLog,
} from '#storage/pointer-log.ts'
import { readManifest } from '#storage/published-files.ts'
import type { Signer } from '#storage/signature.ts'

/** How long an entry proves what is served: one failed night raises no alarm, two do. `refresh` bridges longer pauses. */
export const ENTRY_LIFETIME_MS = 48 * 3_600_000

const MOST_NAMED = 10

/** The clock and the key that an entry is written with. */
export type Mover = { readonly nowMs: number; readonly signer: Signer | null }

/** Appends an entry for an older version. Deletes nothing. Throws if it was never published, was removed, or is served already. */
export async function rollBack(store: ObjectStore, version: string, mover: Mover): Promise<LoggedEntry> {
  const log = await readLog(store)
  const target = findPublication(store, publicationsOf(log), version)
  await assertThere(store, version)
  const manifest = await readManifest(store, target)
  if (target.is_served) {
    await switchNginx(store, manifest) // the command that made it the served one may have been killed before this
    throw new Error(`${version} is served already: nothing to roll back`)
  }
  return append(store, log.at(-1) ?? null, 'rollback', target, manifest, mover)
}

/** Appends an entry for the served version with a new `expires`: for a night that published nothing. */
export async function refreshPointer(store: ObjectStore, mover: Mover): Promise<LoggedEntry> {
  const head = (await readLog(store)).at(-1)
  if (head === undefined)
    throw new Error(`nothing is published in ${store.url}: publish with \`highwater build\` first`)
  const manifest = await readManifest(store, head.entry) // a damaged version is not confirmed
  return append(store, head, 'refresh', head.entry, manifest, mover)
}

/** Appends an entry for a version, and makes nginx serve it. */
export async function append(
  store: ObjectStore,
  head: LoggedEntry | null,
  action: NextEntry['action'],
  { version, manifest_sha256, history_restated }: Pick<Publication, keyof Publication & keyof NextEntry>,
  manifest: Manifest,
  { nowMs, signer }: Mover,
): Promise<LoggedEntry> {
  const times = { at: toIsoInstant(nowMs), expires: toIsoInstant(nowMs + ENTRY_LIFETIME_MS) }
  const next = { action, version, manifest_sha256, history_restated, ...times }
  const logged = await appendEntry(store, head, next, signer)
  await trySwitch(store, manifest)
  return logged
}

export const trySwitch = (store: ObjectStore, manifest: Manifest): Promise<void> =>
  tolerate(switchNginx(store, manifest), 'the tier or the next command switches nginx')

/** Throws if a version was removed. One that still has files was not, or not completely: its manifest is read next. */
export async function assertThere(store: ObjectStore, version: string): Promise<void> {
  if ((await store.list(`${versionFolder(version)}/`)).length > 0) return
  throw new Error(
    `${version} was removed by \`highwater prune\`: ${store.url} has none of its files; choose one that ` +
      '`highwater versions` does not list as removed',
  )
}

/** The publication of a version. Throws a sentence that names the newest ones. */
export function findPublication(store: ObjectStore, publications: readonly Publication[], version: string) {
  const found = publications.find(each => each.version === version)
  if (found !== undefined) return found
  const newest = publications.slice(0, MOST_NAMED).map(each => each.version)
  throw new Error(
    `${version} was never published in ${store.url}; ` +
      (newest.length === 0 ? 'nothing was' : `the newest are ${newest.join(', ')}`),
  )
}
