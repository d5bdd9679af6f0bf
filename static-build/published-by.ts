// Which authority time-stamped the entry that first published each history.
import type { Manifest } from '#core/contract/manifest.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { Snapshot, TimeStamp } from '#core/dataset/snapshot.ts'
import { anchorKey } from '#core/contract/pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { readTimeStamp } from '#storage/time-stamps.ts'

/** By the instant since when a history is published. */
export type TimeStamps = Manifest['time_stamps']

/** The time stamps that a store has for the histories of a snapshot; none for what the snapshot itself publishes. */
export async function readTimeStamps(
  store: ObjectStore,
  { dataset, strategies }: Snapshot,
  log: readonly LoggedEntry[],
): Promise<TimeStamps> {
  const found: Record<string, TimeStamp> = {}
  const sinces = new Set(strategies.map(({ published_since }) => published_since))
  for (const ancestor of dataset.lineage.slice(0, -1)) {
    const since = effectiveInstant(ancestor, null)
    const digest = sinces.has(since) && log.find(({ entry }) => entry.version === ancestor.version)?.sha256
    const proof = digest ? await store.read(anchorKey(digest)) : null
    const stamp = digest && proof !== null ? readTimeStamp(proof, digest) : null
    if (stamp !== null) found[since] = stamp
  }
  return found
}

/** The snapshot whose strategies say who time-stamped them. */
export const withTimeStamps = ({ strategies, ...rest }: Snapshot, stamps: TimeStamps): Snapshot => ({
  ...rest,
  strategies: strategies.map(each => ({ ...each, time_stamp: stamps[each.published_since ?? ''] ?? null })),
})
