// Compression dictionaries (RFC 9842): which answers grow from version to version, so that the one of an older version
// tells nearly all of the newer.
import type { Artifact } from './manifest.ts'
import type { RouteId } from './route.ts'
import { routeOf } from './routes.ts'

/** A day adds a row to them, and what was there stays. Figures and matrices change throughout. */
const GROWING: readonly RouteId[] = ['export', 'returns', 'curve']

const GROWING_URL = new RegExp(`^(?:${GROWING.map(toExpression).join('|')})(?:\\?|$)`)

function toExpression(id: RouteId): string {
  return routeOf(id).path.replace('{sid}', '[^/?]+')
}

/** Whether answers of a route are dictionaries for those of later versions. */
export const isGrowing = (id: RouteId): boolean => GROWING.includes(id)

/** Whether an artifact may be a dictionary, and be sent as a delta. Binary formats compress little either way. */
export const isDictionary = ({ url, encodings }: Pick<Artifact, 'url' | 'encodings'>): boolean =>
  encodings.br !== undefined && GROWING_URL.test(url)

/**
 * The URL pattern of what a dictionary is good for: the same path and query, unpinned and of every version.
 * `/v1/*export?format=csv` matches `/v1/export?format=csv` and `/v1/snapshots/20261121T001500Z/export?format=csv`.
 * A pattern without a query matches every query; the longest pattern wins, so each answer has its own.
 */
export const dictionaryPattern = (url: string): string => url.replace(/^\/v1\//, '/v1/*')
