import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { type PublicKeys, publicKeys } from '#core/contract/public-keys.ts'
import { toJsonBytes } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'
import { parseJson } from './parse-json.ts'
import { keyIdOf, parsePublicKeyPem, type Signer } from './signature.ts'

/**
 * The public keys that are published, oldest first; none if nothing was signed. Throws if the object is
 * damaged, or holds a key under the name of another.
 */
export async function readKeys(store: ObjectStore): Promise<PublicKeys['keys']> {
  const bytes = await store.read(KEYS_KEY)
  if (bytes === null) return []
  const parsed = publicKeys.safeParse(parseJson(bytes))
  if (parsed.success && parsed.data.keys.every(isKey)) return parsed.data.keys
  throw new Error(
    `${store.url}/${KEYS_KEY} is no list of Ed25519 public keys with their ids: restore it from a copy, and run the ` +
      'command again',
  )
}

function isKey({ id, public_key_pem }: PublicKeys['keys'][number]): boolean {
  const key = parsePublicKeyPem(public_key_pem)
  return key !== null && keyIdOf(key) === id
}

/**
 * Makes sure that the public key of a signer is among those that are published. Keys are added and never
 * dropped: an old signature has to be verifiable for as long as its version is. To be called by one process
 * at a time, because two that read the same list would each write it without the key of the other: a process
 * that appends to the log holds its lock.
 */
export async function publishKey(store: ObjectStore, { keyId, publicKeyPem }: Signer): Promise<void> {
  const known = await readKeys(store)
  if (known.some(({ id }) => id === keyId)) return
  const added = { id: keyId, algorithm: 'Ed25519' as const, public_key_pem: publicKeyPem }
  await store.replace(KEYS_KEY, toJsonBytes({ keys: [...known, added] } satisfies PublicKeys), {
    content_type: 'application/json; charset=utf-8',
    cache_control: 'max-age=3600',
  })
}
