// When a version is entered that has an older name: the start of the first run of its build.
import { z } from 'zod'
import { parseIsoInstant, toIsoInstant } from '#core/calendar.ts'
import { privateKey } from '#core/contract/artifacts.ts'
import { enteredText, isLongBefore } from '#core/dataset/entered.ts'
import { assertTimely } from '#static-build/publish-version.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { readLog } from '#storage/pointer-log.ts'

const entryTime = z.object({ entered: z.string().refine(text => parseIsoInstant(text) !== null) })

/**
 * The start of the build if the name of its version is more than 36 hours older, otherwise null. It is written once, beside the
 * snapshot, so that a build that was killed gives the same bytes when it runs again. Throws if that start is itself too old.
 */
export async function entryTimeOf(
  { store, privateStore }: { readonly store: ObjectStore; readonly privateStore: ObjectStore },
  { version, startMs, nowMs }: { readonly version: string; readonly startMs: number; readonly nowMs: number },
  note: (line: string) => void,
): Promise<string | null> {
  const key = privateKey(version, 'entered.json')
  const bytes = await privateStore.read(key)
  const begun = bytes === null ? null : entryTime.parse(parseJson(bytes)).entered
  if ((await readLog(store)).some(({ entry }) => entry.version === version)) return begun // the same command again
  const start = toIsoInstant(startMs)
  if (begun === null && !isLongBefore(version, start)) return null
  const entered = begun ?? start
  assertTimely({ version, entered }, nowMs)
  note(`note: ${version} is a past time: every page will say that this version was ${enteredText(entered)}`)
  if (begun === null)
    await privateStore.create(key, toJsonBytes({ entered }), { content_type: 'application/json' })
  return entered
}
