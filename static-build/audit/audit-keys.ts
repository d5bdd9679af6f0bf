import { publicKeys } from '#core/contract/public-keys.ts'
import { parseJson } from '#storage/parse-json.ts'
import { fingerprintOf, isSignedBy, keyIdOf, parsePublicKeyPem } from '#storage/signature.ts'
import { absenceOf, type Check, type Fault, faultAt, toCheck } from './check.ts'
import { keysPlace, type PublicReader, tryRead } from './reader.ts'

export type TrustedKey = NonNullable<ReturnType<typeof parsePublicKey>>

/** The keys that an audit accepts, and those that it only uses to name the signer. */
export type Keyring = { readonly trusted: readonly TrustedKey[]; readonly published: readonly TrustedKey[] }

/** A public key from its PEM form, or null if the text is not an Ed25519 public key. */
export function parsePublicKey(pem: string) {
  const key = parsePublicKeyPem(pem)
  if (key === null) return null
  /** The id is the beginning of the fingerprint, the SHA-256 of the DER form. */
  return { id: keyIdOf(key), fingerprint: fingerprintOf(key), pem }
}

/** The trusted key that made a signature; null if none of them did. */
export const signerOf = (
  keys: readonly TrustedKey[],
  bytes: Uint8Array,
  signature: Uint8Array,
): TrustedKey | null => keys.find(({ pem }) => isSignedBy(pem, bytes, signature)) ?? null

export type Trust =
  /** All keys published beside the versions: an attacker who can forge a version can add a key too. */
  | { readonly kind: 'published' }
  /** Keys whose fingerprint begins with one of these digits. */
  | { readonly kind: 'fingerprints'; readonly fingerprints: readonly string[] }
  /** These, whatever is published. */
  | { readonly kind: 'keys'; readonly keys: readonly TrustedKey[] }

export async function auditKeys(
  reader: PublicReader,
  trust: Trust,
): Promise<{ readonly keyring: Keyring; readonly check: Check }> {
  const { keys: published, faults } = await readPublishedKeys(reader)
  const { trusted, unknown } = choose(published, trust)
  const absent = unknown.map(digits =>
    faultAt(reader, keysPlace, 'missing', `has no key whose fingerprint begins with ${digits}`),
  )
  const ids = trusted.map(({ id }) => id).join(' and ')
  const how = trust.kind === 'published' ? 'as it is published there' : 'pinned'
  const summary = trusted.length === 0 ? 'no public key' : `${ids}, ${how}`
  return { keyring: { trusted, published }, check: toCheck('keys', null, summary, [...faults, ...absent]) }
}

function choose(published: readonly TrustedKey[], trust: Trust) {
  if (trust.kind === 'keys') return { trusted: trust.keys, unknown: [] }
  if (trust.kind === 'published') return { trusted: published, unknown: [] }
  const isOf = (key: TrustedKey, digits: string): boolean => key.fingerprint.startsWith(digits)
  return {
    trusted: published.filter(key => trust.fingerprints.some(digits => isOf(key, digits))),
    unknown: trust.fingerprints.filter(digits => !published.some(key => isOf(key, digits))),
  }
}

/** The keys that are published beside the versions; none if nothing is signed. */
async function readPublishedKeys(
  reader: PublicReader,
): Promise<{ readonly keys: readonly TrustedKey[]; readonly faults: readonly Fault[] }> {
  const found = await tryRead(reader, keysPlace)
  if (found === null) return { keys: [], faults: [] }
  if (!(found instanceof Uint8Array)) return { keys: [], faults: [absenceOf(reader, keysPlace, found)] }
  const parsed = publicKeys.safeParse(parseJson(found))
  const said = parsed.data?.keys ?? []
  // An auditor looks keys up by their ids.
  const known = said.flatMap(({ id, public_key_pem }) => {
    const key = parsePublicKey(public_key_pem)
    return key?.id === id ? [key] : []
  })
  if (parsed.success && known.length === said.length) return { keys: known, faults: [] }
  return {
    keys: known,
    faults: [faultAt(reader, keysPlace, 'of another form', 'is no list of Ed25519 keys with their ids')],
  }
}
