import { z } from 'zod'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { CurrentVersion } from '#core/contract/manifest.ts'
import { type Changes, changes as changesSchema, type Declaration } from '#core/contract/payloads/changes.ts'
import { removedStrategies } from '#core/contract/payloads/strategy.ts'
import { compareSnapshots } from '#core/dataset/compare-snapshots.ts'
import { toAncestor } from '#core/dataset/lineage.ts'
import type { Compared, PublishedRecord } from '#core/dataset/publication.ts'
import { renderDeploys } from '#core/dataset/resources/program/records.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { ProgramData } from '#core/program/program.ts'
import { sha256 } from '#storage/digest.ts'
import { parseJson } from '#storage/json-bytes.ts'
import type { ObjectStore, Stores } from '#storage/object-store.ts'
import { firstPublications, type LoggedEntry } from '#storage/pointer-log.ts'
import {
  findManifest,
  readManifest,
  readProgram,
  readSnapshotFiles,
  type StoredProgram,
  UnreadableError,
} from '#storage/published-files.ts'
import { type Declarations, declarationsFor } from './declarations.ts'

/** A snapshot and a program to publish, and the stores with the versions to compare them with. */
export type Comparison = Stores & {
  readonly snapshot: Snapshot
  /** Null if the book has none. */
  readonly program: ProgramData | null
  readonly declared: Declarations
}

/**
 * What the version appends and alters: of the served one, and of what was published after that one and then
 * rolled back, because users saw it. A version that a later publication replaced is not compared: the later
 * one was compared with it. Throws if a strategy is altered or gone, no filled gap explains it, and that was not declared,
 * and an UnreadableError if that is not known.
 */
export async function compareWithPublished(order: Comparison, log: readonly LoggedEntry[]) {
  const { version } = order.snapshot.dataset
  const earlier = logBefore(log, version)
  const served = earlier.at(-1)
  if (served === undefined)
    return { changes: compareSnapshots(null, order.snapshot), before: null, record: null, gone: [] }
  const compared = await changesAgainst(order, earlier, served.entry)
  let { changes, gone } = compared
  for (const { entry } of rolledBackIn(earlier)) {
    const altered = await changesAgainst(order, earlier, entry)
    const known = new Set(gone.map(({ id }) => id))
    gone = [...gone, ...altered.gone.filter(({ id }) => !known.has(id))]
    changes = withRolledBack(changes, altered.changes)
    if (altered.before !== null) break // it was compared with those before it
  }
  return { ...compared, changes, gone }
}

async function changesAgainst(order: Comparison, log: readonly LoggedEntry[], published: CurrentVersion) {
  const { snapshot, declared } = order
  const reading = readPublishedSnapshot(order, published)
  const why = `the change from ${published.version} cannot be computed`
  const before = await orUnreadable(reading, order, published.version, why)
  const record = before ?? (await readNewest(order, firstPublications(log)))
  const now = new Set(snapshot.strategies.map(({ id }) => id))
  const gone = record?.strategies.filter(({ id }) => !now.has(id)) ?? []
  const changes =
    before === null ? unknownChanges(snapshot, published, gone) : compareSnapshots(before, snapshot)
  const isRolledBack = published.version !== log.at(-1)?.entry.version
  const needed = declarationsFor(changes, declared, isRolledBack)
  return { changes: withDeclared(changes, needed), before, record, gone }
}

/** What was read; null if it is unreadable and declared to be lost. Otherwise throws an error with `why`. */
async function orUnreadable<T>(reading: Promise<T>, { declared }: Comparison, version: string, why: string) {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    if (declared.after_lost.has(version)) return null
    throw new UnreadableError(
      `${error.message}. Nothing was published, because ${why}; if it is lost for good, publish with ` +
        `--after-lost ${version} --reason TEXT, which every user sees`,
    )
  }
}

/** The alterations are unknown, so the history counts as restated, and no other claim is made. */
const unknownChanges = ({ dataset }: Snapshot, { version }: CurrentVersion, gone: Compared['gone']) => ({
  version: dataset.version,
  previous: version,
  history_restated: true,
  added: [],
  removed: gone.map(({ id }) => id),
  strategies: [],
  not_compared: [version],
})

/** The changes with what was declared to publish them. */
export const withDeclared = (changes: Changes, more: readonly Declaration[]): Changes => {
  const all = [...(changes.declared ?? []), ...more]
  const unique = new Map(all.map(each => [`${each.what} ${each.of}`, each]))
  return all.length === 0 ? changes : { ...changes, declared: [...unique.values()] }
}

/** The record of the newest snapshot that can be read, continued by the public files of later versions. */
async function readNewest(stores: Stores, all: readonly LoggedEntry[]): Promise<PublishedRecord | null> {
  const last = all.at(-1)
  if (last === undefined) return null
  const read = await readPublishedSnapshot(stores, last.entry).catch((error: unknown) => {
    if (error instanceof UnreadableError) return null
    throw error
  })
  return read ?? continued(await readNewest(stores, all.slice(0, -1)), stores.store, last.entry)
}

const strategy = z.object({ id: z.string(), name: z.string() })
const shownData = z.object({ strategies: z.array(strategy), removed: removedStrategies().default([]) })

