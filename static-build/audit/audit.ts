// Checks a published store against its own log, signatures and manifests, down to the last file. The
// publisher audits a store, a subscriber a service over HTTP: they differ in the reader and in what they
// forgive.
import pMap from 'p-map'
import { manifestSignatureKey, privateKey, versionFolder } from '#core/contract/artifacts.ts'
import { type Manifest, objectsOf } from '#core/contract/manifest.ts'
import { CURRENT_KEY } from '#core/contract/pointer.ts'
import { countProgress, type Progress } from '#core/progress.ts'
import { parseJson } from '#storage/json-bytes.ts'
import type { Described } from '#storage/measure.ts'
import { SERVED_KEY, servedLine } from '#storage/nginx-files.ts'
import type { ObjectStore, StoreError, Stores } from '#storage/object-store.ts'
import { hintOf, INDEX_KEY, leadTo, type Publication, publicationsOf } from '#storage/pointer-log.ts'
import { findManifest, PROGRAM_INDEX, programFileName, programIndex } from '#storage/published-files.ts'
import { auditNames, auditStamps, auditTimes } from './audit-clock.ts'
import { type AuditedEntry, auditHead, auditLog } from './audit-log.ts'
import { auditKeys, auditSignatures, type Keyring, type Trust, verdictOn } from './audit-signatures.ts'
import {
  absenceOf,
  type Check,
  demand,
  type Fault,
  faultAt,
  isFault,
  OTHER_DIGEST,
  toCheck,
} from './check.ts'
import {
  attempt,
  createStoreReader,
  documentPlace,
  filePlace,
  manifestPlace,
  type Place,
  type PublicReader,
  placeOf,
  tryRead,
} from './reader.ts'

export type AuditOrder = {
  readonly reader: PublicReader
  readonly trust: Trust
  readonly nowMs: number
  /** Which versions are read whole: the served one, all that are there, or the one that is named. */
  readonly versions: 'served' | 'all' | { readonly version: string }
  readonly isUnsignedFault: boolean
  readonly isExpiryFault: boolean
  /** The store of the snapshots, and whether it was named; null if only public files are audited. */
  readonly privateStore: { readonly store: ObjectStore; readonly isNamed: boolean } | null
  /** The certificate of an authority that time-stamps entries; without it, no time stamp is read. */
  readonly tsaCa?: string | null
  readonly progress: Progress
}

/** The newest entry, null if none could be read, the keys with which signatures were verified, and what was checked. */
export type Audit = Pick<Keyring, 'trusted'> & {
  readonly head: AuditedEntry | null
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

export const faultsIn = ({ checks }: Pick<Audit, 'checks'>): readonly Fault[] =>
  checks.flatMap(({ faults }) => faults)

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
    const place = placeOf(key)
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
  const chosen = publicationsOf(entries).filter(
    ({ version, is_served }) =>
      versions === 'all' || (versions === 'served' ? is_served : version === versions.version),
  )
  if (chosen.length === 0 && typeof versions === 'object') {
    const { version } = versions
    const rest = 'is of a version that no entry of the log names'
    const fault = faultAt(reader, manifestPlace(version), 'missing', rest)
    return [toCheck('manifest', version, 'never published', [fault])]
  }
  const checks: Check[] = []
  for (const publication of chosen) {
    const publishedBy = entries.find(({ entry }) => entry.version === publication.version)!
    const isSigned = signedFrom !== null && publishedBy.entry.seq >= signedFrom
    const isDemanded = publication.is_served || versions !== 'all'
    checks.push(...(await auditVersion(order, { keyring, entries, publication, isSigned, isDemanded })))
  }
  return checks
}

type Audited = {
  readonly keyring: Keyring
  readonly entries: readonly AuditedEntry[]
  readonly publication: Publication
  /** Whether the entry that published it is one of those that are signed. */
  readonly isSigned: boolean
  /** Whether it must exist, as the served one must, and one that was requested by name. */
  readonly isDemanded: boolean
}

