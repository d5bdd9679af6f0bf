// What the cells of a table hold: decimals, and instants as ISO 8601 with `Z` or an offset, or as epoch
// milliseconds.

const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * A plain decimal as a number, or NaN for any other text: digits, at most one point with digits on both
 * sides, an optional minus, an optional exponent; no blanks, no `+`, no hex, no Infinity. `1e999` overflows,
 * so it is NaN too.
 */
export function parseDecimal(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : Number.NaN
}

/** The values on a SharedArrayBuffer, so that worker threads read them without a copy. */
export function toShared(values: ArrayLike<number>): Float64Array {
  const shared = new Float64Array(new SharedArrayBuffer(values.length * Float64Array.BYTES_PER_ELEMENT))
  shared.set(values)
  return shared
}

/**
 * The range of the instants of a book. Epoch seconds, milliseconds, microseconds and nanoseconds of these
 * years do not overlap, so a wrong unit is always recognised and never read as another year.
 */
export const EARLIEST_MS = Date.UTC(1980, 0, 1)
export const LATEST_MS = Date.UTC(2100, 0, 1)

/** What to write, for messages. */
const MOMENT_FORMS = 'an ISO 8601 time with Z or an offset (2026-06-30T20:00:00Z), or epoch milliseconds'

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(?:(Z)|([+-])(\d{2}):(\d{2}))$/

/** The form of nearly every table, on a day that every month has: read without a calendar. */
const PLAIN_UTC = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** Epoch milliseconds of the instant, or NaN if the text is not valid; `explainMoment` has the reason. */
export function parseMoment(text: string): number {
  const ms = isDigits(text) ? Number(text) : parseIso(text)
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms : Number.NaN
}

/** Why `parseMoment` refused the text: a sentence without the column's name. */
export function explainMoment(text: string): string {
  if (text === '') return `expected ${MOMENT_FORMS}, got nothing`
  const got = `got ${JSON.stringify(text)}`
  const unit = isDigits(text) ? wrongUnit(Number(text)) : null
  if (unit !== null) return `expected epoch milliseconds, ${got}, which looks like epoch ${unit}`
  if (/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*)?$/.test(text)) {
    return `expected a time with Z or an offset, ${got}, a local time of an unknown zone; in UTC it ends in Z`
  }
  if (isDigits(text) || !Number.isNaN(parseIso(text))) {
    return `expected a time from 1980 to 2099, ${got}`
  }
  return `expected ${MOMENT_FORMS}, ${got}`
}

/** Why `t` may not follow `before` in a table that ascends. */
export const explainOrder = (t: number, before: number): string =>
  t === before
    ? `expected each time once, got ${spellMoment(t)} again`
    : `expected a time after ${spellMoment(before)} of the row before, got ${spellMoment(t)}`

/** `2026-06-30T20:00:00Z`, with milliseconds only if they are not 0. */
export const spellMoment = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

const isDigits = (text: string): boolean => /^\d+$/.test(text)

function parseIso(text: string): number {
  if (PLAIN_UTC.test(text)) return Date.parse(text)
  const match = ISO.exec(text)
  if (match === null) return Number.NaN
  const [, year, month, day, hour, minute, second = '0', fraction = '0', , sign, offsetHour, offsetMinute] =
    match
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // Date.UTC rolls 31 February over into March; the calendar has no such day.
  if (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day)) return Number.NaN
  const time = clock(hour, minute) * 60_000 + below(60, second) * 1000 + Number(fraction.padEnd(3, '0'))
  const offset = sign === undefined ? 0 : clock(offsetHour, offsetMinute) * (sign === '-' ? -60_000 : 60_000)
  return date.getTime() + time - offset
}

const clock = (hour = '', minute = ''): number => below(24, hour) * 60 + below(60, minute)

const below = (limit: number, digits: string): number =>
  Number(digits) < limit ? Number(digits) : Number.NaN

function wrongUnit(value: number): 'seconds' | 'microseconds' | 'nanoseconds' | null {
  const isWithin = (ms: number) => ms >= EARLIEST_MS && ms < LATEST_MS
  if (isWithin(value * 1e3)) return 'seconds'
  if (isWithin(value / 1e3)) return 'microseconds'
  return isWithin(value / 1e6) ? 'nanoseconds' : null
}
