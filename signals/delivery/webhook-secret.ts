// The secrets that sign a client's deliveries: one, or several while a subscriber changes over.
import { MOST_LIVE_SECRETS, SECRET_OVERLAP_MS } from './policy.ts'
import type { RandomBytes } from './secret-box.ts'

/** In the form of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export type WebhookSecret = {
  readonly text: string
  /** From when on it signs no more, epoch milliseconds; null for the newest. */
  readonly expiresAtMs: number | null
}

const PREFIX = 'whsec_'

/** As long as the digest of its HMAC: longer adds nothing. */
const SECRET_BYTES = 32

export const createWebhookSecret = (drawBytes: RandomBytes): string =>
  PREFIX + Buffer.from(drawBytes(SECRET_BYTES)).toString('base64')

/** The bytes behind the prefix: the key that Standard Webhooks signs with. */
export function keyOfSecret(text: string): Buffer {
  const key = Buffer.from(text.slice(PREFIX.length), 'base64')
  if (!text.startsWith(PREFIX) || key.length !== SECRET_BYTES) {
    throw new Error(`a webhook secret is ${PREFIX} and ${SECRET_BYTES} bytes in base64: create a new one`)
  }
  return key
}

/** The texts of those that sign at `nowMs`, newest first. */
export const liveSecrets = (secrets: readonly WebhookSecret[], nowMs: number): readonly string[] =>
  secrets.filter(secret => isLive(secret, nowMs)).map(({ text }) => text)

/**
 * The secrets after a rotation: `text` is the newest, and the others sign for `overlapMs` more, or for as long as they had
 * left. An overlap of 0 retires them at once, as after a leak.
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
  if (older.length >= MOST_LIVE_SECRETS) {
    throw new Error(
      `${older.length} secrets of this webhook sign already, and ${MOST_LIVE_SECRETS} are the most: wait until one ` +
        'expires, or rotate without an overlap',
    )
  }
  return [{ text, expiresAtMs: null }, ...older]
}

const isLive = ({ expiresAtMs }: WebhookSecret, nowMs: number): boolean =>
  expiresAtMs === null || nowMs < expiresAtMs