/** A version to the last of its files. Without its manifest, which `prune` removes first, it was removed, or must exist. */
async function auditVersion(order: AuditOrder, audited: Audited): Promise<readonly Check[]> {
  const { reader, privateStore, progress } = order
  const { publication, isDemanded, entries } = audited
  const { version } = publication
  const place = manifestPlace(version)
  if (!isDemanded && (await tryRead(reader, place)) === null) return [await removed(reader, version)]
  const bytes = await demand(reader, place)
  if (isFault(bytes)) return [unreadable(version, bytes)]
  const found = await findManifest({ read: async () => bytes }, publication)
  if (found.fault !== null) return [unreadable(version, faultAt(reader, place, found.fault, found.what))]
  const { manifest } = found
  const outside = faultAt(reader, place, 'of another form', 'names files outside of its version')
  if (!isOwnFiles(manifest)) return [unreadable(version, outside)]
  return [
    await checkSignature(reader, audited, bytes),
    await auditDocuments(reader, manifest),
    await auditFiles(reader, manifest, progress),
    ...(await auditTimes(reader, manifest, publication, entries)),
    ...(privateStore === null ? [] : await auditPrivate(privateStore.store, manifest, privateStore.isNamed)),
  ]
}

/** Before its signature is checked, an attacker may have written it and so chosen what is requested. */
const isOwnFiles = ({ version, artifacts }: Manifest): boolean =>
  artifacts.every(({ key, url }) => key.startsWith(`${versionFolder(version)}/`) && url.startsWith('/v1/'))

const unreadable = (version: string, fault: Fault): Check =>
  toCheck('manifest', version, 'its manifest cannot be read, so its files were not checked', [fault])

/** A removal that was interrupted leaves files, which the next `prune` takes. */
async function removed(reader: PublicReader, version: string): Promise<Check> {
  const rest = await tryRead(reader, documentPlace(version, 'SHA256SUMS'))
  const note = `files of ${version} are left without its manifest: \`highwater prune\` removes them; if the version was not removed on purpose, restore the manifest from a copy`
  return toCheck('manifest', version, 'removed', [], rest === null ? [] : [note])
}

async function checkSignature(reader: PublicReader, audited: Audited, bytes: Uint8Array): Promise<Check> {
  const { keyring, isSigned, publication } = audited
  const { version } = publication
  const place = manifestPlace(version)
  const verdict = await verdictOn(reader, keyring, place, bytes, placeOf(manifestSignatureKey(version)))
  const check = (how: string, faults: readonly Fault[]): Check =>
    toCheck('manifest', version, `the manifest is the one in the log, ${how}`, faults)
  if (verdict.keyId !== null) return check(`signed with ${verdict.keyId}`, [])
  if (verdict.fault !== null) return check('wrongly signed', [verdict.fault])
  const rest = 'has no signature, though the entry that published it has one'
  return check('not signed', isSigned ? [faultAt(reader, place, 'unsigned', rest)] : [])
}

/** Checks every object of a version, public and private, against its manifest alone. */
export async function auditFilesOf({ store, privateStore }: Stores, manifest: Manifest, progress: Progress) {
  const reader = createStoreReader(store)
  return [
    await auditDocuments(reader, manifest),
    await auditFiles(reader, manifest, progress),
    ...(await auditPrivate(privateStore, manifest, true)),
  ]
}

/** An object that must exist, with a digest, and of a length if that is known. */
type Promised = Partial<Described> & { readonly place: Place; readonly sha256: string }

type Measure = (place: Place) => Promise<Described | null | StoreError>

/** Concurrent requests: enough to hide the latency of a distant service, few enough not to load it. */
const READS_AT_ONCE = 16

/** Larger objects are read one after another: the correlations of a large book are gigabytes. */
const LARGE_BYTES = 2 ** 26

/** What is wrong with objects. For one that cannot be read `measure` returns the error, or throws it, which ends the check. */
async function faultsOf(
  reader: PublicReader,
  promised: readonly Promised[],
  measure: Measure = place => attempt(reader.measure(place)),
): Promise<readonly Fault[]> {
  const check = async (each: Promised) => faultOf(reader, each, await measure(each.place))
  const { small = [], large = [] } = Object.groupBy(promised, ({ bytes = 0 }) =>
    bytes > LARGE_BYTES ? 'large' : 'small',
  )
  const found = [
    ...(await pMap(large, check, { concurrency: 1 })),
    ...(await pMap(small, check, { concurrency: READS_AT_ONCE })),
  ]
  return found.filter(fault => fault !== null)
}

