// The audit log: every action of an operator, in Redis, which no command trims, and copied to the private store.
import type { Redis } from 'ioredis'
import pLimit from 'p-limit'
import { z } from 'zod'
import { list } from '#core/contract/payloads/field.ts'
import { MODES } from '#core/contract/signal.ts'
import { parseJson, toJsonBytes } from '#storage/json-bytes.ts'
import { type ObjectStore, writeOnce } from '#storage/object-store.ts'
import { CLIENT_STATUSES } from '../clients/clients.ts'
import { askRedis } from '../redis/connect.ts'
import { AUDIT, AUDIT_COPIED, EPOCH } from '../redis/keys.ts'

const text = z.string()

const loggedEndpoint = z.object({
  enabled: z.boolean().describe('Whether it is sent to.'),
  waiting: z.int().min(0).describe('Deliveries that wait.'),
  paused: z.boolean().optional().describe('True while what it is owed waits.'),
  filter: z.array(text).readonly().optional().describe('The strategies that it is sent, if not all.'),
})

/** The state of a client or of a strategy, as far as operators change it. */
export const subjectState = z
  .object({
    tier: text.optional().describe('Of a client: the name of its subscription.'),
    status: z.enum(CLIENT_STATUSES).optional().describe('Of a client: whether its account is active.'),
    suspended: z.boolean().optional().describe('Of a client: whether the operator suspended it.'),
    aliases: list('Of a client: the strategies whose signals it gets.', text).readonly().optional(),
    program: z.boolean().optional().describe('Of a client: whether it may use the accumulation program.'),
    keys: z.array(text).readonly().optional().describe('Of a client: the ids of its keys.'),
    webhook: loggedEndpoint.nullable().optional().describe('Of a client: its webhook, null if it has none.'),
    endpoints: z
      .record(text, loggedEndpoint)
      .optional()
      .describe('Of a client: its other endpoints, by name.'),
    halted: list('Of a strategy: all that is halted; * stands for all.', text).readonly().optional(),
    mode: z.enum(MODES).optional().describe('Of a strategy: its mode as it was ordered.'),
  })
  .meta({ id: 'SubjectState' })

export type SubjectState = Readonly<z.output<typeof subjectState>>

export const action = z.object({
  at: z.iso.datetime().describe('When, in UTC.'),
  who: text.describe('Name of the token: `operator` is OPERATOR_TOKEN.'),
  action: text.describe('What was done: the id of the route.'),
  subject: text
    .nullable()
    .describe(
      'The client, strategy, key or token that it is about, or null; `acme/backup` is another endpoint of acme.',
    ),
  request: z
    .record(text, text)
    .describe(
      'What was asked for: declared fields without secrets, others as `***`; JSON of what is no text.',
    ),
  outcome: text.describe('`done`, or the code of the refusal.'),
  before: subjectState
    .nullable()
    .describe('State of the subject before it; null if it has none, or did not exist.'),
  after: subjectState.nullable().describe('The same after it.'),
})

export type Action = Readonly<z.output<typeof action>>

/** An action and its number, from 1 without a gap. */
export type LoggedAction = Action & { readonly seq: number }

export const logAction = async (redis: Redis, done: Action): Promise<void> =>
  void (await askRedis(() => redis.rpush(AUDIT, JSON.stringify(done))))

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
  return texts.map((line, i) => ({ ...action.parse(parseJson(line)), seq: from + i + 1 }))
}

/** Actions that are read to learn what was before: some megabytes. */
export const MOST_SINCE = 10_000

/** The actions since a moment, newest first. */
export async function actionsSince(redis: Redis, sinceMs: number): Promise<readonly LoggedAction[]> {
  const found: LoggedAction[] = []
  for (let before: number | null | undefined; before !== null && found.length < MOST_SINCE; ) {
    const { rows, next } = await readActions(redis, { before, limit: BLOCK })
    const newer = rows.filter(({ at }) => Date.parse(at) > sinceMs)
    found.push(...newer)
    before = newer.length < rows.length ? null : next
  }
  return found
}

/** Actions read at a time, and copied together: they share flushes of the disk, for which those of Redis wait. */
const BLOCK = 100

/**
 * Copies actions that are not in the private store yet, each as an object that is written once. A log that begins again
 * in another Redis has another folder. Rejects if Redis or the store fails; the next call continues. One copy runs at a time,
 * because each would write everything that the others have not written yet; a call waits for one that begins after it.
 */
export function createActionCopy(redis: Redis, privateStore: ObjectStore): () => Promise<void> {
  const oneAtATime = pLimit(1)
  let waiting: Promise<void> | null = null
  return () => {
    waiting ??= oneAtATime(() => {
      waiting = null
      return copyActions(redis, privateStore)
    })
    return waiting
  }
}

async function copyActions(redis: Redis, privateStore: ObjectStore): Promise<void> {
  const [epoch, copied, count] = await askRedis(() =>
    Promise.all([redis.get(EPOCH), redis.get(AUDIT_COPIED), redis.llen(AUDIT)]),
  )
  const copyOne = (each: LoggedAction): Promise<void> => {
    const key = `audit/${epoch ?? 'first'}/${String(each.seq).padStart(10, '0')}.json`
    return writeOnce(privateStore, key, toJsonBytes(each), { content_type: 'application/json' })
  }
  for (let from = Number(copied ?? 0); from < count; from += BLOCK) {
    const actions = await readRange(redis, from, Math.min(from + BLOCK, count))
    const copies = await Promise.allSettled(actions.map(copyOne)) // none runs on beside the next copy
    const failed = copies.find(copy => copy.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    await askRedis(() => redis.set(AUDIT_COPIED, actions.at(-1)?.seq ?? from))
  }
}
