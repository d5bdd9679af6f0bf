// What the operator's interface takes, but for a signal: bodies and queries of its routes, each with every problem at once.
import { z } from 'zod'
import { ApiError, type ParameterProblem } from './errors.ts'
import { echo, UNKNOWN_FIELD, wrongFields } from './shape-problems.ts'
import { MODES } from './signal.ts'

/** A rotation over a month is none. */
const LONGEST_OVERLAP_HOURS = 30 * 24

/** Rows that one answer lists. */
const MOST_ROWS = 500
const USUAL_ROWS = 50

/** Numbers are integers that JSON keeps exact. */
const LARGEST_SEQ = Number.MAX_SAFE_INTEGER

const alias = z.string().describe('the id of a strategy')
const aliases = z.array(z.string()).optional().describe('a list of ids of strategies')
const seq = z.coerce.number().int().min(0).max(LARGEST_SEQ)

/** `POST /ops/clients`. */
export const clientRequest = z.strictObject({
  id: z.string().describe('the id of the client: 1 to 64 of a-z, 0-9, - and _'),
  tier: z.string().default('standard').describe('your own word for what was sold'),
  aliases,
  activate: z.boolean().default(false).describe('true where the account is switched on at once'),
})

/** `POST /ops/clients/{client}/entitlements`. */
export const entitlementRequest = z.strictObject({
  aliases,
  add: aliases,
  remove: aliases,
  program: z.boolean().optional().describe('true or false'),
})

/** `PUT /ops/clients/{client}/webhook`. */
export const webhookRequest = z.strictObject({
  url: z.string().min(1).describe('an address such as https://example.org/hook'),
  secret: z
    .string()
    .nullable()
    .default(null)
    .describe('whsec_ and 32 bytes in base64; left out, a first webhook is given one'),
})

/** `POST /ops/clients/{client}/webhook/rotate`. */
export const rotationRequest = z.strictObject({
  overlap_hours: z
    .number()
    .min(0)
    .max(LONGEST_OVERLAP_HOURS)
    .optional()
    .describe(`hours from 0 to ${LONGEST_OVERLAP_HOURS} for which the old secret signs too`),
})

/** `POST /ops/live/halt` and `resume`. */
export const haltRequest = z.strictObject({
  alias: alias.default('*').describe('the id of a strategy, or * for all'),
})

/** `POST /ops/live/mode`. */
export const modeRequest = z.strictObject({
  alias,
  mode: z.enum(MODES).describe(`one of ${MODES.join(', ')}`),
})

/** `POST /ops/clients/{client}/replay`. */
export const replayQuery = z.strictObject({
  from: seq.min(1).describe('the number of the first signal to send again, from 1'),
})

/** `POST /ops/clients/{client}/disable`. */
export const disableRequest = z.strictObject({
  why: z.string().max(200).default('the operator disabled it').describe('a reason of 200 characters at most'),
})

/** `GET /ops/clients/{client}/account`. */
export const accountQuery = z.strictObject({
  from: seq.min(1).optional().describe('the number of the first signal, from 1'),
  to: seq.min(1).optional().describe('the number of the last signal'),
})

export const DELIVERY_STATUSES = ['owed', 'delivered', 'exhausted', 'withdrawn'] as const

const limit = z.coerce.number().int().min(1).max(MOST_ROWS).default(USUAL_ROWS)

/** `GET /ops/deliveries`. */
export const deliveriesQuery = z.strictObject({
  client: z.string().optional().describe('the id of a client'),
  status: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .describe(`one of ${DELIVERY_STATUSES.join(', ')}`),
  before: seq.optional().describe('the number of a signal: only older ones are listed'),
  limit: limit.describe(`a number from 1 to ${MOST_ROWS}`),
})

/** `GET /ops/signals`. */
export const signalsQuery = z.strictObject({
  before: seq.optional().describe('the number of a signal: only older ones are listed'),
  limit: limit.describe(`a number from 1 to ${MOST_ROWS}`),
})

/** The number of a signal in a path. Throws `validation_error`. */
export const parseSeq = (text: string): number =>
  parseRequest(z.strictObject({ seq: seq.min(1).describe('the number of a signal, from 1') }), { seq: text })
    .seq

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
