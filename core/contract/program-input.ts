// What a simulation and a profile are asked with: read, and held to what a surface takes.
import { z } from 'zod'
import { ApiError, type ParameterProblem } from './errors.ts'
import type { SimulationInput } from './payloads/program-simulation.ts'
import { echo } from './shape-problems.ts'

/** From and to, both included. */
type Bounds = readonly [least: number, most: number]

export type InputBounds = { readonly [Field in keyof SimulationInput]: Bounds }

/** Without a key: what a visitor may try, and a season of days between two contributions. */
export const KEYLESS_BOUNDS: InputBounds = {
  equity_usd: [100, 1_000_000],
  contribution_cadence_bars: [1, 90],
}

/** With the entitlement: what any treasury may plan, and ten years of days. */
export const KEYED_BOUNDS: InputBounds = {
  equity_usd: [1, 1_000_000_000],
  contribution_cadence_bars: [1, 3_650],
}

/** What a zod check says where it fails; a field that is not there has a reason of its own. */
const expected =
  (reason: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? `is missing: ${reason}` : reason

const FINITE = expected('must be a finite number')
const WHOLE = expected('must be a whole number')

/** The body of a simulation: what lies outside of the bounds is brought to them. */
export const simulationRequest = z.object(
  {
    equity_usd: z
      .number({ error: FINITE })
      .describe('What all contributions of the planned window sum to, US dollars.'),
    contribution_cadence_bars: z
      .number({ error: WHOLE })
      .refine(Number.isInteger, { error: WHOLE }) // zod's own check holds 1e-7 for a multiple of 1, and refuses 1e300
      .meta({ type: 'integer', description: 'Bars from one contribution to the next.' }),
  },
  { error: () => 'expected an object {"equity_usd": 10000, "contribution_cadence_bars": 7}' },
)

/** A field within the bounds of the keyed surface. */
const inside = (field: keyof SimulationInput) => {
  const [least, most] = KEYED_BOUNDS[field]
  const error = `must be from ${least} to ${most}`
  const { shape } = simulationRequest
  return shape[field]
    .min(least, { error })
    .max(most, { error })
    .meta(shape[field].meta() ?? {})
}

/** The body of a profile: what is stored must be what was asked, so nothing is brought anywhere. */
export const profileRequest = z.object(
  { equity_usd: inside('equity_usd'), contribution_cadence_bars: inside('contribution_cadence_bars') },
  { error: () => 'expected an object {"equity_usd": 10000, "contribution_cadence_bars": 7}' },
)

/** Reads a body; unknown fields are ignored. Throws a `validation_error` that lists every problem at once. */
export function parseInput(
  request: typeof simulationRequest | typeof profileRequest,
  body: unknown,
): SimulationInput {
  const parsed = request.safeParse(body)
  if (parsed.success) return parsed.data
  const problems = Map.groupBy(parsed.error.issues, ({ path }) => path[0])
  const details = [...problems].map(([field, [issue]]) => problemOf(field, issue!.message, body))
  const names = details.map(({ param }) => param).join(', ')
  throw new ApiError('validation_error', `unfit body: ${names}`, { details })
}

/** No group is empty. A problem without a field is one of the whole body. */
const problemOf = (field: PropertyKey | undefined, reason: string, body: unknown): ParameterProblem =>
  field === undefined
    ? { param: 'body', value: echo(body), reason }
    : {
        param: String(field),
        value: echo(Object.entries(body ?? {}).find(([name]) => name === field)?.[1]),
        reason,
      }

/** The input as a surface takes it: each number brought to the nearest that is inside. */
export const clampInput = (input: SimulationInput, bounds: InputBounds): SimulationInput => ({
  equity_usd: clamp(input.equity_usd, bounds.equity_usd),
  contribution_cadence_bars: clamp(input.contribution_cadence_bars, bounds.contribution_cadence_bars),
})

const clamp = (value: number, [least, most]: Bounds): number => Math.min(Math.max(value, least), most)
