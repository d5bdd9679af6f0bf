// Notices: what the owner of an account has to know of it. Each is written once, with the change that causes it (`NOTIFY` of
// redis/keys.ts), kept in a list of the client, and sent by whoever relays: to the other endpoints of the client and by mail.
import type { Redis } from 'ioredis'
import pMap from 'p-map'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { renderJson } from '#core/dataset/render/json.ts'
import { getClient } from '../clients/clients.ts'
import type { DeliveryParts } from '../delivery/deliver.ts'
import { type Destination, destinationOf } from '../outbox/destination.ts'
import { endpointsOf, readWebhook } from '../outbox/webhooks.ts'
import { askRedis } from '../redis/connect.ts'
import { apiKeyKey, EXPIRING_KEYS, NOTICES_OWED, NOTIFY, noticesKey } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { SendMail } from '../send/mail.ts'
import { redact, type Sender } from '../send/send.ts'
import { liveSecrets, signatureHeaders } from '../send/sign.ts'

export const NOTICE_EVENTS = ['endpoint_failing', 'endpoint_disabled', 'key_expiring', 'key_revoked'] as const

/** As it is stored, in the clear. */
const storedNotice = z.object({
  id: z.string(),
  client: z.string(),
  /** Epoch milliseconds. */
  at: z.number(),
  event: z.enum(NOTICE_EVENTS),
  endpoint: z.string().nullable(),
  key_id: z.string().nullable(),
  reason: z.string(),
})

type Stored = z.output<typeof storedNotice>

/** A notice as its owner reads it: on the page, in an answer, in a POST and in a mail. */
const noticeOf = ({ at, event, endpoint, key_id, reason }: Stored) => ({
  ...{ at: toIsoInstant(at), event, endpoint, key_id },
  reason: cleaned(reason),
})

const MOST_REASON_CHARACTERS = 300