/** The record with what the public files of the next version say; without it if they are not those that were published. */
async function continued(record: PublishedRecord | null, store: ObjectStore, published: CurrentVersion) {
  const found = await findManifest(store, published)
  if (found.fault !== null) return record
  const { version, entered, artifacts, documents } = found.manifest
  const inFolder = (path: string) => artifacts.find(({ key }) => key === `${versionFolder(version)}/${path}`)
  const read = async <T>(schema: z.ZodType<T>, name: string, digest: string | undefined) => {
    const bytes = await store.read(`${versionFolder(version)}/${name}`)
    return bytes && sha256(bytes) === digest ? schema.safeParse(parseJson(bytes)).data : null
  }
  const shown = await read(z.object({ data: shownData }), 'dataset.json', inFolder('dataset.json')?.sha256)
  const changes = await read(changesSchema, 'changes.json', documents['changes.json'])
  if (!shown || !changes) return record
  const strategies = shown.data.strategies.map(({ id, name }) => {
    const length = inFolder(`strategies/${id}/returns.daily.json`)?.rows ?? 0
    return { id, name, published_since: null, daily: { values: { length } } }
  })
  const lineage = [...(record?.dataset.lineage ?? []), toAncestor(changes, entered)]
  return { strategies, dataset: { lineage, removed: shown.data.removed } }
}

/** The changes since the served version, and beside them what a version altered that was rolled back. */
function withRolledBack(changes: Changes, rolledBack: Changes): Changes {
  if (!rolledBack.history_restated) return withDeclared(changes, rolledBack.declared ?? [])
  const { previous, removed, strategies } = rolledBack
  const unread = [...(changes.not_compared ?? []), ...(rolledBack.not_compared ?? [])]
  const isNamed = rolledBack.not_compared === undefined && previous !== null
  return {
    ...withDeclared(changes, rolledBack.declared ?? []),
    history_restated: true,
    ...(isNamed ? { rolled_back: { version: previous, removed, strategies } } : {}),
    ...(unread.length > 0 ? { not_compared: unread } : {}),
  }
}

/**
 * Compares the deployments of a program with those of the newest version that published one of the same
 * alias, rolled back or not: each of them must be there again, to the byte. That version was compared with
 * those before it. Returns the versions that are declared to be lost. Throws an error that names the first difference, because
 * a user may have invested by it, and an UnreadableError if the comparison is impossible.
 */
export async function compareProgram(order: Comparison, log: readonly LoggedEntry[]): Promise<Declaration[]> {
  const { program, snapshot, declared } = order
  if (program === null) return []
  const { found, lost } = await newestOf(order, program.plan.alias, logBefore(log, snapshot.dataset.version))
  if (found !== null) assertAppended(found, renderDeploys(program))
  return lost.map(of => ({ what: 'after_lost', of, reason: declared.reason }))
}

/** The newest program of an alias. What `prune` removed cannot be compared with; its manifest went first. */
async function newestOf(order: Comparison, alias: string, log: readonly LoggedEntry[]) {
  const lost: string[] = []
  for (const { entry } of firstPublications(log).toReversed()) {
    if ((await findManifest(order.store, entry)).fault === 'missing') continue
    const why = `it is not known whether the program changes what ${entry.version} published`
    const reading = readManifest(order.store, entry)
      .then(each => readProgram(order.privateStore, each))
      .then(program => program ?? undefined) // a version without one is not lost
    const found = await orUnreadable(reading, order, entry.version, why)
    if (found === null) lost.push(entry.version)
    if (found?.alias === alias) return { found, lost }
  }
  return { found: null, lost }
}

function assertAppended({ version, alias, documents }: StoredProgram, deploys: readonly object[]): void {
  const published = parseJson(documents.deploys) // its checksum was checked, so it is what a build wrote
  if (!Array.isArray(published))
    throw new UnreadableError(`the deployments of ${version} have another form: update the program`)
  const seq = published.findIndex((deploy, i) => JSON.stringify(deploy) !== JSON.stringify(deploys[i])) + 1
  if (seq === 0) return
  const now = deploys[seq - 1]
  throw new Error(
    `deployment ${seq} of ${alias} would change, and what was bought is bought:\n` +
      `  ${version} published ${JSON.stringify(published[seq - 1])}\n` +
      `  this build has ${now === undefined ? 'no such deployment' : JSON.stringify(now)}\n` +
      'nothing was published. Restore the bars and the program.yaml that made it; or give another program another alias',
  )
}

/** The log before a version was published: a build that is run again finds the same one, and writes the same documents. */
export function logBefore(log: readonly LoggedEntry[], version: string): readonly LoggedEntry[] {
  const own = log.findIndex(({ entry }) => entry.version === version)
  return own === -1 ? log : log.slice(0, own)
}

/** Versions first published after the served one, newest first. The newest readable one was compared with all older ones. */
function rolledBackIn(log: readonly LoggedEntry[]): readonly LoggedEntry[] {
  const served = log.at(-1)?.entry.version
  const inOrder = firstPublications(log)
  return inOrder.slice(inOrder.findIndex(({ entry }) => entry.version === served) + 1).reverse()
}

/**
 * The snapshot of a published version, checked against the digests of its manifest, without its correlations: they follow
 * from its returns, and those of a large book are gigabytes. Throws an UnreadableError if a file is not there, not the one
 * that was published, or of another format.
 */
export async function readPublishedSnapshot({ store, privateStore }: Stores, current: CurrentVersion) {
  const manifest = await readManifest(store, current)
  const { version, snapshot_format: format } = manifest
  if (format !== SNAPSHOT_FORMAT)
    throw new UnreadableError(
      `the snapshot of ${version} in ${privateStore.url} has format ${format}, and this program reads format ` +
        `${SNAPSHOT_FORMAT}: use the program that made it`,
    )
  const files = await readSnapshotFiles(privateStore, manifest, 'correlation')
  try {
    return decodeSnapshot(files)
  } catch (cause) {
    throw new UnreadableError(`the snapshot of ${version} in ${privateStore.url} cannot be read`, { cause })
  }
}
