// When a version came into the world: as its name says, unless the start of its build or the pointer log says later.
import { parseIsoInstant } from '#core/calendar.ts'

/** A night may be named after the day that it is for, so a name may be so far from the clock, to both sides. */
export const NAME_TOLERANCE_MS = 36 * 3_600_000

/** A version, and when it was entered if its name does not say so. */
export type Entered = { readonly version: string; readonly entered: string | null }

/** Whether an instant is so long before another that it cannot stand for it. */
export const isLongBefore = (instant: string, at: string): boolean =>
  parseIsoInstant(at)! - parseIsoInstant(instant)! > NAME_TOLERANCE_MS

/**
 * The instant from which a version is known: what it says of itself, unless `at`, when the log first named it, contradicts
 * that. A version of an older release says nothing beside its name.
 */
export function effectiveInstant({ version, entered }: Entered, at?: string): string {
  const said = entered !== null && entered > version ? entered : version
  return at !== undefined && isLongBefore(said, at) ? at : said
}

/** The same where it is not the name, and null where the name is the truth. */
export function enteredOf(named: Entered, at?: string): string | null {
  const instant = effectiveInstant(named, at)
  return instant === named.version ? null : instant
}

/** `entered on 2026-11-26`, for a person; empty where the name is the truth. */
export const enteredText = (entered: string | null): string =>
  entered === null ? '' : `entered on ${entered.slice(0, 10)}`
