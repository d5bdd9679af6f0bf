import type { CurrentVersion } from '#core/contract/manifest.ts'
import type { ReadinessChecks } from '#core/contract/readiness-checks.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type LoggedEntry, markRemoved, publicationsOf, readHead, readLog } from '#storage/pointer-log.ts'
import { type History, servedBefore } from './history.ts'
import {
  loadManifest,
  loadVersion,
  NO_CHECKS,
  type ServedVersion,
  UnfitVersionError,
} from './served-version.ts'

/** How often the pointer is read: a new version is served at most this long after it was published. */
export const POLL_MS = 5_000

/** After so many polls, an hour, the list is read even without a new entry: a removal, which answers 410 by then, writes none. */
export const LOOKS_BETWEEN_LISTINGS = 720

/** Versions that are tried in place of the newest: those of a month. More, and it is not one version that is damaged. */
export const MOST_TRIED = 30

export type RefreshOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'swapped'; readonly from: string | null; readonly to: string }
  /** Nothing was served yet and the newest version failed its checks; an earlier one is served until it is repaired. */
  | { readonly kind: 'fallen back'; readonly to: string; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The newest version is served, and the log that lists the others cannot be read. */
  | { readonly kind: 'unlisted'; readonly error: unknown }

export type VersionSource = ReturnType<typeof createVersionSource>

export function createVersionSource(store: ObjectStore, privateStore: ObjectStore) {
  let served: { readonly pointer: CurrentVersion; readonly version: ServedVersion } | null = null
  let history: History | null = null
  let looks = 0
  let unfit: { readonly version: string; readonly checks: ReadinessChecks } | null = null
  let running: Promise<RefreshOutcome> | null = null

  const refresh = async (): Promise<RefreshOutcome> => {
    try {
      const head = await readHead(store)
      if (head === null) {
        history ??= { log: [], publications: [] }
        return { kind: 'empty' }
      }
      // First: an answer of the new version names its twin, and the twin must be known by then.
      const listed = await list(head)
      const outcome = await follow(head.entry)
      return outcome.kind === 'unchanged' ? listed : outcome
    } catch (error) {
      return { kind: 'failed', error }
    }
  }
  /** Reads the pointer log, and checks which of its versions were removed: an object for each entry and version. */
  const list = async (head: LoggedEntry): Promise<RefreshOutcome> => {
    if (history?.log.at(-1)?.sha256 === head.sha256 && ++looks < LOOKS_BETWEEN_LISTINGS)
      return { kind: 'unchanged' }
    try {
      const log = await readLog(store)
      history = { log, publications: await markRemoved(store, publicationsOf(log)) }
      looks = 0
      return { kind: 'unchanged' }
    } catch (error) {
      return { kind: 'unlisted', error }
    }
  }
  /** Serves the newest version or, if it fails its checks and none is served yet, the newest earlier one that passes them. */
  const follow = async (head: CurrentVersion): Promise<RefreshOutcome> => {
    const before = served?.pointer
    if (head.manifest_sha256 === before?.manifest_sha256) {
      unfit = null
      return { kind: 'unchanged' }
    }
    const earlier = before === undefined ? servedBefore(history, head.version).slice(0, MOST_TRIED) : []
    let failed: UnfitVersionError | null = null
    for (const pointer of [head, ...earlier]) {
      try {
        served = { pointer, version: await loadVersion(privateStore, await loadManifest(store, pointer)) }
        const to = pointer.version
        if (failed !== null) return { kind: 'fallen back', to, error: failed }
        unfit = null
        return { kind: 'swapped', from: before?.version ?? null, to }
      } catch (error) {
        if (!(error instanceof UnfitVersionError)) throw error
        failed ??= error // the checks of the newest are the ones to report
        unfit = { version: head.version, checks: failed.checks }
      }
    }
    return { kind: 'failed', error: failed }
  }
  return {
    current: () => served?.version ?? null,
    /** What was published and when, null as long as the log was never read. */
    history: () => history,
    /** The checks of the served version, or of the one that could not be served if there is none. */
    checks: () => served?.version.checks ?? unfit?.checks ?? NO_CHECKS,
    /** The newest version as long as it fails its checks, so that an older one is served or none; else null. */
    unfitVersion: () => unfit?.version ?? null,
    /** Reads the pointer, loads and verifies a new version beside the old one, and swaps one reference. */
    refresh: () => {
      // A slow store must not start a second load beside the first.
      running ??= refresh().finally(() => {
        running = null
      })
      return running
    },
  }
}
