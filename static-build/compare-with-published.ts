import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { Changes } from '#core/contract/payloads/changes.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { isExplained } from '#core/dataset/filled-gaps.ts'
import { renderDeploys } from '#core/dataset/resources/program/deploys.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { ProgramData } from '#core/program/program.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import type { LoggedEntry } from '#storage/pointer-log.ts'
import { firstPublications } from '#storage/publications.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { readProgram, type StoredProgram } from '#storage/published-program.ts'
import { UnreadableError } from '#storage/unreadable-error.ts'
import { logBefore, readPublishedSnapshot, rolledBackIn } from './previous-snapshot.ts'
import { RestatementError } from './restatement.ts'

/** A snapshot and a program to publish, and the stores with the versions to compare them with. */
export type Comparison = {
  readonly snapshot: Snapshot
  /** Null if the book has none. */
  readonly program: ProgramData | null
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  /** Whether the version may alter published history, or follow what cannot be read any more. */
  readonly allowRestatement: boolean
}

/**
 * What the version appends and alters: of the served one, and of what was published after that one and then
 * rolled back, because users saw it. A version that a later publication replaced is not compared: the later
 * one was compared with it. Throws a RestatementError if a value is altered, no filled gap explains it, and that was not allowed, and an
 * UnreadableError if that is not known.
 */
export async function compareWithPublished(
  order: Comparison,
  log: readonly LoggedEntry[],
): Promise<Compared> {
  const { version } = order.snapshot.dataset
  const earlier = logBefore(log, version)
  const served = earlier.at(-1)
  if (served === undefined) return { changes: compareSnapshots(null, order.snapshot), before: null }
  const { changes, before } = await changesAgainst(order, served.entry, false)
  const rolledBack = await newestStillThere(order.store, rolledBackIn(earlier))
  if (rolledBack === null) return { changes, before }
  const altered = await changesAgainst(order, rolledBack.entry, true)
  return { changes: withRolledBack(changes, altered.changes), before }
}

/** Changes, and the served snapshot that they are against; null without one, and if it cannot be read any more. */
type Compared = { readonly changes: Changes; readonly before: Snapshot | null }

async function changesAgainst(
  order: Comparison,
  published: CurrentVersion,
  isRolledBack: boolean,
): Promise<Compared> {
  const { snapshot, store, privateStore, allowRestatement } = order
  const reading = readPublishedSnapshot(store, privateStore, published)
  const why =
    `the change from ${published.version} cannot be computed; if it is lost for good, publish with ` +
    '--allow-restatement, which every user sees'
  const old = await orUnreadable(reading, order, why)
  if (old === null) return { changes: unknownChanges(snapshot, published), before: null }
  const changes = compareSnapshots(old, snapshot)
  if (changes.history_restated && !allowRestatement && !isExplained(changes))
    throw new RestatementError(changes, isRolledBack)
  return { changes, before: old }
}

/** What was read; null if it is unreadable and that is allowed. Otherwise throws an error with `why`. */
async function orUnreadable<T>(reading: Promise<T>, { allowRestatement }: Comparison, why: string) {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    if (allowRestatement) return null
    throw new UnreadableError(`${error.message}. Nothing was published, because ${why}`)
  }
}

/** The alterations are unknown, so the history counts as restated, and no other claim is made. */
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
  const isNamed = rolledBack.not_compared === undefined && previous !== null
  return {
    ...changes,
    history_restated: true,
    ...(isNamed ? { rolled_back: { version: previous, removed, strategies } } : {}),
    ...(unread.length > 0 ? { not_compared: unread } : {}),
  }
}

/** A build that would change a published deployment: a user may have invested by it. */
export class ProgramChangedError extends Error {
  override readonly name = 'ProgramChangedError'
}

/**
 * Compares the deployments of a program with those of the newest version that published one of the same
 * alias, rolled back or not: each of them must be there again, to the byte. That version was compared with
 * those before it. Throws a ProgramChangedError that names the first difference, and an UnreadableError if
 * the comparison is impossible.
 */
export async function compareProgram(order: Comparison, log: readonly LoggedEntry[]): Promise<void> {
  const { program, snapshot } = order
  if (program === null) return
  const published = await newestOf(order, program.plan.alias, logBefore(log, snapshot.dataset.version))
  if (published !== null) assertAppended(deploysIn(published), renderDeploys(program), published)
}

/** The newest program of an alias. What `prune` removed cannot be compared with; its manifest went first. */
async function newestOf(
  order: Comparison,
  alias: string,
  log: readonly LoggedEntry[],
): Promise<StoredProgram | null> {
  for (const { entry } of firstPublications(log).toReversed()) {
    if ((await findManifest(order.store, entry)).fault === 'missing') continue
    const why =
      `it is not known whether the program changes what ${entry.version} published; if it is lost for good, publish ` +
      'with --allow-restatement, which compares with the version before it'
    const found = await orUnreadable(readProgram(order.store, order.privateStore, entry), order, why)
    if (found?.alias === alias) return found
  }
  return null
}

/** Its checksum was checked, so it is what a build wrote: a list of records. */
function deploysIn({ version, documents }: StoredProgram): readonly unknown[] {
  const deploys = parseJson(documents.deploys)
  if (Array.isArray(deploys)) return deploys
  throw new UnreadableError(`the deployments of ${version} have another form: update the program`)
}

function assertAppended(
  published: readonly unknown[],
  deploys: readonly object[],
  { version, alias }: StoredProgram,
): void {
  const seq = published.findIndex((deploy, i) => JSON.stringify(deploy) !== JSON.stringify(deploys[i])) + 1
  if (seq === 0) return
  const now = deploys[seq - 1]
  throw new ProgramChangedError(
    `deployment ${seq} of ${alias} would change, and what was bought is bought:\n` +
      `  ${version} published ${JSON.stringify(published[seq - 1])}\n` +
      `  this build has ${now === undefined ? 'no such deployment' : JSON.stringify(now)}\n` +
      'nothing was published. Restore the bars and the program.yaml that made it; or give another program another alias',
  )
}
