// Checks a published store against its own log, signatures and manifests, down to the last file. The
// publisher audits a store, a subscriber a service over HTTP: they differ in the reader and in what they
// forgive.
import { privateKey, type VersionDocument, versionFolder } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { PROGRAM_INDEX, programFileName, programIndex } from '#core/contract/program-files.ts'
import type { Progress } from '#core/progress.ts'
import { sha256 } from '#storage/digest.ts'
import { SERVED_KEY, servedLine } from '#storage/nginx-files.ts'
import { type ObjectStore, StoreError } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { hintOf, INDEX_KEY, leadTo } from '#storage/pointer-log.ts'
import { type Publication, publicationsOf } from '#storage/publications.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { auditNames, auditStamps, auditTimes } from './audit-clock.ts'
import { auditFiles } from './audit-files.ts'
import { auditKeys, type Trust } from './audit-keys.ts'
import { type AuditedEntry, auditHead, auditLog } from './audit-log.ts'
import { auditSignatures, verdictOn } from './audit-signatures.ts'
import { type Check, demand, type Fault, faultAt, toCheck } from './check.ts'
import { documentPlace, manifestPlace, manifestSignaturePlace } from './places.ts'
import { attempt, createStoreReader, type PublicReader, tryRead } from './reader.ts'
import type { Keyring, TrustedKey } from './trusted-keys.ts'

export type AuditOrder = {
  readonly reader: PublicReader
  readonly trust: Trust
  /** The time of day, epoch milliseconds. */
  readonly nowMs: number
  /** Which versions are read whole: the served one, all that are there, or the one that is named. */
  readonly versions: 'served' | 'all' | { readonly version: string }
  readonly isUnsignedFault: boolean
  /** Whether a newest entry that expired is a fault. */
  readonly isExpiryFault: boolean
  /** The store of the snapshots, and whether it was named; null if only public files are audited. */
  readonly privateStore: { readonly store: ObjectStore; readonly isNamed: boolean } | null
  /** The certificate of an authority that time-stamps entries; without it, no time stamp is read. */
  readonly tsaCa?: string | null
  readonly progress: Progress
}

export type Audit = {
  /** The newest entry; null if none could be read. */
  readonly head: AuditedEntry | null
  /** The keys with which signatures were verified. */
  readonly trusted: readonly TrustedKey[]
  readonly checks: readonly Check[]
}

/** Audits a published store. Finds every fault in one run; rejects only on an error of the program itself. */
export async function audit(order: AuditOrder): Promise<Audit> {
  const { reader, nowMs, isUnsignedFault, isExpiryFault, progress } = order
  const { keyring, check: keys } = await auditKeys(reader, order.trust)
  const { trusted } = keyring
  const { entries, check: log } = await auditLog(reader, progress)
  const head = entries.at(-1) ?? null
  if (head === null) return { head, trusted, checks: [keys, log] }
  const newest = auditHead(reader, head, nowMs, isExpiryFault)
  const stamps = order.tsaCa == null ? [] : [await auditStamps(reader, entries, order.tsaCa)]
  const { check: signatures, signedFrom } = await auditSignatures(reader, keyring, entries, isUnsignedFault)
  const versions = await auditVersions(order, keyring, entries, signedFrom)
  const derived = reader.hasTwins ? [await auditDerived(reader, entries)] : []
  const ofLog = [keys, log, ...auditNames(entries), ...stamps, newest, signatures, ...derived]
  return { head, trusted, checks: [...ofLog, ...versions] }
}

export const faultsIn = ({ checks }: Audit): readonly Fault[] => checks.flatMap(({ faults }) => faults)

/** What a publisher derives from an entry of the log and may write again at any time, each with its bytes. */
const DERIVED: Readonly<Record<string, (of: AuditedEntry) => Uint8Array>> = {
  [CURRENT_KEY]: ({ entry }) => hintOf(entry),
  [INDEX_KEY]: ({ entry }) => new TextEncoder().encode(leadTo(entry.version)),
  [SERVED_KEY]: ({ entry }) => new TextEncoder().encode(servedLine(entry.version)),
}

/**
 * Checks in a store what is derived from its log. Each must be of the newest entry. A publisher that was killed leaves one
 * of an older entry, or none, until the next command or the tier writes it again: a note.
 */
