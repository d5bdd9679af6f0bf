import pMap from 'p-map'
import { KEYS_KEY, publicKeys } from '#core/contract/file-routes.ts'
import { signatureKey } from '#core/contract/pointer.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { StoreError } from '#storage/object-store.ts'
import { isSignedBy, parsePublicKey } from '#storage/signature.ts'
import type { AuditedEntry } from './audit-log.ts'
import { absenceOf, type Fault, faultAt, toCheck } from './check.ts'
import { entryPlace, type Place, type PublicReader, placeOf, tryRead } from './reader.ts'

export type TrustedKey = NonNullable<ReturnType<typeof parsePublicKey>>

/** The keys that an audit accepts, and those that it only uses to name the signer. */
export type Keyring = { readonly trusted: readonly TrustedKey[]; readonly published: readonly TrustedKey[] }

/** The key that made a signature; null if none of them did. */
const signerOf = (keys: readonly TrustedKey[], bytes: Uint8Array, signature: Uint8Array): TrustedKey | null =>
  keys.find(({ pem }) => isSignedBy(pem, bytes, signature)) ?? null

export type Trust =
  /** All keys published beside the versions: an attacker who can forge a version can add a key too. */
  | { readonly kind: 'published' }
  /** Keys whose fingerprint begins with one of these digits. */
  | { readonly kind: 'fingerprints'; readonly fingerprints: readonly string[] }
  /** These, whatever is published. */
  | { readonly kind: 'keys'; readonly keys: readonly TrustedKey[] }

export async function auditKeys(reader: PublicReader, trust: Trust) {
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

const keysPlace = placeOf(KEYS_KEY)

/** The keys that are published beside the versions; none if nothing is signed. */
async function readPublishedKeys(reader: PublicReader) {
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
  const fault = faultAt(reader, keysPlace, 'of another form', 'is no list of Ed25519 keys with their ids')
  return { keys: known, faults: parsed.success && known.length === said.length ? [] : [fault] }
}

const READS_AT_ONCE = 16

/** The result of checking a signature: its key, or what is wrong with it; neither if there is none. */
type Verdict = { readonly keyId: string | null; readonly fault: Fault | null }

/** Reads a signature and verifies it under the trusted keys. `of` is the object whose bytes are signed. */
export async function verdictOn(
  reader: PublicReader,
  keyring: Keyring,
  of: Place,
  bytes: Uint8Array,
  signaturePlace: Place,
): Promise<Verdict> {
  const signature = await tryRead(reader, signaturePlace)
  if (signature === null) return { keyId: null, fault: null }
  if (signature instanceof StoreError)
    return { keyId: null, fault: absenceOf(reader, signaturePlace, signature) }
  const key = signerOf(keyring.trusted, bytes, signature)
  if (key !== null) return { keyId: key.id, fault: null }
  const why = wrongSigner(keyring, bytes, signature)
  return { keyId: null, fault: faultAt(reader, of, 'wrongly signed', why) }
}

function wrongSigner({ trusted, published }: Keyring, bytes: Uint8Array, signature: Uint8Array): string {
  const other = signerOf(published, bytes, signature)
  if (other !== null)
    return `is signed with the key ${other.id}, which is none of those that are trusted here: name it too if you trust it`
  if (trusted.length === 0) return 'is signed, and no public key is there to verify it with'
  return `has a signature that is not of its bytes under the key ${trusted.map(({ id }) => id).join(' or ')}`
}

/**
 * The signature of every entry. Entries before the first signed one need none: they were written before
 * signing began, and the chain ties them to the signed ones. If nothing is signed at all, that is a note, or
 * a fault: always a fault if a key is published, because keys are published to sign with them. `signedFrom`
 * is the number of the first entry with a signature; null if there is none.
 */
export async function auditSignatures(
  reader: PublicReader,
  keyring: Keyring,
  entries: readonly AuditedEntry[],
  isUnsignedFault: boolean,
) {
  const verdicts = await pMap(
    entries,
    ({ entry, sha256, bytes }) =>
      verdictOn(reader, keyring, entryPlace(entry.seq), bytes, placeOf(signatureKey(sha256))),
    { concurrency: READS_AT_ONCE },
  )
  const signers = verdicts.flatMap(({ keyId }) => keyId ?? [])
  const first = verdicts.findIndex(({ keyId, fault }) => (keyId ?? fault) !== null)
  if (first === -1) {
    const isFault = isUnsignedFault || keyring.published.length > 0
    return { check: nothingSigned(reader, entries, isFault), signedFrom: null }
  }
  const faults = verdicts.flatMap((verdict, i) => faultsOf(reader, entries[i]!, verdict, i > first))
  const ids = [...new Set(signers)].join(' and ')
  const summary = `${signers.length} of ${entries.length} entries signed with ${ids || 'no trusted key'}`
  const older = `the first ${first} entries are older than the first signature; the chain ties them to what is signed`
  const notes = first === 0 ? [] : [older]
  return { check: toCheck('signatures', null, summary, faults, notes), signedFrom: entries[first]!.entry.seq }
}

function faultsOf(reader: PublicReader, { entry }: AuditedEntry, verdict: Verdict, mustBe: boolean): Fault[] {
  if (verdict.fault !== null) return [verdict.fault]
  if (verdict.keyId !== null || !mustBe) return []
  const rest =
    'has no signature under the digest of its bytes, though an entry before it has: it was altered or forged'
  return [faultAt(reader, entryPlace(entry.seq), 'unsigned', rest)]
}

function nothingSigned(reader: PublicReader, entries: readonly AuditedEntry[], isUnsignedFault: boolean) {
  const summary = 'nothing is signed: digests and the chain show accidents, but not who wrote them'
  const newest = entries.at(-1)
  if (!isUnsignedFault || newest === undefined) return toCheck('signatures', null, summary, [], [summary])
  const rest = 'has no signature, nor has any entry: nothing proves who published it'
  const fault = faultAt(reader, entryPlace(newest.entry.seq), 'unsigned', rest)
  return toCheck('signatures', null, summary, [fault])
}
