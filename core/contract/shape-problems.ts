// What a refusal says of a body whose shape is wrong.
import type { z } from 'zod'

/** Longer values are cut where a refusal quotes them. */
const ECHO_LENGTH = 64

/** The reason why a field that nobody knows is refused: what it was meant to order would not happen. */
export const UNKNOWN_FIELD = 'this is no field of the request: leave it out, or mend its name'

/** The names of the fields that are wrong, once each, those that are not known too; undefined for the body itself. */
export const wrongFields = ({ issues }: z.ZodError): readonly (PropertyKey | undefined)[] => [
  ...new Set(issues.flatMap(issue => (issue.code === 'unrecognized_keys' ? issue.keys : [issue.path[0]]))),
]

/** A value as a refusal quotes it. JSON can write a number that is too large for a double, which is read as Infinity. */
export const echo = (value: unknown): string =>
  typeof value === 'number' && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? 'nothing').slice(0, ECHO_LENGTH)
