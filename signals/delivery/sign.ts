// What a delivery says beside its body: two signatures, and where it stands in the client's sequence.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { keyOfSecret } from './webhook-secret.ts'

/** Which of several live secrets makes `X-Signature`, which has room for one only. */
export type SingleSignature = 'newest' | 'oldest'

export type Delivery = {
  /** The exact bytes of the log. */
  readonly body: Uint8Array
  /** The `signal_id`: the same at every attempt, so that a receiver can de-duplicate on it. */
  readonly id: string
  readonly seq: number
  /** The last number that this client was sent before, 0 for none. */
  readonly prevSeq: number
  /** From 1. */
  readonly attempt: number
  readonly sentAtMs: number
}

export type Signing = {
  /** The texts of the live secrets, newest first, at least one. */
  readonly secrets: readonly string[]
  /**
   * Newest from the moment of the rotation, unless the subscriber asked for the oldest: then it changes when that one
   * expires.
   */
  readonly single: SingleSignature
}

const USER_AGENT = 'Highwater-Webhooks/1'

/**
 * The headers of a delivery. `X-Signature` is `sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the secret as
 * it was shown, every character of it, which is how GitHub's receivers do it. `webhook-signature` is that of Standard
 * Webhooks, keyed with the 32 bytes behind `whsec_`: one `v1,` per live secret, over id, time and body.
 */
export function signedHeaders(delivery: Delivery, { secrets, single }: Signing): Record<string, string> {
  const { body, id, seq, prevSeq, attempt, sentAtMs } = delivery
  const all = secrets.map(keysOf)
  const one = single === 'newest' ? all[0] : all.at(-1)
  if (one === undefined) throw new Error('a delivery needs a secret to sign it: create one for this webhook')
  const timestamp = String(Math.floor(sentAtMs / 1000))
  const prefix = `${id}.${timestamp}.`
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-signature': `sha256=${createHmac('sha256', one.single).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': all.map(({ standard }) => standardSignature(standard, prefix, body)).join(' '),
    'x-signal-seq': String(seq),
    'x-prev-seq': String(prevSeq),
    'x-attempt': String(attempt),
    'x-sent-at': new Date(sentAtMs).toISOString(),
  }
}

/** The two keys that a secret is. */
type Keys = { readonly single: KeyObject; readonly standard: KeyObject }

/** Secrets whose keys are kept: to make a key takes several times as long as to sign with it. */
const MOST_KEPT_KEYS = 4096

/** A memory of a pure function: a secret is the same two keys for ever. */
const KEPT_KEYS = new LRUCache<string, Keys>({ max: MOST_KEPT_KEYS })

function keysOf(secret: string): Keys {
  const known = KEPT_KEYS.get(secret)
  if (known !== undefined) return known
  const keys = toKeys(secret)
  KEPT_KEYS.set(secret, keys)
  return keys
}

const toKeys = (secret: string): Keys => ({
  single: createSecretKey(secret, 'utf8'),
  standard: createSecretKey(keyOfSecret(secret)),
})

const standardSignature = (key: KeyObject, prefix: string, body: Uint8Array): string =>
  `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`
