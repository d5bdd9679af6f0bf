import { DAY_MS } from '#core/calendar.ts'

/** Turns a time as a chart shows it, written as if it were UTC, into an instant; epoch milliseconds. */
export type ToInstant = (shown: number) => number

const QUARTER_MS = 900_000

/** Offsets from UTC that charts have, in milliseconds: whole quarters of an hour, from UTC-12 to UTC+14. */
export const OFFSETS = Array.from({ length: 26 * 4 + 1 }, (_, i) => (i - 12 * 4) * QUARTER_MS)

/** Zones of charts without daylight saving. */
export const FIXED_ZONES: readonly ToInstant[] = OFFSETS.map(offset => shown => shown - offset)

type OffsetAt = (ms: number) => number

/** Every instant at which clocks show a time: in autumn an hour has two, the earlier first, and in spring one has none. */
export function instantsBy(offsetAt: OffsetAt): (shown: number) => readonly number[] {
  return shown => {
    const offsets = new Set([offsetAt(shown - DAY_MS), offsetAt(shown + DAY_MS)])
    return [...offsets].map(offset => shown - offset).filter(ms => ms + offsetAt(ms) === shown)
  }
}

/**
 * The instants of a zone of the IANA database, such as `America/New_York`. Of a time that the clock shows twice in
 * autumn it takes the first instant; of one that it skips in spring, the instant after the same time by the old clock.
 */
export function instantsOf(zone: string): ToInstant {
  const offsetAt = offsetsOf(zone)
  const instantsAt = instantsBy(offsetAt)
  return shown => instantsAt(shown)[0] ?? shown - offsetAt(shown - DAY_MS)
}

export function isZone(name: string): boolean {
  try {
    offsetsOf(name)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** By how much the clocks of a zone are ahead of UTC at an instant; throws a RangeError for an unknown zone. */
export function offsetsOf(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  return ms => {
    // Behind the date `GMT`, `GMT+05:30`, or before 1900 also seconds.
    const [, sign, ...parts] = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(format.format(ms)) ?? []
    const [hours = 0, minutes = 0, seconds = 0] = parts.map(part => Number(part ?? 0))
    return (sign === '-' ? -1_000 : 1_000) * (3_600 * hours + 60 * minutes + seconds)
  }
}
