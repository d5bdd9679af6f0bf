import { z } from 'zod'
import { toIsoDate } from '#core/calendar.ts'
import { UTC, type Zone } from './zone.ts'

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

/** The range of the instants of a book. In it epochs of two units never overlap, so a wrong unit is always recognised. */
export const EARLIEST_MS = Date.UTC(1980, 0, 1)
export const LATEST_MS = Date.UTC(2100, 0, 1)

const MOMENT_FORMS = 'an ISO 8601 time with Z or an offset (2026-06-30T20:00:00Z), or epoch milliseconds'

const ISO =
  /^(\d{4}-\d\d-\d\d)[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The form of nearly every table, on a day that every month has: read without a calendar. */
const PLAIN_UTC = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** Epoch milliseconds of the instant, or NaN if the text is not valid; `explainMoment` has the reason. */
export function parseMoment(text: string): number {
  const ms = isDigits(text) ? Number(text) : parseIso(text)
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms : Number.NaN
}

/** Why `parseMoment` refused the text: a sentence without the column's name. */
export function explainMoment(text: string): string {
  const got = `got ${text === '' ? 'nothing' : JSON.stringify(text)}`
  const unit = isDigits(text) ? unitOf(Number(text))?.unit : undefined
  if (unit !== undefined && unit !== 'milliseconds')
    return `expected epoch milliseconds, ${got}, which looks like epoch ${unit}`
  if (/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*)?$/.test(text))
    return `expected a time with Z or an offset, ${got}, a local time of an unknown zone; in UTC it ends in Z`
  if (isDigits(text) || !Number.isNaN(parseIso(text))) return `expected a time from 1980 to 2099, ${got}`
  return `expected ${MOMENT_FORMS}, ${got}`
}

/** Why `t` may not follow `before` in a table that ascends. */
export const explainOrder = (t: number, before: number): string =>
  t === before
    ? `expected each time once, got ${spellMoment(t)} again`
    : `expected a time after ${spellMoment(before)} of the row before, got ${spellMoment(t)}`

/** `2026-06-30T20:00:00Z`, with milliseconds only if they are not 0. */
export const spellMoment = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

/**
 * Epoch milliseconds of a time as files from elsewhere write it: also epoch seconds, microseconds and nanoseconds,
 * distinguished by their magnitude, `+0000`, and a date or a local time if the zone is known. NaN if the text is no time, or
 * not exactly one.
 */
export function parseForeignMoment(text: string, zone: Zone | null): number {
  if (text === '') return Number.NaN // most files lack some of the columns that hold a time
  if (PLAIN_UTC.test(text)) return Date.parse(text)
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(unitOf(Number(text))?.ms ?? Number.NaN)
  const [, date = '', , clock = '00:00', offset] = FOREIGN.exec(text) ?? []
  const ms = parseMoment(
    `${date.replaceAll(/[/.]/g, '-')}T${clock.replace(/(\.\d{3})\d+$/, '$1')}${toOffset(offset)}`,
  )
  if (offset !== undefined || Number.isNaN(ms)) return ms
  const [instant = Number.NaN, ...others] = zone?.instantsOf(ms) ?? []
  return others.length === 0 ? instant : Number.NaN
}

const FOREIGN =
  /^(\d{4}([-/.])\d{2}\2\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?$/

function toOffset(offset = 'Z'): string {
  if (offset === 'Z' || offset === 'UTC') return 'Z'
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`
}

/** Milliseconds of each unit; the years of a book make their numbers distinct. */
const UNITS_MS = { seconds: 1e3, milliseconds: 1, microseconds: 1e-3, nanoseconds: 1e-6 }

/** The unit in which a number is an epoch, and what it is in milliseconds. */
const unitOf = (value: number) =>
  Object.entries(UNITS_MS)
    .map(([unit, factor]) => ({ unit, ms: value * factor }))
    .find(({ ms }) => ms >= EARLIEST_MS && ms < LATEST_MS)

/** Why `parseForeignMoment` refused the text. */
export function explainForeignMoment(text: string, zone: Zone | null): string {
  const got = `got ${text === '' ? 'nothing' : JSON.stringify(text)}`
  if (/^[2-6]\d{4}(?:\.\d+)?$/.test(text)) {
    const day = toIsoDate(Math.floor(Number(text)) - 25_569) // spreadsheets count from 1899-12-30
    return `expected a time, ${got}, which looks like the serial date of a spreadsheet (${day}): export the column as text, YYYY-MM-DD`
  }
  if (/^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}/.test(text))
    return `expected a date with the year first (2026-06-30), ${got}, whose day and month are ambiguous`
  const local = parseForeignMoment(text, UTC)
  if (Number.isNaN(local))
    return `expected a time such as 2026-06-30 20:00 or an epoch of the years 1980 to 2099, ${got}`
  if (zone === null)
    return `expected a zone for ${JSON.stringify(text)}, which has none: state it with --tz, after the settings of the tool that made the file, or after a time in it that you know`
  return `expected a time that ${zone.name} has once, ${got}, which it has ${zone.instantsOf(local).length === 0 ? 'not at all' : 'twice'}: the clocks change`
}

const isDigits = (text: string): boolean => /^\d+$/.test(text)

function parseIso(text: string): number {
  if (PLAIN_UTC.test(text)) return Date.parse(text)
  const [, day = ''] = ISO.exec(text) ?? []
  // Date.parse rolls 31 February over into March; the calendar has no such day.
  return z.regexes.date.test(day) ? Date.parse(text.replace(' ', 'T')) : Number.NaN
}
