import type { CurrentVersion } from '#core/contract/manifest.ts'
import { currentVersionOf } from '#static-build/publish-version.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { findManifest } from '#storage/published-manifest.ts'

/**
 * Publishing an older version would take the served data back in time without anybody having said so. So would a window
 * that ends before the served one: who means that names the version.
 */
export async function assertNotOlder(
  store: ObjectStore,
  build: { readonly version: string; readonly windowEnd: string; readonly isNamed: boolean },
): Promise<void> {
  const current = await currentVersionOf(store)
  if (current === null) return
  if (build.version < current.version) {
    throw new Error(
      `the version ${build.version} is older than ${current.version}, which is served now: give a later --version`,
    )
  }
  const served = await windowEndOf(store, current)
  if (build.isNamed || served === null || build.windowEnd >= served) return
  throw new Error(
    `the window of this build ends on ${build.windowEnd}, and that of ${current.version}, which is served now, ends ` +
      `on ${served}: bring newer data, or name the version with --version to take the window back all the same`,
  )
}

/** Null where the manifest is lost or damaged: it tells nothing, and the comparison ends a build that nobody allowed. */
async function windowEndOf(store: ObjectStore, current: CurrentVersion): Promise<string | null> {
  const found = await findManifest(store, current)
  return found.fault === null ? found.manifest.window.to : null
}
