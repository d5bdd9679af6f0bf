import { z } from 'zod'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { type LoggedEntry, readLog } from '#storage/pointer-log.ts'

/** What caches in front of the service still have to learn. */
export type PurgeDue = {
  /** The newest entry of the pointer log. */
  readonly seq: number
  /** The version that it serves. */
  readonly version: string
  /** Other versions whose answers caches may hold, newest first. */
  readonly outdated: readonly string[]
}

/**
 * In the private store: up to which entry of the pointer log caches are known to have followed. What is due follows from
 * the log alone, so nothing that is due can be lost, whatever dies when: without this object all of it is due again.
 */
export const PURGED_KEY = 'outbox/purged.json'

const purged = z.object({ seq: z.int().min(1) })

/** Older versions are in no cache any more: what is kept until a purge is kept for a day at the most. */
const MOST_OUTDATED = 30

/** What is due, or null where no cache can hold an answer of another version than the served one. */
export async function readPurgeDue(store: ObjectStore, privateStore: ObjectStore): Promise<PurgeDue | null> {
  const log = await readLog(store)
  const head = log.at(-1)?.entry
  if (head === undefined) return null
  const outdated = versionsSince(log, await readPurged(privateStore)).filter(each => each !== head.version)
  if (outdated.length === 0) return null
  return { seq: head.seq, version: head.version, outdated: outdated.slice(0, MOST_OUTDATED) }
}

/** Notes that caches have followed the log up to an entry. An older note that comes late makes a purge happen twice. */
export const confirmPurged = (privateStore: ObjectStore, seq: number): Promise<void> =>
  privateStore.replace(PURGED_KEY, toJsonBytes({ seq } satisfies z.infer<typeof purged>), {
    content_type: 'application/json; charset=utf-8',
  })

/** Makes everything due once more: for caches that were filled with an older version after they had followed. */
export const forgetPurges = (privateStore: ObjectStore): Promise<void> => privateStore.remove(PURGED_KEY)

/** The versions that were served from an entry on, each once, the latest first. A note of another log says nothing. */
function versionsSince(log: readonly LoggedEntry[], seq: number): readonly string[] {
  const known = seq <= log.length ? seq : 0
  const versions = log.slice(Math.max(known - 1, 0)).map(({ entry }) => entry.version)
  return [...new Set(versions.reverse())]
}

/** The entry up to which everything is purged: 0 where no note can be read, and everything is due. */
async function readPurged(privateStore: ObjectStore): Promise<number> {
  const bytes = await privateStore.read(PURGED_KEY)
  return bytes === null ? 0 : (purged.safeParse(parseJson(bytes)).data?.seq ?? 0)
}
