// What a refusal says of a body whose shape is wrong.
import type { z } from 'zod'
import { ApiError, type ParameterProblem } from './errors.ts'

/** Longer values are cut where a refusal quotes them. */
const ECHO_LENGTH = 64

/** The reason why an unknown field is refused: what it asks for would not happen. */
export const UNKNOWN_FIELD = 'unknown field: remove it, or correct its name'

/** The names of the fields that are wrong, once each, those that are not known too; undefined for the body itself. */
export const wrongFields = ({ issues }: z.ZodError): readonly (PropertyKey | undefined)[] => [
  ...new Set(issues.flatMap(issue => (issue.code === 'unrecognized_keys' ? issue.keys : [issue.path[0]]))),
]

/** A value as a refusal quotes it. JSON can write a number that is too large for a double, which is read as Infinity. */
export const echo = (value: unknown): string =>
  typeof value === 'number' && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? 'nothing').slice(0, ECHO_LENGTH)

/** What a body or a query says. Throws a `validation_error` that lists every problem at once. */
export function parseRequest<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape, z.core.$strict>,
  value: unknown,
): z.output<z.ZodObject<Shape, z.core.$strict>> {
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = wrongFields(parsed.error).map((name): ParameterProblem => {
    if (name === undefined) return { param: 'body', value: echo(value), reason: 'expected a JSON object' }
    const param = String(name)
    const field = Object.entries(shape.shape).find(([known]) => known === param)?.[1] as z.ZodType | undefined // a raw shape holds types
    const found = (value as Record<string, unknown>)[param] // an object, or there were no names
    const shown = field === undefined || UNREPEATED.has(param) ? '(not repeated)' : echo(found)
    const reason = field === undefined ? UNKNOWN_FIELD : `expected ${field.description ?? 'something else'}`
    return { param, value: shown, reason }
  })
  throw new ApiError(
    'validation_error',
    problems.map(({ param, reason }) => `${param}: ${reason}`).join('; '),
    {
      details: problems,
    },
  )
}

/** An address may hold a token; so may a field of another name, which may be one of these mistyped. */
const UNREPEATED: ReadonlySet<string> = new Set(['url', 'secret'])
