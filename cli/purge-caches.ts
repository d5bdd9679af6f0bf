import { POLL_MS } from '#api/history/version-source.ts'
import { confirmPurged, type PurgeDue, readPurgeDue } from '#static-build/purge-due.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { assertPurged, assertServed, type Cdn, CdnError, purge } from './cdn.ts'

/** What to purge for, and how. */
export type PurgeOrder = {
  readonly store: ObjectStore
  readonly privateStore: ObjectStore
  readonly cdn: Cdn
  /** The environment of CDN_PURGE_COMMAND. */
  readonly env: NodeJS.ProcessEnv
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>
}

export type PurgeOutcome =
  | { readonly kind: 'nothing due' }
  | { readonly kind: 'purged'; readonly seq: number; readonly version: string }
  /** It stays due. */
  | { readonly kind: 'late'; readonly why: string }

/**
 * Between the first purge that took and the last: by then every tier of several has looked at the pointer, and answers
 * of the version before that were on their way have arrived in the cache, where the last purge meets them.
 */
export const SETTLE_MS = 2 * POLL_MS

/** With the pauses between them about a minute: longer than a tier takes to load a version, or a cache to restart. */
const MOST_FAILURES = 12

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000

/** How long to wait after so many failures in a row: twice as long as the time before. */
export const pauseAfter = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)

/** Rounds in a row that must go well: before the last of them everything has settled. */
const GOOD_ROUNDS = 2

/**
 * Does what is due since caches last followed the pointer, and notes it. A purge before the tier serves the new version
 * would fill caches with the old one once more, so each round first asks the tier, and afterwards a cache. Whoever is
 * killed here leaves the note as it was, and the next one begins anew.
 */
export async function purgeCaches(order: PurgeOrder): Promise<PurgeOutcome> {
  const { store, privateStore, pause } = order
  let good = { seq: 0, rounds: 0 }
  let why = ''
  for (let failures = 0; failures < MOST_FAILURES; ) {
    const due = await readPurgeDue(store, privateStore)
    if (due === null) return { kind: 'nothing due' }
    const fault = await playRound(order, due)
    if (fault === null) {
      good = { seq: due.seq, rounds: good.seq === due.seq ? good.rounds + 1 : 1 }
      if (good.rounds === GOOD_ROUNDS) return confirm(privateStore, due)
      await pause(SETTLE_MS)
    } else {
      good = { seq: 0, rounds: 0 }
      why = fault
      await pause(pauseAfter(++failures))
    }
  }
  return { kind: 'late', why }
}

/** Null where it went well, else why not. */
async function playRound({ cdn, env }: PurgeOrder, due: PurgeDue): Promise<string | null> {
  try {
    await assertServed(cdn, due.version)
    await purge(cdn, due, env)
    await assertPurged(cdn, due.version)
    return null
  } catch (error) {
    if (error instanceof CdnError) return error.message
    throw error
  }
}

async function confirm(privateStore: ObjectStore, { seq, version }: PurgeDue): Promise<PurgeOutcome> {
  await confirmPurged(privateStore, seq)
  return { kind: 'purged', seq, version }
}
