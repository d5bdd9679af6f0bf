import { toIsoInstant } from '#core/calendar.ts'
import { documentKey, manifestKey, manifestSignatureKey } from '#core/contract/artifacts.ts'
import { type Artifact, type Effort, MANIFEST_VERSION, type Manifest } from '#core/contract/manifest.ts'
import { type Entered, effectiveInstant, isLongBefore } from '#core/dataset/entered.ts'
import { withPublications } from '#core/dataset/publication.ts'
import { RENDER_REVISION } from '#core/dataset/resources/render-answer.ts'
import { SNAPSHOT_FORMAT } from '#core/dataset/snapshot.ts'
import { encodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import type { SnapshotBytes } from '#core/dataset/snapshot-files.ts'
import type { Progress } from '#core/progress.ts'
import { sha256 } from '#storage/digest.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import {
  IMMUTABLE_BYTES,
  IMMUTABLE_JSON,
  type ObjectStore,
  OTHER_BYTES_REMEDY,
  type Stores,
  writeOnce,
} from '#storage/object-store.ts'
import { deriveHint, firstTimes, type LoggedEntry, readLog } from '#storage/pointer-log.ts'
import type { Signer } from '#storage/signature.ts'
import { readTimeStamps } from '#storage/time-stamps.ts'
import { fileFaults } from './audit/audit.ts'
import { createStoreReader } from './audit/reader.ts'
import {
  type Comparison,
  compareProgram,
  compareWithPublished,
  withDeclared,
} from './compare-with-published.ts'
import { append, trySwitch } from './move-pointer.ts'
import { publishedPoints } from './render-point.ts'
import { type RenderOrder, renderVersion } from './render-version.ts'
import { savePrivate } from './save-private.ts'
import { type Document, digestsOf, versionDocuments } from './version-documents.ts'

/** A snapshot that passed its checks, and where and how to publish it. */
export type PublishOrder = Comparison & {
  readonly builtWith: Omit<Manifest['built_with'], 'effort'>
  readonly effort: Effort
  /** Digests and extents of what was read, for the private record. */
  readonly inputs: object
  readonly threads: number
  readonly progress: Progress
  /** When the first run of this build began, if the name of the version is more than 36 hours older. */
  readonly entered?: string | null
  /** Those that a manifest names which is reproduced; otherwise they are read. */
  readonly timeStamps?: Manifest['time_stamps']
  /** The time of day, epoch milliseconds: it stands in the pointer entry and nowhere else. */
  readonly now: () => number
  /** Null publishes without signatures. */
  readonly signer: Signer | null
  /** Called right before the pointer moves: rejects if another build may have begun. Not needed if no other process can publish. */
  readonly assertAlone?: () => Promise<void>
  /** Renders and writes the artifacts: on threads, unless another way is given. */
  readonly render?: (order: RenderOrder) => Promise<Artifact[]>
}

/**
 * Publishes a version: its snapshot, its artifacts, its manifest, and last the pointer entry that names it. A
 * crash anywhere leaves the version that was served before, and running the same command again finishes the
 * work. Throws before anything public is written if the version would alter what is published without a declaration, and at
 * its end if another entry was written since the log was read that this version was compared with.
 */
export async function publishVersion(order: PublishOrder) {
  const log = await readLog(order.store)
  const written = await writeVersion(order, order, log)
  const { manifest, manifestSha256 } = written
  await order.assertAlone?.()
  await pointTo(order, log, manifest, manifestSha256)
  return written
}

/** Writes a version up to its manifest, and compares it with the stores of the order: others, if a version is only reproduced. */
export async function writeVersion(order: PublishOrder, target: Stores, log: readonly LoggedEntry[]) {
  const { store, privateStore } = target
  const { snapshot, changes, stamps } = await toPublished(order, log)
  const { version, entered } = snapshot.dataset
  const bytes = toShared(encodeSnapshot(snapshot))
  const { digests, commitments } = await savePrivate(privateStore, snapshot.dataset, bytes, order)
  const { effort, threads, progress } = order
  const points = publishedPoints(snapshot)
  const render = order.render ?? renderVersion
  const artifacts = await render({ store, points, snapshot, bytes, effort, threads, progress })
  const strategies = snapshot.strategies.map(({ id }) => id)
  const instruments = snapshot.benchmarks.map(({ instrument }) => instrument)
  const described = { version, entered, strategies, instruments, artifacts }
  const documents = versionDocuments(described, snapshot, changes)
  const manifest: Manifest = {
    manifest_version: MANIFEST_VERSION,
    version,
    entered,
    render_revision: RENDER_REVISION,
    snapshot_format: SNAPSHOT_FORMAT,
    strategies,
    instruments,
    window: snapshot.dataset.window,
    previous: changes.previous,
    history_restated: changes.history_restated,
    documents: digestsOf(documents),
    built_with: { ...order.builtWith, effort },
    ...commitments,
    time_stamps: stamps,
    snapshot: digests,
    artifacts,
  }
  const manifestSha256 = await writeManifest(store, order.signer, log, manifest, documents)
  await assertWhole(store, progress, manifest)
  return { manifest, manifestSha256, changes }
}