async function auditDerived(reader: PublicReader, entries: readonly AuditedEntry[]): Promise<Check> {
  const faults: Fault[] = []
  const notes: string[] = []
  for (const [key, bytesOf] of Object.entries(DERIVED)) {
    const place = { key, path: key, mostBytes: 1 << 20 }
    const found = await tryRead(reader, place)
    if (!(found instanceof Uint8Array)) continue
    const of = entries.findLast(each => Buffer.compare(bytesOf(each), found) === 0)
    const rest = 'is not what the log gives: `highwater refresh` writes it again'
    if (of === undefined) faults.push(faultAt(reader, place, 'altered', rest))
    else if (Buffer.compare(bytesOf(entries.at(-1)!), found) !== 0)
      notes.push(
        `${key} is of entry ${of.entry.seq}, not of the newest: the next command or the service writes it again`,
      )
  }
  return toCheck('derived', null, 'what is derived from the log names its newest entry', faults, notes)
}

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
    checks.push(...(await checksOf(order, keyring, entries, publication, isSigned)))
  }
  return checks
}

const isChosen = (publication: Publication, versions: AuditOrder['versions']): boolean =>
  versions === 'all' ||
  (versions === 'served' ? publication.is_served : publication.version === versions.version)

async function checksOf(
  { reader, versions, privateStore, progress }: AuditOrder,
  keyring: Keyring,
  entries: readonly AuditedEntry[],
  publication: Publication,
  isSigned: boolean,
): Promise<readonly Check[]> {
  const isDemanded = publication.is_served || versions !== 'all'
  const order = { reader, keyring, publication, isSigned, isDemanded, progress }
  const { checks: ofVersion, manifest } = await auditVersion(order)
  if (manifest === null) return ofVersion
  const checks = [...ofVersion, ...(await auditTimes(reader, manifest, publication, entries))]
  if (privateStore === null) return checks
  const snapshot = await auditSnapshot(privateStore.store, manifest, privateStore.isNamed)
  if (snapshot.notes.length > 0) return [...checks, snapshot] // the private files are in another store
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

/** Checks the program files against their index, and that against the manifest; null without a program. */
async function auditProgram(
  privateStore: ObjectStore,
  { version, program_sha256 }: Manifest,
): Promise<Check | null> {
  if (program_sha256 === null) return null
  const indexKey = privateKey(version, PROGRAM_INDEX)
  const bytes = await readPrivate(privateStore, indexKey, program_sha256)
  if (isFault(bytes)) return toCheck('program', version, UNREADABLE, [bytes])
  const index = programIndex.safeParse(parseJson(bytes))
  if (!index.success) {
    const fault = privateFault(
      privateStore,
      indexKey,
      'of another form',
      'has another form: update the program',
    )
    return toCheck('program', version, UNREADABLE, [fault])
  }
  const { files } = index.data
  const found = await Promise.all(
    files.map(({ name, sha256 }) =>
      readPrivate(privateStore, privateKey(version, programFileName(name)), sha256),
    ),
  )
  const faults = found.filter(isFault)
  return toCheck('program', version, `${files.length + 1} private files of the program`, faults)
}

const UNREADABLE = 'its index cannot be read, so its files were not checked'

/**
 * A version to be audited: whether the entry that published it is one of those that are signed, and whether
 * the version must exist, as the served one must, and one that was requested by name.
 */
type VersionOrder = Pick<AuditOrder, 'reader' | 'progress'> & {
  readonly keyring: Keyring
  readonly publication: Publication
  readonly isSigned: boolean
  readonly isDemanded: boolean
}

/**
 * A version from its manifest to the last of its files. A manifest that is gone means that the version was
 * removed, unless it must exist: `prune` removes the manifest first, and the remaining files are not served.
 * `manifest` is null if the version was removed, or its manifest is not the published one.
 */
async function auditVersion(order: VersionOrder) {
  const { reader, publication, isDemanded, progress } = order
  const { version } = publication
  const place = manifestPlace(version)
  if (!isDemanded && (await tryRead(reader, place)) === null)
    return { checks: [await removed(order)], manifest: null }
  const bytes = await demand(reader, place)
  if (!(bytes instanceof Uint8Array)) return failed(version, [bytes])
  const found = await findManifest({ read: async () => bytes }, publication)
  if (found.fault !== null) return failed(version, [faultAt(reader, place, found.fault, found.what)])
  const { manifest } = found
  if (!isOwnFiles(manifest)) {
    return failed(version, [faultAt(reader, place, 'of another form', 'names files outside of its version')])
  }
  const checks = [
    await checkSignature(order, bytes),
    await auditDocuments(reader, manifest),
    await auditFiles(reader, manifest, progress),
  ]
  return { checks, manifest }
}

/** Before its signature is checked, an attacker may have written it and so chosen what is requested. */
const isOwnFiles = ({ version, artifacts }: Manifest): boolean =>
  artifacts.every(({ key, url }) => key.startsWith(`${versionFolder(version)}/`) && url.startsWith('/v1/'))

const failed = (version: string, faults: readonly Fault[]) => ({
  checks: [
    toCheck('manifest', version, 'its manifest cannot be read, so its files were not checked', faults),
  ],
  manifest: null,
})

/** A removal that was interrupted leaves files, which the next `prune` takes. */
async function removed({ reader, publication: { version } }: VersionOrder): Promise<Check> {
  const rest = await tryRead(reader, documentPlace(version, 'SHA256SUMS'))
  const notes =
    rest === null
      ? []
      : [
          `files of ${version} are left without its manifest: \`highwater prune\` removes them; if the version was not removed on purpose, restore the manifest from a copy`,
        ]
  return toCheck('manifest', version, 'removed', [], notes)
}

async function checkSignature(order: VersionOrder, bytes: Uint8Array): Promise<Check> {
  const { reader, keyring, isSigned, publication } = order
  const { version } = publication
  const place = manifestPlace(version)
  const verdict = await verdictOn(reader, keyring, place, bytes, manifestSignaturePlace(version))
  const summary = (how: string) => `the manifest is the one in the log, ${how}`
  if (verdict.kind === 'signed')
    return toCheck('manifest', version, summary(`signed with ${verdict.keyId}`), [])
  if (verdict.kind === 'fault')
    return toCheck('manifest', version, summary('wrongly signed'), [verdict.fault])
  const fault = faultAt(
    reader,
    place,
    'unsigned',
    'has no signature, though the entry that published it has one',
  )
  return toCheck('manifest', version, summary('not signed'), isSigned ? [fault] : [])
}

/** Checks every object of a version, public and private, against its manifest alone. */
export async function auditFilesOf(
  store: ObjectStore,
  privateStore: ObjectStore,
  manifest: Manifest,
  progress: Progress,
): Promise<readonly Check[]> {
  const reader = createStoreReader(store)
  const program = await auditProgram(privateStore, manifest)
  return [
    await auditDocuments(reader, manifest),
    await auditFiles(reader, manifest, progress),
    await auditSnapshot(privateStore, manifest, true),
    ...(program === null ? [] : [program]),
  ]
}

/** Checks the documents of a version against the digests in its manifest. */
async function auditDocuments(reader: PublicReader, manifest: Manifest): Promise<Check> {
  const names = Object.keys(manifest.documents) as VersionDocument[] // the schema knows no others
  const found = await Promise.all(names.map(name => faultOf(reader, manifest, name)))
  const faults = found.filter(fault => fault !== null)
  return toCheck('documents', manifest.version, `${names.join(', ')} as published`, faults)
}

async function faultOf(
  reader: PublicReader,
  { version, documents }: Manifest,
  name: VersionDocument,
): Promise<Fault | null> {
  const place = documentPlace(version, name)
  const bytes = await demand(reader, place)
  if (!(bytes instanceof Uint8Array)) return bytes
  return sha256(bytes) === documents[name]
    ? null
    : faultAt(reader, place, 'altered', 'is altered: the manifest names another')
}

/**
 * Checks the private snapshot of a version, and the record of its inputs, against the digests in its manifest. If the
 * private store was not named and has no file of the version, only a copy of the public store is audited: a note.
 */
async function auditSnapshot(
  privateStore: ObjectStore,
  { version, snapshot, inputs_sha256 }: Manifest,
  isNamed: boolean,
): Promise<Check> {
  const files = Object.entries(snapshot)
  if (inputs_sha256 !== null) files.push(['inputs.json', inputs_sha256]) // null if there was no key to salt it
  const found = await Promise.all(
    files.map(([name, digest]) => readPrivate(privateStore, privateKey(version, name), digest)),
  )
  const faults = found.filter(isFault)
  const isAbsent = files.length > 0 && faults.length === files.length && faults.every(isAway)
  if (isNamed || !isAbsent) return toCheck('snapshot', version, `${files.length} private files`, faults)
  const note = `the snapshot of ${version} is not in ${privateStore.url}, and was not looked at: name its store with --private-store`
  return toCheck('snapshot', version, 'not looked at', [], [note])
}

const isAway = ({ what }: Fault): boolean => what === 'missing' || what === 'unreadable'

const isFault = (found: Uint8Array | Fault): found is Fault => !(found instanceof Uint8Array)

/** Checks a private file: its bytes, or what is wrong with it. */
async function readPrivate(store: ObjectStore, key: string, digest: string): Promise<Uint8Array | Fault> {
  const bytes = await attempt(store.read(key))
  if (bytes === null) return privateFault(store, key, 'missing', 'is missing')
  if (bytes instanceof StoreError)
    return { object: `${store.url}/${key}`, what: 'unreadable', told: bytes.message }
  if (sha256(bytes) === digest) return bytes
  return privateFault(store, key, 'altered', 'is altered: its digest is not the one in the manifest')
}

function privateFault({ url }: ObjectStore, key: string, what: Fault['what'], rest: string): Fault {
  const object = `${url}/${key}`
  return { object, what, told: `${object} ${rest}` }
}
