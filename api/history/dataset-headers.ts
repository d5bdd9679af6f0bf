import { toCompactInstant } from '#core/calendar.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import type { HistorySettings } from './settings.ts'

/** How long a CDN keeps what is purged at each publication. */
const PURGED_SECONDS = 86_400

/** Headers of an unpinned answer: its immutable twin, and the tag by which a CDN purges what is of this version. */
export function latestHeaders(
  version: string,
  path: string,
  { purgesByTag }: HistorySettings,
): Record<string, string> {
  const tag = cacheTag(version)
  return {
    ...twinHeader(version, path),
    'cache-tag': tag,
    xkey: tag,
    ...(purgesByTag ? { 'cdn-cache-control': `max-age=${PURGED_SECONDS}` } : {}),
  }
}

/** Where the immutable twin of an answer lies that was asked for under another address. */
export const twinHeader = (version: string, path: string): Record<string, string> => ({
  'content-location': pinnedPath(version, path),
})

/** `v-20261121T001500Z`. */
const cacheTag = (version: string): string => `v-${toCompactInstant(version)}`

/** A pinned answer is as old as its version, whichever is served; only here the date tells the truth. */
export const pinnedHeaders = (version: string): Record<string, string> => ({
  'last-modified': new Date(version).toUTCString(),
})
