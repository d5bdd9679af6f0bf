import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { UnreadableError } from '#storage/unreadable-error.ts'
import { logBefore, readPublishedSnapshot, rolledBackIn } from './previous-snapshot.ts'
import { RestatementError } from './restatement.ts'

/** A snapshot that is to be published, and what it is held to. */
export type Comparison = {
  readonly snapshot: Snapshot
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  /** Whether the version may alter what was published. */
  readonly allowRestatement: boolean
}

/**
 * What the version appends and alters: of the served one, and of what was published after that one and then rolled back,
 * because users saw it. What was replaced by a later publication is no measure any more: that one was held to it.
 * Throws a RestatementError where something is altered and nobody allowed it, and an UnreadableError where nobody can
 * say whether.
 */
export async function compareWithPublished(order: Comparison, log: readonly LoggedEntry[]): Promise<Changes> {
  const { version } = order.snapshot.dataset
  const earlier = logBefore(log, version)
  const served = earlier.at(-1)
  if (served === undefined) return compareSnapshots(null, order.snapshot)
  const changes = await changesAgainst(order, served.entry, false)
  const rolledBack = await newestStillThere(order.store, rolledBackIn(earlier))
  if (rolledBack === null) return changes
  return withRolledBack(changes, await changesAgainst(order, rolledBack.entry, true))
}

async function changesAgainst(
  { snapshot, store, privateStore, allowRestatement }: Comparison,
  published: CurrentVersion,
  isRolledBack: boolean,
): Promise<Changes> {
  const old = await readPublishedSnapshot(store, privateStore, published).catch((error: unknown) => {
    if (!(error instanceof UnreadableError)) throw error
    if (!allowRestatement) throw withWayOut(error, published)
    return null
  })
  if (old === null) return unknownChanges(snapshot, published)
  const changes = compareSnapshots(old, snapshot)
  if (changes.history_restated && !allowRestatement) throw new RestatementError(changes, isRolledBack)
  return changes
}

const withWayOut = (error: UnreadableError, { version }: CurrentVersion): UnreadableError =>
  new UnreadableError(
    `${error.message}. Nothing was published, because nobody can say what would be altered of ${version}; where it is ` +
      'lost for good, publish with --allow-restatement, which tells every user so',
  )

/** Nobody can say what is altered, so it counts as altered, and nothing is claimed of the rest. */
const unknownChanges = ({ dataset }: Snapshot, { version }: CurrentVersion): Changes => ({
  version: dataset.version,
  previous: version,
  history_restated: true,
  added: [],
  removed: [],
  strategies: [],
  not_compared: [version],
})

/** What `prune` removed cannot be compared with; its manifest went first. */
async function newestStillThere(
  store: ObjectStore,
  versions: readonly LoggedEntry[],
): Promise<LoggedEntry | null> {
  for (const logged of versions) {
    if ((await findManifest(store, logged.entry)).fault !== 'missing') return logged
  }
  return null
}

/** The changes since the served version, and beside them what a version altered that was rolled back. */
function withRolledBack(changes: Changes, rolledBack: Changes): Changes {
  if (!rolledBack.history_restated) return changes
  const { previous, removed, strategies } = rolledBack
  const unread = [...(changes.not_compared ?? []), ...(rolledBack.not_compared ?? [])]
  const told = rolledBack.not_compared === undefined && previous !== null
  return {
    ...changes,
    history_restated: true,
    ...(told ? { rolled_back: { version: previous, removed, strategies } } : {}),
    ...(unread.length > 0 ? { not_compared: unread } : {}),
  }
}