function faultOf(
  reader: PublicReader,
  { place, bytes, sha256 }: Promised,
  found: Awaited<ReturnType<Measure>>,
): Fault | null {
  if (found === null || found instanceof Error) return absenceOf(reader, place, found)
  const length = `is altered: it has ${found.bytes} bytes, ${bytes} were published`
  if (bytes !== undefined && found.bytes !== bytes) return faultAt(reader, place, 'altered', length)
  return found.sha256 === sha256 ? null : faultAt(reader, place, 'altered', OTHER_DIGEST)
}

/** Checks every file of a version against its length and digest, and its twins if they are objects too. */
export async function auditFiles(reader: PublicReader, manifest: Manifest, progress: Progress) {
  const { count, faults } = await fileFaults(reader, manifest, progress)
  const sound = faults.length === 0 ? `${count} objects, all` : `${count - faults.length} of ${count} objects`
  return toCheck('files', manifest.version, `${sound} as published`, faults)
}

/** How many files a version has, and what is wrong with them; `measure` as for `faultsOf`. */
export async function fileFaults(
  reader: PublicReader,
  { version, artifacts }: Manifest,
  progress: Progress,
  measure: Measure = place => attempt(reader.measure(place)),
) {
  const promised = artifacts.flatMap(artifact =>
    (reader.hasTwins ? objectsOf(artifact) : [artifact]).map(({ key, bytes, sha256 }) => ({
      place: { ...filePlace(version, artifact), key },
      bytes,
      sha256,
    })),
  )
  const count = countProgress(progress, 'verify', promised.length, 'objects')
  const faults = await faultsOf(reader, promised, async place => {
    const found = await measure(place)
    count()
    return found
  })
  return { count: promised.length, faults }
}

async function auditDocuments(reader: PublicReader, { version, documents }: Manifest): Promise<Check> {
  const files = Object.entries(documents)
  const promised = files.map(([name, sha256]) => ({ place: documentPlace(version, name), sha256 }))
  const names = files.map(([name]) => name).join(', ')
  return toCheck('documents', version, `${names} as published`, await faultsOf(reader, promised))
}

/** Private files of a version by their digests. */
const privateFiles = (version: string, digests: readonly (readonly [name: string, sha256: string])[]) =>
  digests.map(([name, sha256]) => ({ place: placeOf(privateKey(version, name)), sha256 }))

/**
 * Checks the private snapshot of a version, the record of its inputs and its program against the digests in its manifest. If
 * the private store was not named and has no file of the version, only a copy of the public store is audited: a note.
 */
async function auditPrivate(privateStore: ObjectStore, manifest: Manifest, isNamed: boolean) {
  const { version, snapshot, inputs_sha256 } = manifest
  const { url } = privateStore
  const reader: PublicReader = { ...createStoreReader(privateStore), nameOf: ({ key }) => `${url}/${key}` }
  const files = Object.entries(snapshot)
  if (inputs_sha256 !== null) files.push(['inputs.json', inputs_sha256]) // null if there was no key to salt it
  const faults = await faultsOf(reader, privateFiles(version, files))
  const isAbsent =
    files.length > 0 &&
    faults.length === files.length &&
    faults.every(({ what }) => what === 'missing' || what === 'unreadable')
  const check = toCheck('snapshot', version, `${files.length} private files`, faults)
  if (isNamed || !isAbsent) return [check, ...(await auditProgram(reader, manifest))]
  const note = `the snapshot of ${version} is not in ${url}, and was not looked at: name its store with --private-store`
  return [toCheck('snapshot', version, 'not looked at', [], [note])]
}

/** Checks the program files against their index, and that against the manifest; none without a program. */
async function auditProgram(reader: PublicReader, { version, program_sha256 }: Manifest) {
  if (program_sha256 === null) return []
  const place = placeOf(privateKey(version, PROGRAM_INDEX))
  const bytes = await demand(reader, place, program_sha256)
  const index = isFault(bytes) ? undefined : programIndex.safeParse(parseJson(bytes)).data
  if (index === undefined) {
    const fault = isFault(bytes)
      ? bytes
      : faultAt(reader, place, 'of another form', 'has another form: update the program')
    return [toCheck('program', version, 'its index cannot be read, so its files were not checked', [fault])]
  }
  const files = index.files.map(({ name, sha256 }) => [programFileName(name), sha256] as const)
  const faults = await faultsOf(reader, privateFiles(version, files))
  return [toCheck('program', version, `${index.files.length + 1} private files of the program`, faults)]
}
