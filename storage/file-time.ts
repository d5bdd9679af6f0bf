import { parseIsoInstant } from '#core/calendar.ts'
import { TWIN_CODINGS, TWIN_ENDINGS } from '#core/contract/artifacts.ts'

const KEY_OF_VERSION = /^v1\/snapshots\/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\//

const SECOND_MS = 1_000

/**
 * The time that the file of an object gets, epoch milliseconds: the instant of its version, and null for what
 * belongs to none. Web servers make the ETag of time and size; so they say the same on every machine that has a
 * copy. Twins are one and two seconds later: or two codings of one size would share a validator.
 */
export function fileTimeMs(key: string): number | null {
  const [, year, month, day, hour, minute, second] = KEY_OF_VERSION.exec(key) ?? []
  const instantMs = parseIsoInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (instantMs === null) return null
  const coding = TWIN_CODINGS.find(each => key.endsWith(TWIN_ENDINGS[each]))
  return instantMs + SECOND_MS * (coding === 'br' ? 2 : coding === 'gzip' ? 1 : 0)
}

/** As nginx makes it of time and size, so that clients may change between both. Strong: the time names version and coding. */
export const fileEtag = (key: string, bytes: number): string =>
  `"${((fileTimeMs(key) ?? 0) / SECOND_MS).toString(16)}-${bytes.toString(16)}"`
