// When a version is entered that has an older name: the start of the first run of its build.
import { toIsoInstant } from '#core/calendar.ts'
import { enteredText, isLongBefore } from '#core/dataset/entered.ts'
import { assertTimely } from '#static-build/publish-version.ts'
import { readEntryTime } from '#static-build/save-private.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { readLog } from '#storage/pointer-log.ts'

/**
 * The start of the build if the name of its version is more than 36 hours older, otherwise null. A build that was killed after
 * it began to write has the start of then, so that it gives the same bytes. Throws if that start is itself too old.
 */
export async function entryTimeOf(
  { store, privateStore }: { readonly store: ObjectStore; readonly privateStore: ObjectStore },
  { version, startMs, nowMs }: { readonly version: string; readonly startMs: number; readonly nowMs: number },
  note: (line: string) => void,
): Promise<string | null> {
  const begun = await readEntryTime(privateStore, version)
  if ((await readLog(store)).some(({ entry }) => entry.version === version)) return begun // the same command again
  const start = toIsoInstant(startMs)
  const entered = begun ?? (isLongBefore(version, start) ? start : null)
  if (entered === null) return null
  assertTimely({ version, entered }, nowMs)
  note(`note: ${version} is a past time: every page will say that this version was ${enteredText(entered)}`)
  return entered
}
