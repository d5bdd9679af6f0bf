import { toCompactInstant } from '#core/calendar.ts'
import { dictionaryPattern } from '#core/contract/dictionaries.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { acceptsDelta } from '../http/negotiate-coding.ts'
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

/** `v-20261121T001500Z`: what every unpinned answer of a version is tagged with. */
export const cacheTag = (version: string): string => `v-${toCompactInstant(version)}`

/** A pinned answer is as old as its version, whichever is served; only here the date tells the truth. */
export const pinnedHeaders = (version: string): Record<string, string> => ({
  'last-modified': new Date(version).toUTCString(),
})

/**
 * Headers of an answer that may be a dictionary for its later selves (RFC 9842). It goes by the dictionary that a client
 * has only where the client accepts `dcz`, and caches that know nothing of dictionaries see the same `Vary` as ever.
 */
export const dictionaryHeaders = (
  path: string,
  acceptEncoding: string | undefined,
): Record<string, string> => ({
  'use-as-dictionary': `match="${dictionaryPattern(path)}"`,
  ...(acceptsDelta(acceptEncoding) ? { vary: 'Accept-Encoding, Available-Dictionary, Origin' } : {}),
})
