// Secrets at rest: AES-256-GCM under a ring of keys from the environment.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import type { RandomBytes } from '../clients/token.ts'

/** Where a secret belongs; authenticated, so a secret copied to another client or field does not open. */
export type SealContext = { readonly client: string; readonly field: string }

export type SecretBox = ReturnType<typeof createSecretBox>

/** Keys by id; the first encrypts. */
export type KeyRing = ReadonlyMap<string, KeyObject>

/** A sealed text that cannot be opened. The message has neither text nor key. */
export class SealError extends Error {
  override readonly name = 'SealError'
}

const KEY_BYTES = 32
/** Random nonces of this size are safe for 2^32 secrets under one key. */
const NONCE_BYTES = 12
/** The full tag: a shorter one is easier to forge. */
const TAG_BYTES = 16

const FORM = 'v1'

/**
 * Parses `SECRET_KEY`: `id:base64` of 32 bytes, comma-separated, newest first. Throws an error that names the
 * position of an entry and none of its text: a forgotten id means that a key stands there.
 */
export function parseKeyRing(text: string): KeyRing {
  const ring = new Map<string, KeyObject>()
  for (const [i, entry] of text.split(',').entries()) {
    const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})$/.exec(entry.trim()) ?? []
    if (id === undefined || base64 === undefined)
      throw new Error(`${place(i)} is not of the form id:base64; ${REMEDY}`)
    const key = Buffer.from(base64, 'base64')
    if (key.length !== KEY_BYTES)
      throw new Error(`${place(i)} holds ${key.length} bytes and must hold ${KEY_BYTES}; ${REMEDY}`)
    if (ring.has(id))
      throw new Error(`${place(i)} has the id of an earlier one: give each key an id of its own`)
    ring.set(id, createSecretKey(key))
  }
  return ring
}

const place = (index: number): string => `SECRET_KEY: entry ${index + 1}`

const REMEDY =
  'make one with `echo "k1:$(openssl rand -base64 32)"`, and put a newer one in front, with a comma between'

/** Seals and opens with a ring. `drawBytes` must never return the same bytes twice. */
export function createSecretBox(ring: KeyRing, drawBytes: RandomBytes) {
  const [newestId, newest] = newestKey(ring)
  return {
    /** Encrypts with the first key of the ring. */
    seal(text: string, context: SealContext): string {
      const nonce = drawBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', newest, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(boundTo(newestId, context))
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${FORM}.${newestId}.${bytes.toString('base64url')}`
    },
    /** Decrypts with the key that sealed it. Throws SealError. */
    open(sealed: string, context: SealContext): string {
      const { keyId, bytes } = parseSealed(sealed)
      const key = ring.get(keyId)
      if (key === undefined)
        throw new SealError(
          `a secret is encrypted with the key ${keyId}, which SECRET_KEY lacks: add it after the newest`,
        )
      return decrypt(key, bytes, boundTo(keyId, context))
    },
    /** False for secrets that `highwater ops rekey` has to seal again. Throws SealError if the text is not sealed. */
    isSealedByNewest: (sealed: string): boolean => parseSealed(sealed).keyId === newestId,
  }
}

/** The key that seals, with its id. */
export function newestKey(ring: KeyRing): readonly [id: string, key: KeyObject] {
  const [newest] = ring
  return newest! // a ring that was parsed has one
}

function parseSealed(sealed: string): { readonly keyId: string; readonly bytes: Buffer } {
  const [form, keyId, base64, ...more] = sealed.split('.')
  const bytes = Buffer.from(base64 ?? '', 'base64url')
  if (form !== FORM || keyId === undefined || more.length > 0 || bytes.length < NONCE_BYTES + TAG_BYTES)
    throw new SealError('a stored secret is not sealed: restore it, or set the secret again')
  return { keyId, bytes }
}

function decrypt(key: KeyObject, bytes: Buffer, aad: Uint8Array): string {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(aad)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // Only the tag can fail here.
    throw new SealError(
      'a secret cannot be decrypted: it was modified or moved, or SECRET_KEY has another key under its id',
    )
  }
}

/** JSON, because two contexts joined by a separator could be equal. */
const boundTo = (keyId: string, { client, field }: SealContext): Uint8Array =>
  Buffer.from(JSON.stringify([FORM, keyId, client, field]))
