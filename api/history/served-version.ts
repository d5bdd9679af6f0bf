import { manifestKey, privateKey } from '#core/contract/artifacts.ts'
import { type Artifact, type CurrentVersion, type Manifest, manifest } from '#core/contract/manifest.ts'
import { READINESS_CHECKS, type ReadinessChecks } from '#core/contract/payloads/book.ts'
import { canonicalPath, canonicalPoints, ROUTES } from '#core/contract/routes.ts'
import { decodeSnapshot } from '#core/snapshot/decode-snapshot.ts'
import type { Snapshot, StrategyData } from '#core/snapshot/snapshot.ts'
import { SNAPSHOT_FILES, type SnapshotBytes } from '#core/snapshot/snapshot-files.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'

/** A version in memory, verified: what every request is answered from. */
export type ServedVersion = {
  readonly version: string
  readonly snapshot: Snapshot
  /** The published artifacts by canonical path and query. */
  readonly artifacts: ReadonlyMap<string, Artifact>
  readonly checks: ReadinessChecks
  /** Whether it alters history that the version before had published. */
  readonly historyRestated: boolean
}

/** A version that must not be served, and which checks failed. */
export class UnfitVersionError extends Error {
  readonly checks: ReadinessChecks

  constructor(version: string, why: string, checks: ReadinessChecks, cause?: unknown) {
    super(`the version ${version} is not fit to be served: ${why}`, { cause })
    this.name = 'UnfitVersionError'
    this.checks = checks
  }
}

/** A version without a manifest: it was never whole, or it was removed. */
export class GoneVersionError extends UnfitVersionError {
  constructor(version: string) {
    super(version, 'its manifest is missing', NO_CHECKS)
    this.name = 'GoneVersionError'
  }
}

export const NO_CHECKS: ReadinessChecks = {
  manifest_loaded: false,
  count_matches: false,
  per_strategy_loaded: false,
  correlation_dims: false,
}

/** Loads a version and verifies every byte that answers are computed from. Throws UnfitVersionError or StoreError. */
export async function loadVersion(
  store: ObjectStore,
  privateStore: ObjectStore,
  current: CurrentVersion,
): Promise<ServedVersion> {
  const published = await loadManifest(store, current)
  return toServed(published, await loadSnapshot(privateStore, published), READINESS_CHECKS)
}

/**
 * The same for an older version whose manifest is loaded. Its files are those of the route table of its time: what has
 * no file is computed, and no reason to refuse it.
 */
export const loadPinned = async (privateStore: ObjectStore, published: Manifest): Promise<ServedVersion> =>
  toServed(published, await loadSnapshot(privateStore, published), AGELESS_CHECKS)

const AGELESS_CHECKS = READINESS_CHECKS.filter(name => name !== 'per_strategy_loaded')

function toServed(
  published: Manifest,
  snapshot: Snapshot,
  needed: readonly (keyof ReadinessChecks)[],
): ServedVersion {
  const { version, history_restated } = published
  const checks = checkVersion(published, snapshot)
  const failed = needed.filter(name => !checks[name])
  if (failed.length > 0) throw new UnfitVersionError(version, `${failed.join(', ')} failed`, checks)
  const artifacts = new Map(published.artifacts.map(artifact => [artifact.url, artifact]))
  return { version, snapshot, artifacts, checks, historyRestated: history_restated }
}

const loadSnapshot = async (privateStore: ObjectStore, published: Manifest): Promise<Snapshot> =>
  readSnapshot(published, await loadSnapshotBytes(privateStore, published))

/** The manifest that the pointer log names by its digest. Throws UnfitVersionError or StoreError. */
export async function loadManifest(store: ObjectStore, current: CurrentVersion): Promise<Manifest> {
  const unfit = (why: string) => new UnfitVersionError(current.version, why, NO_CHECKS)
  const bytes = await store.read(manifestKey(current.version))
  if (bytes === null) throw new GoneVersionError(current.version)
  if (sha256(bytes) !== current.manifest_sha256) throw unfit('its manifest is not the one that was published')
  const parsed = manifest.safeParse(jsonOrNull(bytes))
  if (!parsed.success) throw unfit('its manifest has another form: update the program')
  if (parsed.data.version !== current.version) throw unfit(`its manifest is that of ${parsed.data.version}`)
  return parsed.data
}

/** Null, like every other JSON that is no manifest, where the bytes are no JSON at all. */
function jsonOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

async function loadSnapshotBytes(privateStore: ObjectStore, published: Manifest): Promise<SnapshotBytes> {
  const load = async ([file, name]: [string, string]) => {
    const bytes = await privateStore.read(privateKey(published.version, name))
    const why =
      bytes === null
        ? `${name} is missing in ${privateStore.url}`
        : `${name} is not the file that was published`
    if (bytes === null || sha256(bytes) !== published.snapshot[name]) {
      throw new UnfitVersionError(published.version, why, { ...NO_CHECKS, manifest_loaded: true })
    }
    return [file, bytes] as const
  }
  const files = await Promise.all(Object.entries(SNAPSHOT_FILES).map(load))
  return Object.fromEntries(files) as SnapshotBytes // one entry a file
}

/** The files are those that were published, and still this program may be of another age than they are. */
function readSnapshot({ version }: Manifest, bytes: SnapshotBytes): Snapshot {
  try {
    return decodeSnapshot(bytes)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UnfitVersionError(version, why, { ...NO_CHECKS, manifest_loaded: true }, cause)
  }
}

/** The four readiness checks. */
export function checkVersion(published: Manifest, snapshot: Snapshot): ReadinessChecks {
  const size = snapshot.strategies.length
  const { daily, weekly } = snapshot.correlation
  const artifacts = new Set(published.artifacts.map(({ url }) => url))
  return {
    manifest_loaded: published.version === snapshot.dataset.version,
    count_matches: published.strategies.length === size,
    per_strategy_loaded: snapshot.strategies.every(
      (strategy, i) =>
        strategy.id === published.strategies[i] && isWhole(strategy) && isPublished(strategy.id, artifacts),
    ),
    correlation_dims: [daily, weekly].every(
      matrix =>
        matrix.size === size && matrix.rho.length === size * size && matrix.overlap.length === size * size,
    ),
  }
}

const isWhole = ({ daily, weekly }: StrategyData): boolean =>
  daily.values.length > 0 && daily.values.every(Number.isFinite) && weekly.values.every(Number.isFinite)

const isPublished = (id: string, artifacts: ReadonlySet<string>): boolean =>
  ROUTES.filter(route => route.kind === 'strategy').every(route =>
    canonicalPoints(route, [id]).every(params => artifacts.has(canonicalPath(route.id, params))),
  )
