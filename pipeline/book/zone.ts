import { instantsBy, isZone, offsetsOf } from '#core/replay/chart-zone.ts'

/** Brings a local time, as epoch milliseconds of the same clock in UTC, to the instants that it may mean: mostly one. */
export type Zone = { readonly name: string; readonly instantsOf: (localMs: number) => readonly number[] }

/** The zone of a name or an offset; null for any other text. */
export function parseZone(text: string): Zone | null {
  const [, sign, hours, minutes = '00'] = /^(?:UTC)?([+-])(\d{1,2})(?::?([0-5]\d))?$/.exec(text) ?? []
  if (sign !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
    return Math.abs(offset) > LARGEST_OFFSET_MS ? null : fixedZone(text, offset)
  }
  if (text === 'UTC' || text === 'Z') return UTC
  return text.includes('/') && isZone(text) ? { name: text, instantsOf: instantsBy(offsetsOf(text)) } : null
}

const LARGEST_OFFSET_MS = 14 * 3_600_000

/** The zone that is ahead of UTC by so much. */
const fixedZone = (name: string, offsetMs: number): Zone => ({ name, instantsOf: ms => [ms - offsetMs] })

export const UTC = fixedZone('UTC', 0)
