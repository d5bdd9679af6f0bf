import { parseIsoInstant } from '#core/calendar.ts'
import { TWIN_ENDINGS } from '#core/contract/artifacts.ts'

const KEY_OF_VERSION = /^v1\/snapshots\/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\//

const SECOND_MS = 1_000

/**
 * The time that the file of an object gets, epoch milliseconds: the instant of its version, and null for what belongs to
 * none. Web servers make ETag and Last-Modified of time and size; so they say the same on every machine that has a copy.
 * Twins are one and two seconds later: else two codings of one size would share a validator.
 */
export function fileTimeMs(key: string): number | null {
  const [, year, month, day, hour, minute, second] = KEY_OF_VERSION.exec(key) ?? []
  const instantMs = parseIsoInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return instantMs === null ? null : instantMs + SECOND_MS * twinSeconds(key)
}

function twinSeconds(key: string): number {
  if (key.endsWith(TWIN_ENDINGS.gzip)) return 1
  return key.endsWith(TWIN_ENDINGS.br) ? 2 : 0
}
