import type { Artifact, CurrentVersion, Manifest } from '#core/contract/manifest.ts'
import { READINESS_CHECKS, type ReadinessChecks } from '#core/contract/readiness-checks.ts'
import type { DatasetRoute } from '#core/dataset/resources/resource.ts'
import { canonicalPath, canonicalPoints, DATASET_ROUTES } from '#core/dataset/resources/routes.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { findManifest, readSnapshotFiles } from '#storage/published-files.ts'

/** A version in memory, verified: what every request is answered from. */
export type ServedVersion = {
  readonly version: string
  readonly snapshot: Snapshot
  /** The published artifacts by canonical path and query. */
  readonly artifacts: ReadonlyMap<string, Artifact>
  /** The same by key. */
  readonly files: ReadonlyMap<string, Artifact>
  readonly checks: ReadinessChecks
}

/** A version that must not be served, and which checks failed. */
export class UnfitVersionError extends Error {
  readonly checks: ReadinessChecks

  constructor(version: string, why: string, checks: ReadinessChecks, cause?: unknown) {
    super(`the version ${version} cannot be served: ${why}`, { cause })
    this.name = 'UnfitVersionError'
    this.checks = checks
  }
}

export const NO_CHECKS = Object.fromEntries(READINESS_CHECKS.map(name => [name, false])) as ReadinessChecks

/** Loads a version and verifies every byte that answers are computed from. Throws UnfitVersionError or StoreError. */
export async function loadVersion(
  privateStore: ObjectStore,
  published: Manifest,
  needed: readonly (keyof ReadinessChecks)[] = READINESS_CHECKS,
): Promise<ServedVersion> {
  const { version } = published
  const snapshot = await loadSnapshot(privateStore, published)
  const checks = checkVersion(published, snapshot)
  const failed = needed.filter(name => !checks[name])
  if (failed.length > 0) throw new UnfitVersionError(version, `${failed.join(', ')} failed`, checks)
  const by = (name: 'url' | 'key') => new Map(published.artifacts.map(artifact => [artifact[name], artifact]))
  return { version, snapshot, artifacts: by('url'), files: by('key'), checks }
}

/** Of an older version, whose files follow the route table of its time: an answer without a file is computed. */
export const AGELESS_CHECKS = READINESS_CHECKS.filter(name => name !== 'per_strategy_loaded')

/** The manifest that the pointer log names by its digest. Throws UnfitVersionError or StoreError. */
export async function loadManifest(store: ObjectStore, current: CurrentVersion): Promise<Manifest> {
  const found = await findManifest(store, current)
  if (found.fault === null) return found.manifest
  throw new UnfitVersionError(current.version, `its manifest ${found.what}`, NO_CHECKS)
}

/** The files may be as published and still be of a format that this program does not read. */
async function loadSnapshot(privateStore: ObjectStore, published: Manifest): Promise<Snapshot> {
  try {
    return decodeSnapshot(await readSnapshotFiles(privateStore, published))
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UnfitVersionError(published.version, why, { ...NO_CHECKS, manifest_loaded: true }, cause)
  }
}

function checkVersion(published: Manifest, snapshot: Snapshot): ReadinessChecks {
  const size = snapshot.strategies.length
  const { daily, weekly } = snapshot.correlation
  const isPublished = publishedCheck(published)
  return {
    manifest_loaded: published.version === snapshot.dataset.version,
    count_matches: published.strategies.length === size,
    per_strategy_loaded: snapshot.strategies.every(
      (strategy, i) =>
        strategy.id === published.strategies[i] && isWhole(strategy) && isPublished(strategy.id),
    ),
    correlation_dims: [daily, weekly].every(
      matrix =>
        matrix.size === size && matrix.rho.length === size * size && matrix.overlap.length === size * size,
    ),
  }
}

const isWhole = ({ daily, weekly }: StrategyData): boolean =>
  daily.values.length > 0 && isFiniteThroughout(daily.values) && isFiniteThroughout(weekly.values)

/** A loop, because `every` calls a function for each of millions of values. */
function isFiniteThroughout(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i]!)) return false
  return true
}

/** Whether all answers of a strategy are published. One that no strategy has is younger than the version: it is computed. */
function publishedCheck({ artifacts, strategies }: Manifest): (id: string) => boolean {
  const urls = new Set(artifacts.map(({ url }) => url))
  const isThere = (route: DatasetRoute, id: string) =>
    canonicalPoints(route, [id]).every(params => urls.has(canonicalPath(route.id, params)))
  const routes = DATASET_ROUTES.filter(
    route => route.group === 'strategy' && strategies.some(id => isThere(route, id)),
  )
  return id => routes.length > 0 && routes.every(route => isThere(route, id))
}
