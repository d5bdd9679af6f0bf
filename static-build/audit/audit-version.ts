import { versionFolder } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import type { Progress } from '#core/progress.ts'
import type { Publication } from '#storage/publications.ts'
import { findManifest } from '#storage/published-manifest.ts'
import { auditDocuments } from './audit-documents.ts'
import { auditFiles } from './audit-files.ts'
import { verdictOn } from './audit-signatures.ts'
import { type Check, demand, type Fault, faultAt, toCheck } from './check.ts'
import { documentPlace, manifestPlace, manifestSignaturePlace } from './places.ts'
import { type PublicReader, tryRead } from './reader.ts'
import type { Keyring } from './trusted-keys.ts'

/** A version to be audited. */
export type VersionOrder = {
  readonly reader: PublicReader
  readonly keyring: Keyring
  readonly publication: Publication
  /** Whether the entry that published it is one of those that are signed. */
  readonly isSigned: boolean
  /** Whether it has to be there: the served one does, and one that was asked for by name. */
  readonly isDemanded: boolean
  readonly progress: Progress
}

/** What became of a version: `manifest` is null where it was removed, or is not the one that was published. */
export type AuditedVersion = { readonly checks: readonly Check[]; readonly manifest: Manifest | null }

/**
 * A version from its manifest to the last of its files. A manifest that is gone means that the version was removed,
 * unless it has to be there: `prune` takes the manifest first, and what is left answers nobody.
 */
export async function auditVersion(order: VersionOrder): Promise<AuditedVersion> {
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

/** Before a signature was looked at, whoever wrote the manifest decides what is asked for. */
const isOwnFiles = ({ version, artifacts }: Manifest): boolean =>
  artifacts.every(({ key, url }) => key.startsWith(`${versionFolder(version)}/`) && url.startsWith('/v1/'))

const failed = (version: string, faults: readonly Fault[]): AuditedVersion => ({
  checks: [
    toCheck('manifest', version, 'its manifest cannot be had, so nothing of it was looked at', faults),
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
          `files of ${version} are left without its manifest: \`highwater prune\` takes them away; where nobody removed the version, restore the manifest from a copy`,
        ]
  return toCheck('manifest', version, 'removed', [], notes)
}

async function checkSignature(order: VersionOrder, bytes: Uint8Array): Promise<Check> {
  const { reader, keyring, isSigned, publication } = order
  const { version } = publication
  const place = manifestPlace(version)
  const verdict = await verdictOn(reader, keyring, place, bytes, manifestSignaturePlace(version))
  const told = (how: string) => `the manifest is the one that the log names, ${how}`
  if (verdict.kind === 'signed') return toCheck('manifest', version, told(`signed with ${verdict.keyId}`), [])
  if (verdict.kind === 'fault') return toCheck('manifest', version, told('wrongly signed'), [verdict.fault])
  const fault = faultAt(
    reader,
    place,
    'unsigned',
    'has no signature, though the entry that published it has one',
  )
  return toCheck('manifest', version, told('not signed'), isSigned ? [fault] : [])
}
