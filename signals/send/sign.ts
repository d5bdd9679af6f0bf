// The headers of a delivery: two signatures, and its place in the client's sequence.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import type { RandomBytes } from '../clients/token.ts'
import { MOST_LIVE_SECRETS, SECRET_OVERLAP_MS } from './policy.ts'

/** What is signed. */
type Signed = {
  readonly body: Uint8Array
  /** The `signal_id`, or that of a notice: equal for every attempt, so that receivers can de-duplicate. */
  readonly id: string
  readonly sentAtMs: number
}

export type Delivery = Signed & {
  readonly seq: number
  /** The previous number that this client may see, 0 for none. */
  readonly prevSeq: number
  /** From 1. */
  readonly attempt: number
}

const USER_AGENT = 'Highwater-Webhooks/1'

/** The headers of a delivery: its signatures, and its place in the client's sequence. */
export const signedHeaders = (
  { seq, prevSeq, attempt, ...signed }: Delivery,
  secrets: readonly string[],
): Record<string, string> => ({
  ...signatureHeaders(signed, secrets),
  'x-signal-seq': String(seq),
  'x-prev-seq': String(prevSeq),
  'x-attempt': String(attempt),
})

/**
 * The headers of whatever is sent, signed with the live secrets, newest first. `X-Signature` is `sha256=` and the hex
 * HMAC-SHA256 of the raw body, keyed with the whole text of the newest secret, as GitHub does. `webhook-signature` is
 * that of Standard Webhooks, keyed with the 32 bytes after `whsec_`: one `v1,` per live secret, over id, time and
 * body.
 */
export function signatureHeaders(
  { body, id, sentAtMs }: Signed,
  secrets: readonly string[],
): Record<string, string> {
  const all = secrets.map(secret => KEPT_KEYS.memo(secret))
  const [newest] = all
  if (newest === undefined)
    throw new Error('a delivery needs a secret to sign it: create one for this webhook')
  const timestamp = String(Math.floor(sentAtMs / 1000))
  const prefix = `${id}.${timestamp}.`
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-signature': `sha256=${createHmac('sha256', newest.single).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': all.map(({ standard }) => standardSignature(standard, prefix, body)).join(' '),
    'x-sent-at': new Date(sentAtMs).toISOString(),
  }
}

type Keys = { readonly single: KeyObject; readonly standard: KeyObject }

/** Creating a key object takes several times as long as signing with it. Some hundred bytes each. */
const MOST_KEPT_KEYS = 20_000

const KEPT_KEYS = new LRUCache<string, Keys>({
  max: MOST_KEPT_KEYS,
  memoMethod: secret => ({
    single: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(keyOfSecret(secret)),
  }),
})

const standardSignature = (key: KeyObject, prefix: string, body: Uint8Array): string =>
  `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`

/** In the form of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export type WebhookSecret = {
  readonly text: string
  /** When it stops signing, epoch milliseconds; null for the newest. */
  readonly expiresAtMs: number | null
}

const PREFIX = 'whsec_'

/** The length of an HMAC-SHA256; more adds nothing. */
const SECRET_BYTES = 32

export const createWebhookSecret = (drawBytes: RandomBytes): string =>
  PREFIX + Buffer.from(drawBytes(SECRET_BYTES)).toString('base64')

/** The bytes after the prefix: the key of Standard Webhooks. */
export function keyOfSecret(text: string): Buffer {
  const key = Buffer.from(text.slice(PREFIX.length), 'base64')
  if (!text.startsWith(PREFIX) || key.length !== SECRET_BYTES)
    throw new Error(`a webhook secret is ${PREFIX} and ${SECRET_BYTES} bytes in base64: create a new one`)
  return key
}

/** The texts of the secrets that sign at `nowMs`, newest first. */
export const liveSecrets = (secrets: readonly WebhookSecret[], nowMs: number): readonly string[] =>
  secrets.filter(secret => isLive(secret, nowMs)).map(({ text }) => text)

/**
 * The secrets after a rotation: `text` is the newest, and the others sign for `overlapMs` more, or as long as they
 * had left. An overlap of 0 retires them at once, as after a leak.
 */
export function rotateSecrets(
  secrets: readonly WebhookSecret[],
  text: string,
  nowMs: number,
  overlapMs: number = SECRET_OVERLAP_MS,
): readonly WebhookSecret[] {
  const endMs = nowMs + overlapMs
  const older = secrets
    .map(secret => ({ ...secret, expiresAtMs: Math.min(secret.expiresAtMs ?? endMs, endMs) }))
    .filter(secret => isLive(secret, nowMs))
  if (older.length >= MOST_LIVE_SECRETS)
    throw new ApiError(
      'conflict',
      `${older.length} secrets of this webhook sign already, and ${MOST_LIVE_SECRETS} are the most: wait until one ` +
        'expires, or rotate without an overlap',
    )
  return [{ text, expiresAtMs: null }, ...older]
}

const isLive = ({ expiresAtMs }: WebhookSecret, nowMs: number): boolean =>
  expiresAtMs === null || nowMs < expiresAtMs
