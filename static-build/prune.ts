import { DAY_MS, parseIsoInstant, toCompactInstant } from '#core/calendar.ts'
import { manifestKey, manifestSignatureKey, versionFolder } from '#core/contract/artifacts.ts'
import { FLEET_PROGRESS, RUNS } from '#storage/fleet-progress.ts'
import { disclaimerKey } from '#storage/nginx-files.ts'
import type { ObjectStore, Stores } from '#storage/object-store.ts'
import { type Publication, publicationsOf, readLog } from '#storage/pointer-log.ts'

/** Which versions stay. The served one always does. */
type KeepRule = {
  /** Versions that were first published within this many days stay, whatever they are called. */
  readonly keepDays: number
  /** Whether the last version of each month, by its name, stays for ever. */
  readonly keepMonthEnds: boolean
}

const SNAPSHOTS = 'v1/snapshots/'

/** Lists the versions that no rule keeps, newest first, and the folders of builds that were never published. */
export async function planPrune({ store, privateStore }: Stores, rule: KeepRule, nowMs: number) {
  const publications = publicationsOf(await readLog(store))
  const kept = versionsToKeep(publications, rule, nowMs)
  const folders = foldersIn(await store.list(SNAPSHOTS), SNAPSHOTS)
  // What is private goes last, so it may be all that a run that was killed left behind.
  const privateKeys = new Set(await privateStore.list(''))
  const privateFolders = foldersIn(privateKeys, '')
  const published = new Map(publications.map(({ version }) => [toCompactInstant(version), version]))
  const removed = publications.map(({ version }) => version).filter(version => !kept.has(version))
  const isThere = (folder: string): boolean => folders.has(folder) || privateFolders.has(folder)
  // A build writes what is private first, so that is all that one has left which the disk was full for. Whole ones have the
  // record of their build, and those before the first version are not of this log.
  const [first = ''] = [...published.keys()].slice(-1)
  const isBegun = (folder: string): boolean => folder > first && !privateKeys.has(`${folder}/build.json`)
  return {
    versions: removed.filter(version => isThere(toCompactInstant(version))),
    unfinished: [...new Set([...folders, ...privateFolders])]
      .filter(folder => !published.has(folder) && (folders.has(folder) || isBegun(folder)))
      .sort(),
  }
}

/**
 * Removes folders of builds that were never published, which nobody can miss, then versions that no rule keeps, which answer
 * 410 from then on, and all runs of fleets: none is under way under the lock of the store. Of a version the manifest goes first:
 * without one it is removed, whatever files remain. The pointer log does not change, and nothing is written. Resolves with what
 * was removed.
 */
export async function prune(stores: Stores, rule: KeepRule, nowMs: number) {
  const { store, privateStore } = stores
  const plan = await planPrune(stores, rule, nowMs)
  for (const folder of plan.unfinished) {
    await removeAll(privateStore, `${folder}/`) // first: the public files let the next run find the rest
    await removeAll(store, `${SNAPSHOTS}${folder}/`)
  }
  for (const version of plan.versions) await removeVersion(stores, version)
  await removeAll(privateStore, FLEET_PROGRESS)
  await removeAll(privateStore, RUNS) // as unfinished as their versions, or records of runs that are over
  return plan
}

export function versionsToKeep(publications: readonly Publication[], rule: KeepRule, nowMs: number) {
  const oldest = nowMs - rule.keepDays * DAY_MS
  // They come newest first, so the last of each month replaces those before it.
  const byMonth = publications
    .toReversed()
    .map(({ version }) => [version.slice(0, 'YYYY-MM'.length), version] as const)
  const monthEnds = new Set(rule.keepMonthEnds ? new Map(byMonth).values() : [])
  const isKept = ({ version, published, is_served }: Publication): boolean =>
    is_served || monthEnds.has(version) || parseIsoInstant(published)! >= oldest
  return new Set(publications.filter(isKept).map(({ version }) => version))
}

const FOLDER = /^\d{8}T\d{6}Z(?=\/)/

/** The folders of versions below a prefix; what else an operator keeps there is left alone. */
const foldersIn = (keys: Iterable<string>, prefix: string): ReadonlySet<string> =>
  new Set([...keys].flatMap(key => FOLDER.exec(key.slice(prefix.length))?.[0] ?? []))

async function removeVersion({ store, privateStore }: Stores, version: string): Promise<void> {
  await store.remove(manifestKey(version))
  await store.remove(manifestSignatureKey(version))
  await store.remove(disclaimerKey(version))
  await removeAll(store, `${versionFolder(version)}/`)
  await removeAll(privateStore, `${toCompactInstant(version)}/`)
}

async function removeAll(store: ObjectStore, prefix: string): Promise<void> {
  for (const key of await store.list(prefix)) await store.remove(key)
}