/** The snapshot as it is published, with time stamps of its histories, and what it changes. Every answer is a function of it. */
async function toPublished(order: PublishOrder, log: readonly LoggedEntry[]) {
  const { snapshot, entered = null, store } = order
  const compared = await compareWithPublished(order, log)
  const changes = withDeclared(compared.changes, await compareProgram(order, log))
  const dataset = { ...snapshot.dataset, entered, history_restated: changes.history_restated }
  const dated = withPublications({ ...snapshot, dataset }, { ...compared, changes }, firstTimes(log))
  const stamps = order.timeStamps ?? (await readTimeStamps(store, dated, log))
  const strategies = dated.strategies.map(each => ({
    ...each,
    time_stamp: stamps[each.published_since ?? ''] ?? null,
  }))
  return { snapshot: { ...dated, strategies }, changes, stamps }
}

/** The bytes on memory that threads share; the others are free then. */
const toShared = (snapshot: SnapshotBytes): SnapshotBytes => {
  const entries = Object.entries(snapshot).map(([file, bytes]) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    return [file, shared]
  })
  return Object.fromEntries(entries) as SnapshotBytes // the same keys
}

/** The manifest comes last: it means complete. */
async function writeManifest(
  store: ObjectStore,
  signer: Signer | null,
  log: readonly LoggedEntry[],
  manifest: Manifest,
  documents: readonly Document[],
): Promise<string> {
  const { version } = manifest
  const bytes = toJsonBytes(manifest)
  const digest = sha256(bytes)
  // The name of a version that was removed still stands for what users saw.
  if (log.some(({ entry }) => entry.version === version && entry.manifest_sha256 !== digest))
    throw new Error(`${version} was published with other files: ${OTHER_BYTES_REMEDY}`)
  for (const { name, bytes, headers } of documents) {
    await writeOnce(store, documentKey(version, name), bytes, headers)
  }
  if (signer !== null)
    await writeOnce(store, manifestSignatureKey(version), signer.sign(bytes), IMMUTABLE_BYTES)
  await writeOnce(store, manifestKey(version), bytes, IMMUTABLE_JSON)
  return digest
}

/**
 * All files are read back before the version is served. Throws a StoreError at the first that cannot be read:
 * nothing is published from a store that is away.
 */
async function assertWhole(store: ObjectStore, progress: Progress, manifest: Manifest): Promise<void> {
  const reader = createStoreReader(store)
  const { faults } = await fileFaults(reader, manifest, progress, reader.measure)
  if (faults.length === 0) return
  throw new Error(
    `${store.url} does not hold what was written to it: ${faults[0]?.told}, one of ${faults.length}; ` +
      'nothing was published: check the disk or the service, remove the version folder, and build again',
  )
}

/** The moment of publication, after the very head of the comparison. A version that is served already, by a repeat, stays so. */
async function pointTo(
  { store, signer, now }: PublishOrder,
  log: readonly LoggedEntry[],
  manifest: Manifest,
  manifest_sha256: string,
): Promise<unknown> {
  const { version } = manifest
  const head = log.at(-1) ?? null
  if (head?.entry.version === version && head.entry.manifest_sha256 === manifest_sha256) {
    await deriveHint(store, head.entry)
    return trySwitch(store, manifest)
  }
  if (!log.some(({ entry }) => entry.version === version)) assertTimely(manifest, now())
  return append(store, head, 'publish', { ...manifest, manifest_sha256 }, manifest, { nowMs: now(), signer })
}

/** What a version says of its time is true when the pointer moves to it, or it is not published. */
export function assertTimely(version: Entered, nowMs: number): void {
  const began = effectiveInstant(version)
  if (!isLongBefore(began, toIsoInstant(nowMs))) return
  throw new Error(
    `${version.version} says that it is of ${began}, more than 36 hours before the clock of this machine ` +
      `(${toIsoInstant(nowMs)}): nothing was published; build under another --version`,
  )
}
