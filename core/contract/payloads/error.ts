// The schema of a refusal. It is apart from `ApiError`, because code that runs in a browser throws one and imports no zod.
import { z } from 'zod'
import { type ErrorCode, type ErrorDetails, type ParameterProblem, STATUS_OF } from '../errors.ts'

const parameterProblem = z
  .object({
    param: z.string().describe('Name of the parameter, of the field, or `body`.'),
    value: z.string().describe('What was given, cut if it is long.'),
    reason: z.string().describe('What is wrong with it.'),
    allowed: z.array(z.string()).optional().describe('The legal values, if there are few.'),
  })
  .describe('One refused parameter.')
  .meta({ id: 'ParameterProblem' }) satisfies z.ZodType<ParameterProblem>

const errorDetails = z
  .union([
    z.array(parameterProblem),
    z.object({
      checks: z.record(z.string(), z.boolean()).describe('The checks, false for each that fails.'),
    }),
    z.object({ available: z.array(z.string()).describe('What there is instead.') }),
    z.null(),
  ])
  .describe(
    'More about the error, or null: the refused parameters of a `validation_error`, the checks of `not_ready`.',
  ) satisfies z.ZodType<ErrorDetails>

export const errorPayload = z
  .object({
    code: z
      .enum(Object.keys(STATUS_OF) as [ErrorCode, ...ErrorCode[]]) // keyof of the literal above
      .describe('One of a closed list of codes; branch on this, never on the message.'),
    message: z.string().describe('What was wrong, in one sentence, for people.'),
    details: errorDetails,
  })
  .describe('What went wrong.')
