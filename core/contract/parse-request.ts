// What a refusal says of a body whose shape is wrong.
import type { z } from 'zod'
import { ApiError, type ParameterProblem } from './errors.ts'

/** The names of the wrong and of the unknown fields, once each; undefined for the body itself. */
const wrongFields = ({ issues }: z.ZodError): readonly (PropertyKey | undefined)[] => [
  ...new Set(issues.flatMap(issue => (issue.code === 'unrecognized_keys' ? issue.keys : [issue.path[0]]))),
]

/** A value as a refusal quotes it. A number in JSON that is too large for a double is read as Infinity. */
export const echo = (value: unknown): string =>
  typeof value === 'number' && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? 'nothing').slice(0, 64) // longer values are cut where a refusal quotes them

/**
 * What a body or a query says. Throws a `validation_error` that lists every problem at once. `shows` says
 * whether a refusal quotes the value of a field.
 */
export function parseRequest<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  value: unknown,
  shows = (param: string, isKnown: boolean): boolean => isKnown && !UNREPEATED.has(param),
): z.output<z.ZodObject<Shape>> {
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = wrongFields(parsed.error).map((name): ParameterProblem => {
    if (name === undefined) return { param: 'body', value: echo(value), reason: 'expected a JSON object' }
    const param = String(name)
    const field = Object.entries(shape.shape).find(([known]) => known === param)?.[1] as z.ZodType | undefined // a raw shape holds types
    const found = (value as Record<string, unknown>)[param] // an object, or there were no names
    const isKnown = field !== undefined
    const shown = shows(param, isKnown) ? echo(found) : '(not repeated)'
    // An unknown field of a strict shape is refused, because what it asks for would not happen.
    const reason = isKnown
      ? `expected ${field.description ?? 'something else'}`
      : 'unknown field: remove it, or correct its name'
    return { param, value: shown, reason }
  })
  throw invalidRequest(problems)
}

export const invalidRequest = (details: readonly ParameterProblem[]): ApiError =>
  new ApiError('validation_error', details.map(({ param, reason }) => `${param}: ${reason}`).join('; '), {
    details,
  })

/** An address may hold a token, and a header a password; so may a field of another name, which may be one of these mistyped. */
const UNREPEATED: ReadonlySet<string> = new Set(['url', 'secret', 'headers'])
