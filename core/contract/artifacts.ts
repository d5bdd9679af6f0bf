// Names of published keys: where each canonical answer lies in the public store.
import { toCompactInstant } from '#core/calendar.ts'
import type { Format, Params } from './parameters.ts'
import type { Route } from './route.ts'

/** The codings that every artifact is published in beside its plain bytes, and the ending of each twin. */
export const TWIN_ENDINGS = { br: '.br', gzip: '.gz' } as const
export type TwinCoding = keyof typeof TWIN_ENDINGS

export const MEDIA_TYPES: { readonly [F in Format]: string } = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** `v1/snapshots/20261121T001500Z`: the folder of a version. */
export const versionFolder = (version: string): string => `v1/snapshots/${toCompactInstant(version)}`

export const manifestKey = (version: string): string => `${versionFolder(version)}/manifest.json`

/** The only public object that is ever overwritten: which version is served now. */
export const CURRENT_KEY = 'v1/current.json'

/** `v1/snapshots/{V}/strategies/alder/returns.weekly.json`: the key of a canonical answer. */
export function artifactKey(version: string, route: Route, params: Params): string {
  const place = route.kind === 'strategy' ? `strategies/${params.sid}/` : ''
  const name = route.id === 'strategy' ? 'meta' : route.id
  const period = route.query.includes('period') ? `.${params.period}` : ''
  return `${versionFolder(version)}/${place}${name}${period}.${params.format}`
}

/** `20261121T001500Z/snapshot.json`: the key of a private file of a version, in the private store. */
export const privateKey = (version: string, name: string): string => `${toCompactInstant(version)}/${name}`
