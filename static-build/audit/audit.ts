// What is published, held to what it says of itself: the log, its signatures, and versions to the last file. The
// publisher audits a store, a subscriber a service over HTTP: they differ in the reader and in what they forgive.
import type { Progress } from '#core/progress.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { type Publication, publicationsOf } from '#storage/publications.ts'
import { auditKeys, type Trust } from './audit-keys.ts'
import { type AuditedEntry, auditHead, auditLog } from './audit-log.ts'
import { auditProgram } from './audit-program.ts'
import { auditSignatures } from './audit-signatures.ts'
import { auditSnapshot } from './audit-snapshot.ts'
import { auditVersion } from './audit-version.ts'
import { type Check, type Fault, faultAt, toCheck } from './check.ts'
import { manifestPlace } from './places.ts'
import type { PublicReader } from './reader.ts'
import type { Keyring, TrustedKey } from './trusted-keys.ts'

export type AuditOrder = {
  readonly reader: PublicReader
  readonly trust: Trust
  /** The time of day, epoch milliseconds. */
  readonly nowMs: number
  /** Which versions are read whole: the served one, all that are there, or the one that is named. */
  readonly versions: 'served' | 'all' | { readonly version: string }
  /** Whether a log that nobody signed is a fault. */
  readonly isUnsignedFault: boolean
  /** Whether a newest entry that expired is a fault. */
  readonly isExpiryFault: boolean
  /** Where the snapshots lie, and whether somebody named it; null where only what is public is audited. */
  readonly privateStore: { readonly store: ObjectStore; readonly isNamed: boolean } | null
  readonly progress: Progress
}

export type Audit = {
  /** The newest entry; null where none could be read. */
  readonly head: AuditedEntry | null
  /** The keys with which signatures were verified. */
  readonly trusted: readonly TrustedKey[]
  readonly checks: readonly Check[]
}

/** Audits what is published. Every fault is found in one run; it rejects where the program itself is at fault. */
export async function audit(order: AuditOrder): Promise<Audit> {
  const { reader, nowMs, isUnsignedFault, isExpiryFault, progress } = order
  const { keyring, check: keys } = await auditKeys(reader, order.trust)
  const { trusted } = keyring
  const { entries, check: log } = await auditLog(reader, progress)
  const head = entries.at(-1) ?? null
  if (head === null) return { head, trusted, checks: [keys, log] }
  const newest = auditHead(reader, head, nowMs, isExpiryFault)
  const { check: signatures, signedFrom } = await auditSignatures(reader, keyring, entries, isUnsignedFault)
  const versions = await auditVersions(order, keyring, entries, signedFrom)
  return { head, trusted, checks: [keys, log, newest, signatures, ...versions] }
}

/** All faults of an audit. */
export const faultsIn = ({ checks }: Audit): readonly Fault[] => checks.flatMap(({ faults }) => faults)

async function auditVersions(
  order: AuditOrder,
  keyring: Keyring,
  entries: readonly AuditedEntry[],
  signedFrom: number | null,
): Promise<readonly Check[]> {
  const { reader, versions } = order
  const chosen = publicationsOf(entries).filter(each => isChosen(each, versions))
  if (chosen.length === 0 && typeof versions === 'object') return [neverPublished(reader, versions.version)]
  const checks: Check[] = []
  for (const publication of chosen) {
    const publishedBy = entries.find(({ entry }) => entry.version === publication.version)
    const isSigned = signedFrom !== null && publishedBy !== undefined && publishedBy.entry.seq >= signedFrom
    checks.push(...(await checksOf(order, keyring, publication, isSigned)))
  }
  return checks
}

const isChosen = (publication: Publication, versions: AuditOrder['versions']): boolean =>
  versions === 'all' ||
  (versions === 'served' ? publication.is_served : publication.version === versions.version)

async function checksOf(
  { reader, versions, privateStore, progress }: AuditOrder,
  keyring: Keyring,
  publication: Publication,
  isSigned: boolean,
): Promise<readonly Check[]> {
  const isDemanded = publication.is_served || versions !== 'all'
  const order = { reader, keyring, publication, isSigned, isDemanded, progress }
  const { checks, manifest } = await auditVersion(order)
  if (manifest === null || privateStore === null) return checks
  const snapshot = await auditSnapshot(privateStore.store, manifest, privateStore.isNamed)
  if (snapshot.notes.length > 0) return [...checks, snapshot] // another store has what is private
  const program = await auditProgram(privateStore.store, manifest)
  return program === null ? [...checks, snapshot] : [...checks, snapshot, program]
}

function neverPublished(reader: PublicReader, version: string): Check {
  const fault = faultAt(
    reader,
    manifestPlace(version),
    'missing',
    'is of a version that no entry of the log names',
  )
  return toCheck('manifest', version, 'never published', [fault])
}
