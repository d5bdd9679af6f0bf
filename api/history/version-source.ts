import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { ReadinessChecks } from '#core/contract/payloads/book.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, readHead, readLog } from '#storage/pointer-log.ts'
import { type History, toHistory } from './history.ts'
import { loadVersion, NO_CHECKS, type ServedVersion, UnfitVersionError } from './served-version.ts'

/** How often the pointer is looked at: a new version is served this long after it was published, at the most. */
export const POLL_MS = 5_000

/** What became of one look at the pointer. */
export type RefreshOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'swapped'; readonly from: string | null; readonly to: string }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The newest version is served, and the log that lists the others cannot be read. */
  | { readonly kind: 'unlisted'; readonly error: unknown }

/** The version that is served now, and the way to the next one. */
export type VersionSource = {
  readonly current: () => ServedVersion | null
  /** What was published and when, null as long as the log was never read. */
  readonly history: () => History | null
  /** The checks of the served version, or of the one that could not be served where there is none. */
  readonly checks: () => ReadinessChecks
  /** Looks at the pointer, loads and verifies a new version beside the old one, and swaps one reference. */
  readonly refresh: () => Promise<RefreshOutcome>
}

export function createVersionSource(store: ObjectStore, privateStore: ObjectStore): VersionSource {
  let served: { readonly pointer: CurrentVersion; readonly version: ServedVersion } | null = null
  let history: History | null = null
  let failedChecks: ReadinessChecks = NO_CHECKS
  let running: Promise<RefreshOutcome> | null = null

  const refresh = async (): Promise<RefreshOutcome> => {
    try {
      const head = await readHead(store)
      if (head === null) {
        history ??= toHistory([])
        return { kind: 'empty' }
      }
      // First: an answer of the new version names its twin, and the twin must be known by then.
      const listed = await list(head)
      const outcome = await swapTo(head.entry)
      return outcome.kind === 'unchanged' ? listed : outcome
    } catch (error) {
      if (error instanceof UnfitVersionError) failedChecks = error.checks
      return { kind: 'failed', error }
    }
  }
  const list = async (head: LoggedEntry): Promise<RefreshOutcome> => {
    if (history?.head === head.sha256) return { kind: 'unchanged' }
    try {
      history = toHistory(await readLog(store))
      return { kind: 'unchanged' }
    } catch (error) {
      return { kind: 'unlisted', error }
    }
  }
  const swapTo = async (pointer: CurrentVersion): Promise<RefreshOutcome> => {
    if (isSame(pointer, served?.pointer)) return { kind: 'unchanged' }
    const version = await loadVersion(store, privateStore, pointer)
    const from = served?.pointer.version ?? null
    served = { pointer, version }
    return { kind: 'swapped', from, to: pointer.version }
  }
  return {
    current: () => served?.version ?? null,
    history: () => history,
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

const isSame = (a: CurrentVersion, b: CurrentVersion | undefined): boolean =>
  a.version === b?.version && a.manifest_sha256 === b.manifest_sha256
