import { KEYS_KEY } from '#core/contract/file-routes.ts'
import { type PublicKeys, publicKeys } from '#core/contract/public-keys.ts'
import { toJsonBytes } from './json-bytes.ts'
import type { ObjectStore } from './object-store.ts'
import type { Signer } from './signature.ts'

/**
 * Makes sure that the public key of a signer is among those that are published. Keys are added and never dropped: an
 * old signature has to be verifiable for as long as its version is.
 */
export async function publishKey(store: ObjectStore, signer: Signer): Promise<void> {
  const known = await readKeys(store)
  if (known.keys.some(({ id }) => id === signer.keyId)) return
  const keys = [
    ...known.keys,
    { id: signer.keyId, algorithm: 'Ed25519' as const, public_key_pem: signer.publicKeyPem },
  ]
  await store.replace(KEYS_KEY, toJsonBytes({ keys }), {
    content_type: 'application/json; charset=utf-8',
    cache_control: 'max-age=3600',
  })
}

async function readKeys(store: ObjectStore): Promise<PublicKeys> {
  const bytes = await store.read(KEYS_KEY)
  return bytes === null ? { keys: [] } : publicKeys.parse(JSON.parse(new TextDecoder().decode(bytes)))
}
