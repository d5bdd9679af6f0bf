import { CURRENT_KEY } from '#core/contract/artifacts.ts'
import { type CurrentVersion, parseCurrent } from '#core/contract/manifest.ts'
import type { ReadinessChecks } from '#core/contract/payloads/book.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { loadVersion, NO_CHECKS, type ServedVersion, UnfitVersionError } from './served-version.ts'

/** How often the pointer is looked at: a new version is served this long after it was published, at the most. */
export const POLL_MS = 5_000

/** What became of one look at the pointer. */
export type RefreshOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'swapped'; readonly from: string | null; readonly to: string }
  | { readonly kind: 'failed'; readonly error: unknown }

/** The version that is served now, and the way to the next one. */
export type VersionSource = {
  readonly current: () => ServedVersion | null
  /** The checks of the served version, or of the one that could not be served where there is none. */
  readonly checks: () => ReadinessChecks
  /** Looks at the pointer, loads and verifies a new version beside the old one, and swaps one reference. */
  readonly refresh: () => Promise<RefreshOutcome>
}

export function createVersionSource(store: ObjectStore, privateStore: ObjectStore): VersionSource {
  let served: { readonly pointer: CurrentVersion; readonly version: ServedVersion } | null = null
  let failedChecks: ReadinessChecks = NO_CHECKS
  let running: Promise<RefreshOutcome> | null = null

  const refresh = async (): Promise<RefreshOutcome> => {
    try {
      const pointer = await readPointer(store)
      if (pointer === null) return { kind: 'empty' }
      if (isSame(pointer, served?.pointer)) return { kind: 'unchanged' }
      const version = await loadVersion(store, privateStore, pointer)
      const from = served?.pointer.version ?? null
      served = { pointer, version }
      return { kind: 'swapped', from, to: pointer.version }
    } catch (error) {
      if (error instanceof UnfitVersionError) failedChecks = error.checks
      return { kind: 'failed', error }
    }
  }
  return {
    current: () => served?.version ?? null,
    checks: () => served?.version.checks ?? failedChecks,
    // A slow store must not start a second load beside the first.
    refresh: () => {
      running ??= refresh().finally(() => {
        running = null
      })
      return running
    },
  }
}

async function readPointer(store: ObjectStore): Promise<CurrentVersion | null> {
  const bytes = await store.read(CURRENT_KEY)
  return bytes === null ? null : parsePointer(bytes, store)
}

function parsePointer(bytes: Uint8Array, store: ObjectStore): CurrentVersion {
  try {
    return parseCurrent(bytes)
  } catch (cause) {
    const start = JSON.stringify(new TextDecoder().decode(bytes.subarray(0, ECHO_BYTES)))
    const message =
      `${store.url}/${CURRENT_KEY} does not name a version: expected JSON with version and manifest_sha256, got ` +
      `${start}; restore the object, or publish again`
    throw new Error(message, { cause })
  }
}

/** As much of a broken pointer as tells what it is. */
const ECHO_BYTES = 80

const isSame = (a: CurrentVersion, b: CurrentVersion | undefined): boolean =>
  a.version === b?.version && a.manifest_sha256 === b.manifest_sha256
