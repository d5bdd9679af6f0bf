import { fingerprintOf, isSignedBy, keyIdOf, parsePublicKeyPem } from '#storage/signature.ts'

/** A key with which signatures are verified. */
export type TrustedKey = {
  readonly id: string
  /** The whole SHA-256 of the DER form, of which the id is the beginning. */
  readonly fingerprint: string
  readonly pem: string
}

/** The keys that an audit accepts, and those that it only uses to name the signer. */
export type Keyring = { readonly trusted: readonly TrustedKey[]; readonly published: readonly TrustedKey[] }

/** A public key from its PEM form, or null if the text is not an Ed25519 public key. */
export function parsePublicKey(pem: string): TrustedKey | null {
  const key = parsePublicKeyPem(pem)
  if (key === null) return null
  return { id: keyIdOf(key), fingerprint: fingerprintOf(key), pem }
}

/** The trusted key that made a signature; null if none of them did. */
export const signerOf = (
  keys: readonly TrustedKey[],
  bytes: Uint8Array,
  signature: Uint8Array,
): TrustedKey | null => keys.find(({ pem }) => isSignedBy(pem, bytes, signature)) ?? null
