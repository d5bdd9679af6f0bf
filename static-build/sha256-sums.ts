import {
  documentKey,
  TWIN_CODINGS,
  TWIN_ENDINGS,
  type VersionDocument,
  versionFolder,
} from '#core/contract/artifacts.ts'
import type { Artifact, Manifest } from '#core/contract/manifest.ts'

/**
 * `SHA256SUMS` of a version: a line for each of its artifacts, their twins and the other documents, by path, in the form
 * of GNU coreutils: `sha256sum -c SHA256SUMS` accepts it in a copy of the version's folder. The manifest is not in it:
 * it is what names this list.
 */
export function sha256Sums({
  version,
  documents,
  artifacts,
}: Pick<Manifest, 'version' | 'documents' | 'artifacts'>): string {
  const folder = `${versionFolder(version)}/`
  return [
    ...LISTED.map(name => ({ key: documentKey(version, name), sha256: documents[name]! })),
    ...artifacts.flatMap(filesOf),
  ]
    .map(({ key, sha256 }) => ({ path: toRelative(key, folder), sha256 }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join('')
}

/** Every version has both. */
const LISTED = ['changes.json', 'datapackage.json'] as const satisfies readonly VersionDocument[]

const filesOf = ({ key, sha256, encodings }: Artifact) => [
  { key, sha256 },
  ...TWIN_CODINGS.flatMap(coding => {
    const twin = encodings[coding]
    return twin === undefined ? [] : [{ key: key + TWIN_ENDINGS[coding], sha256: twin.sha256 }]
  }),
]

/** The path of a key in the folder of its version. Throws where it lies elsewhere: a copy of the folder would miss it. */
export function toRelative(key: string, folder: string): string {
  if (key.startsWith(folder)) return key.slice(folder.length)
  throw new Error(`the artifact '${key}' is not in the folder '${folder}' of its version`)
}
