// Names of published keys: the key of each canonical answer in the public store.
import { toCompactInstant } from '#core/calendar.ts'
import type { Format, Params } from './parameters.ts'
import type { Route } from './route.ts'

/** The codings that every artifact of text is published in beside its plain bytes. */
export const TWIN_CODINGS = ['br', 'gzip'] as const
export type TwinCoding = (typeof TWIN_CODINGS)[number]

export const TWIN_ENDINGS = { br: '.br', gzip: '.gz' } as const satisfies Record<TwinCoding, string>

export const MEDIA_TYPES: { readonly [F in Format]: string } = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  arrow: 'application/vnd.apache.arrow.file',
  parquet: 'application/vnd.apache.parquet',
}

/** `v1/snapshots/20261121T001500Z`: the folder of a version. */
export const versionFolder = (version: string): string => `v1/snapshots/${toCompactInstant(version)}`

export const manifestKey = (version: string): string => `${versionFolder(version)}/manifest.json`

/** `v1/snapshots/{V}/manifest.json.sig`: the signature of the bytes of the manifest. */
export const manifestSignatureKey = (version: string): string => `${manifestKey(version)}.sig`

/** `v1/snapshots/{V}/changes.json`: a document of a version beside its artifacts. */
export const documentKey = (version: string, name: VersionDocument): string =>
  `${versionFolder(version)}/${name}`

/** What a version has beside its artifacts. */
export const VERSION_DOCUMENTS = ['changes.json', 'datapackage.json', 'SHA256SUMS'] as const
export type VersionDocument = (typeof VERSION_DOCUMENTS)[number]

/** `v1/snapshots/{V}/strategies/alder/returns.weekly.json`: the key of a canonical answer. */
export function artifactKey(
  version: string,
  { id, group, query = {} }: Pick<Route, 'id' | 'group' | 'query'>,
  params: Params,
): string {
  const place = group === 'strategy' ? `strategies/${params.sid}/` : ''
  const name = id === 'strategy' ? 'meta' : id
  const period = 'period' in query ? `.${params.period}` : ''
  return `${versionFolder(version)}/${place}${name}${period}.${params.format}`
}

/** `20261121T001500Z/snapshot.json`: the key of a private file of a version, in the private store. */
export const privateKey = (version: string, name: string): string => `${toCompactInstant(version)}/${name}`

// What caches may do: the one place for the store's metadata and for the headers of the service.

/** What never changes: a year, the longest that caches honour. */
export const IMMUTABLE = 'max-age=31536000, immutable'

export const POLLED = 'max-age=10, stale-if-error=3600'
