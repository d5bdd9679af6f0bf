import { toIsoInstant } from '#core/calendar.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readHead } from '#storage/pointer-log.ts'

/**
 * The log tells what was served when, so its times never go backwards: an entry that is written by a clock that was set
 * back would claim a time before the entry that it follows, and expire before it should.
 */
export async function assertClock(store: ObjectStore, nowMs: number): Promise<void> {
  const head = await readHead(store)
  if (head === null) return
  const { seq, at } = head.entry
  const now = toIsoInstant(nowMs)
  if (now >= at) return
  throw new Error(
    `the clock of this machine says ${now}, and the newest pointer entry, ${store.url}/${pointerKey(seq)}, was ` +
      `written at ${at}: set the clock, and run the command again; nothing was published`,
  )
}

/** How far a version may be ahead of the clock: a build may be named after the night that it is for. */
const MOST_AHEAD_MS = 24 * 3_600_000

/** A version of the far future would stand in the way of every build until its time has come. */
export function assertNotAhead(version: string, nowMs: number): void {
  if (version <= toIsoInstant(nowMs + MOST_AHEAD_MS)) return
  throw new Error(
    `--version: ${version} is more than ${MOST_AHEAD_MS / 3_600_000} hours ahead of the clock of this machine, which ` +
      `says ${toIsoInstant(nowMs)}: give an earlier one, or set the clock; nothing was published`,
  )
}
