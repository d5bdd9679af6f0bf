// Time on the wire: UTC calendar days, ISO instants, and the compact form that names a version.

export const DAY_MS = 86_400_000

/** A UTC calendar day as the number of days since 1970-01-01. */
export type EpochDay = number

export const toEpochDay = (ms: number): EpochDay => Math.floor(ms / DAY_MS)

/** `2026-11-21` for an epoch day. */
export const toIsoDate = (day: EpochDay): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** A day that every month has: read without looking whether the calendar has it. */
const EVERY_MONTH = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/

/** The epoch day of `YYYY-MM-DD`, or null if the text is not a calendar day. */
export function parseIsoDate(text: string): EpochDay | null {
  if (EVERY_MONTH.test(text)) return Date.parse(text) / DAY_MS
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  // Date.parse rolls 31 February over into March; the calendar has no such day.
  return Number.isNaN(ms) || toIsoDate(ms / DAY_MS) !== text ? null : ms / DAY_MS
}

/**
 * ISO weeks run Monday to Sunday. Weeks are numbered by `floor((day + 3) / 7)`, because day 0 was a Thursday;
 * a number, unlike the pair of year and week, is unambiguous at New Year.
 */
export const toWeek = (day: EpochDay): number => Math.floor((day + 3) / 7)

/** The Sunday that ends a week. */
export const sundayOf = (week: number): EpochDay => week * 7 + 3

/** `2026-11-21T00:15:00Z` for an instant in epoch milliseconds: whole seconds, as versions carry it. */
export const toIsoInstant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** `2026-11-21T00:15:00.417Z`. */
export const instantOf = (ms: number): string => new Date(ms).toISOString()

export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instantOf(ms))

export const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

/** Epoch milliseconds of `YYYY-MM-DDTHH:MM:SSZ`, or null if the text is not such an instant. */
export function parseIsoInstant(text: string): number | null {
  if (!ISO_INSTANT.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) || toIsoInstant(ms) !== text ? null : ms
}

/** `20261121T001500Z`: the compact form of a dataset version, as in paths. */
export const toCompactInstant = (iso: string): string => iso.replaceAll(/[-:]/g, '')