/** An operator may have written the reason: of an address its host stays, and what looks like a secret goes. */
function cleaned(reason: string): string {
  const hosts = reason
    .replaceAll(/[^\s/@]+@(?=[\w.-])/g, '')
    .replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/([^\s/?#]*)\S*/gi, '$1')
    .replaceAll(/\b((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?)[/?#]\S*/gi, '$1')
  return redact(hosts, [], MOST_REASON_CHARACTERS)
}

/** The notices of a client, newest first. */
export async function readNotices(redis: Redis, client: string) {
  const found = await askRedis(() => redis.lrange(noticesKey(client), 0, -1))
  return found.map(text => noticeOf(storedNotice.parse(JSON.parse(text))))
}

/** What is still to be sent: of a notice that was not tried yet `left` is absent. */
const owedNotice = storedNotice.extend({
  left: z.array(z.string()).optional(),
  tries: z.number().default(0),
  dueMs: z.number().default(0),
})

type Owed = z.output<typeof owedNotice>

type NoticeParts = Pick<DeliveryParts, 'redis' | 'box' | 'now' | 'isStopping' | 'onError'> & {
  readonly sender: Pick<Sender, 'send'>
  /** Null mails nothing. */
  readonly mail: SendMail | null
}

const MINUTE_MS = 60_000

/** After each failed try; then it is given up: the list of the client has it. */
const WAITS_MS = [1, 5, 30, 120, 360].map(minutes => minutes * MINUTE_MS)

const SENT_AT_ONCE = 16

/** In place of a destination, which has the name of a client. */
const BY_MAIL = '@'

/** One round: notices of keys that end soon, and every notice that is due is tried. Each is sent at least once, or given up. */
export async function sendNotices(parts: NoticeParts): Promise<void> {
  await noteExpiringKeys(parts)
  const all = await askRedis(() => parts.redis.hvals(NOTICES_OWED))
  const due = all.map(text => owedNotice.parse(JSON.parse(text))).filter(({ dueMs }) => dueMs <= parts.now())
  await pMap(due, owed => sendNotice(parts, owed), { concurrency: SENT_AT_ONCE })
}

async function sendNotice(parts: NoticeParts, owed: Owed): Promise<void> {
  const ways = owed.left ?? (await waysOf(parts, owed))
  const sent = await Promise.all(ways.map(way => isSent(parts, owed, way)))
  if (parts.isStopping()) return // what was broken off is tried again by the next process
  const left = ways.filter((_, i) => !sent[i])
  const waitMs = left.length === 0 ? undefined : WAITS_MS[owed.tries]
  const later = { ...owed, left, tries: owed.tries + 1, dueMs: parts.now() + (waitMs ?? 0) }
  const { id, client, event } = owed
  if (waitMs !== undefined) await askRedis(() => parts.redis.hset(NOTICES_OWED, id, JSON.stringify(later)))
  else await askRedis(() => parts.redis.hdel(NOTICES_OWED, id))
  if (waitMs === undefined && left.length > 0)
    parts.onError(
      new Error(
        `the notice ${event} for ${client} is given up after ${later.tries} tries: inform the client`,
      ),
    )
}

async function waysOf({ redis, mail }: NoticeParts, { client, endpoint }: Owed): Promise<readonly string[]> {
  const others = (await endpointsOf(redis, client)).filter(name => name !== endpoint)
  return [...others.map(name => destinationOf(client, name)), ...(mail === null ? [] : [BY_MAIL])]
}

/** Whether nothing more is to be done this way. Rejects only if Redis is away. */
async function isSent(parts: NoticeParts, owed: Owed, way: string): Promise<boolean> {
  try {
    return await (way === BY_MAIL ? mailNotice(parts, owed) : postNotice(parts, owed, way))
  } catch (error) {
    parts.onError(error)
    return false
  }
}

/** Like a delivery, without a number: it is in no log, and no answer changes what is known of the endpoint. */
async function postNotice({ redis, box, now, sender }: NoticeParts, owed: Owed, to: Destination) {
  const webhook = await readWebhook(redis, box, to)
  if (webhook === null || !webhook.enabled || webhook.isPaused) return true
  const body = renderJson(noticeOf(owed))
  const sentAtMs = now()
  const secrets = liveSecrets(webhook.secrets, sentAtMs)
  const headers = { ...webhook.headers, ...signatureHeaders({ body, id: owed.id, sentAtMs }, secrets) }
  const outcome = await sender.send({ url: webhook.url, headers, body, secrets })
  if (outcome.kind === 'ourFault') return false
  const { status } = outcome
  return status !== null && status < 500 // a receiver that knows signals only refuses it each time
}

async function mailNotice({ redis, mail }: NoticeParts, owed: Owed): Promise<boolean> {
  const to = (await getClient(redis, owed.client))?.email ?? null
  if (mail === null || to === null) return true
  const { event, endpoint, key_id, at, reason } = noticeOf(owed)
  const about = endpoint === null ? `the key ${key_id}` : `the endpoint ${endpoint}`
  const subject = `Signals for ${owed.client}: ${about} ${WORDS[event]}`
  const lines = [
    `${subject}.`,
    '',
    `Time: ${at}`,
    `Reason: ${reason}`,
    '',
    'GET /v1/notices has every notice.',
  ]
  await mail({ to, subject, text: lines.join('\n') })
  return true
}

const WORDS = {
  endpoint_failing: 'has failed for an hour',
  endpoint_disabled: 'is disabled',
  key_expiring: 'ends soon',
  key_revoked: 'is revoked',
} as const

/** A week for a change of keys. */
const BEFORE_END_MS = 7 * 24 * 60 * MINUTE_MS

async function noteExpiringKeys({ redis, now }: NoticeParts): Promise<void> {
  const ends = await askRedis(() => redis.hgetall(EXPIRING_KEYS))
  for (const [id, endMs] of Object.entries(ends)) {
    if (now() < Number(endMs) - BEFORE_END_MS) continue
    const reason = `it is refused from ${toIsoInstant(Number(endMs))} on: ask for a new key, set your endpoints with it, and confirm it`
    await runScript(redis, EXPIRING_SCRIPT, [EXPIRING_KEYS, apiKeyKey(id)], id, reason)
  }
}

/** Once for each key, none for one that was revoked. */
const EXPIRING_SCRIPT = `${NOTIFY}
local client = redis.call('HGET', KEYS[2], 'client')
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 and client then notify(client, 'key_expiring', ARGV[1], ARGV[2]) end
return 1
`
