import { CURRENT_KEY, manifestKey } from '#core/contract/artifacts.ts'
import {
  type Artifact,
  type CurrentVersion,
  MANIFEST_VERSION,
  type Manifest,
  parseCurrent,
} from '#core/contract/manifest.ts'
import type { Progress } from '#core/progress.ts'
import { RENDER_REVISION } from '#core/render/revision.ts'
import { encodeSnapshot } from '#core/snapshot/encode-snapshot.ts'
import { SNAPSHOT_FORMAT, type Snapshot } from '#core/snapshot/snapshot.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectHeaders, ObjectStore } from '#storage/object-store.ts'
import { writeOnce } from '#storage/write-once.ts'
import { publishedPoints } from './published-points.ts'
import { type RenderOrder, renderVersion } from './render-version.ts'
import { saveSnapshot } from './save-snapshot.ts'

/** A snapshot that passed its checks, and where and how to publish it. */
export type PublishOrder = {
  readonly snapshot: Snapshot
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly builtWith: Manifest['built_with']
  readonly threads: number
  readonly progress: Progress
  /**
   * Asked right before the pointer moves: rejects where another build may have begun since. Where nobody else can
   * publish there is nobody to ask.
   */
  readonly assertAlone?: () => Promise<void>
  /** Renders and writes the artifacts: on threads, unless another way is given. */
  readonly render?: (order: RenderOrder) => Promise<Artifact[]>
}

export type Published = { readonly manifest: Manifest; readonly manifestSha256: string }

/**
 * Publishes a version: its snapshot, its artifacts, its manifest, and last the pointer to it. A crash anywhere leaves
 * the version that was served before, and running the same command again finishes the work.
 */
export async function publishVersion(order: PublishOrder): Promise<Published> {
  const { snapshot, store, privateStore, render = renderVersion } = order
  const { version } = snapshot.dataset
  const bytes = encodeSnapshot(snapshot)
  const digests = await saveSnapshot(privateStore, version, bytes)
  const artifacts = await render({
    store,
    version,
    points: publishedPoints(snapshot),
    snapshot: bytes,
    threads: order.threads,
    progress: order.progress,
  })
  const manifest = toManifest(order, digests, artifacts)
  const manifestSha256 = await writeManifest(store, manifest)
  await order.assertAlone?.()
  await pointTo(store, { version, manifest_sha256: manifestSha256 })
  return { manifest, manifestSha256 }
}

/** The version that is served now, or null where nothing was published yet. */
export async function currentVersionOf(store: ObjectStore): Promise<CurrentVersion | null> {
  const bytes = await store.read(CURRENT_KEY)
  return bytes === null ? null : parseCurrent(bytes)
}

const toManifest = (
  { snapshot, builtWith }: PublishOrder,
  digests: Readonly<Record<string, string>>,
  artifacts: Artifact[],
): Manifest => ({
  manifest_version: MANIFEST_VERSION,
  version: snapshot.dataset.version,
  render_revision: RENDER_REVISION,
  snapshot_format: SNAPSHOT_FORMAT,
  strategies: snapshot.strategies.map(({ id }) => id),
  window: snapshot.dataset.window,
  built_with: builtWith,
  snapshot: { ...digests },
  artifacts,
})

const JSON_FOR_EVER: ObjectHeaders = {
  content_type: 'application/json; charset=utf-8',
  cache_control: 'max-age=31536000, immutable',
}

async function writeManifest(store: ObjectStore, manifest: Manifest): Promise<string> {
  const bytes = toJsonBytes(manifest)
  await writeOnce(store, manifestKey(manifest.version), bytes, JSON_FOR_EVER)
  return sha256(bytes)
}

/** The one object that is ever overwritten, and the last that is written. */
const pointTo = (store: ObjectStore, current: CurrentVersion): Promise<void> =>
  store.replace(CURRENT_KEY, toJsonBytes(current), {
    content_type: 'application/json; charset=utf-8',
    cache_control: 'max-age=10, stale-if-error=3600',
  })

const toJsonBytes = (value: object): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`)
