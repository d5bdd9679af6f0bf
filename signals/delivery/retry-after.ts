/** The only form of a date that servers may send (RFC 9110, 5.6.7); the two obsolete ones are ignored. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Longer numbers are no waits. */
const SECONDS = /^\d{1,9}$/

/** The wait that a `Retry-After` asks for, in seconds or until a date; null where it says nothing that can be read. */
export function parseRetryAfter(value: string | readonly string[] | undefined, nowMs: number): number | null {
  const text = typeof value === 'string' ? value.trim() : ''
  if (SECONDS.test(text)) return Number(text) * 1000
  const ms = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : Math.max(0, ms - nowMs)
}
