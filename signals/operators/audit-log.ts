// The audit log: every action of an operator, in Redis, which no command trims, and copied to the private store.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { writeOnce } from '#storage/write-once.ts'
import { askRedis } from '../redis/connect.ts'
import { AUDIT, AUDIT_COPIED, EPOCH } from '../redis/keys.ts'

const stored = z.object({
  at: z.string(),
  /** The name of the token. */
  who: z.string(),
  action: z.string(),
  /** The client, strategy, key or token that it is about; null if it is about none. */
  subject: z.string().nullable(),
  /** What was asked for, without secrets. */
  request: z.record(z.string(), z.unknown()),
  /** `done`, or the code of the refusal. */
  outcome: z.string(),
  /** The state of the subject; null if it has none. */
  before: z.unknown(),
  after: z.unknown(),
})

export type Action = Readonly<z.output<typeof stored>>

/** An action and its number, from 1 without a gap. */
export type LoggedAction = Action & { readonly seq: number }

/** Appends an action. */
export const logAction = async (redis: Redis, action: Action): Promise<void> =>
  void (await askRedis(() => redis.rpush(AUDIT, JSON.stringify(action))))

/** The newest actions before a number, newest first; `next` is null if there are no older ones. */
export async function readActions(
  redis: Redis,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<{ readonly rows: readonly LoggedAction[]; readonly next: number | null }> {
  const count = await askRedis(() => redis.llen(AUDIT))
  const end = Math.min(before === undefined ? count : before - 1, count)
  const from = Math.max(0, end - limit)
  const rows = end === 0 ? [] : await readRange(redis, from, end)
  return { rows: rows.toReversed(), next: from === 0 ? null : from + 1 }
}

/** Actions number `from + 1` to `end`. */
async function readRange(redis: Redis, from: number, end: number): Promise<LoggedAction[]> {
  const texts = await askRedis(() => redis.lrange(AUDIT, from, end - 1))
  return texts.map((text, i) => ({ ...stored.parse(parseJson(text)), seq: from + i + 1 }))
}

/** Actions copied at a time. */
const BLOCK = 100

/**
 * Copies actions that are not in the private store yet, each as an object that is written once. A log that begins again
 * in another Redis has another folder. Rejects if Redis or the store fails; the next call continues.
 */
export async function copyActions(redis: Redis, privateStore: ObjectStore): Promise<void> {
  const [epoch, copied, count] = await askRedis(() =>
    Promise.all([redis.get(EPOCH), redis.get(AUDIT_COPIED), redis.llen(AUDIT)]),
  )
  for (let from = Number(copied ?? 0); from < count; from += BLOCK) {
    const actions = await readRange(redis, from, Math.min(from + BLOCK, count))
    for (const action of actions) {
      const key = `audit/${epoch ?? 'first'}/${String(action.seq).padStart(10, '0')}.json`
      await writeOnce(privateStore, key, toJsonBytes(action), { content_type: 'application/json' })
      await askRedis(() => redis.set(AUDIT_COPIED, action.seq))
    }
  }
}
