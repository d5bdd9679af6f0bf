// Inputs of simulations and profiles, and the answer of both simulations: one shape, different bounds.
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { SimulationInput } from '#core/contract/payloads/program.ts'
import type { Links } from '#core/contract/register.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { renderSimulation } from '#core/dataset/resources/program/records.ts'
import { type Exchange, sendEnveloped } from '../../service/exchange.ts'
import { readJson } from '../../service/read-body.ts'
import type { ServedParts } from '../exchange.ts'
import type { PreparedProgram } from './prepared-program.ts'

export const MOST_PROGRAM_BYTES = 4_096

/** From and to, both included. */
type Bounds = readonly [least: number, most: number]

type InputBounds = { readonly [Field in keyof SimulationInput]: Bounds }

export const KEYLESS_BOUNDS: InputBounds = {
  equity_usd: [100, 1_000_000],
  contribution_cadence_bars: [1, 90],
}

export const KEYED_BOUNDS: InputBounds = {
  equity_usd: [1, 1_000_000_000],
  contribution_cadence_bars: [1, 3_650],
}

export const boundsText = ({ equity_usd, contribution_cadence_bars }: InputBounds): string =>
  `An equity outside of ${equity_usd.join(' to ')} dollars and a cadence outside of ` +
  `${contribution_cadence_bars.join(' to ')} bars are brought to these bounds: \`input\` is what was used, \`meta\` says so.`

/** The body of a simulation: values outside the bounds are clamped. */
export const simulationRequest = z.object({
  equity_usd: z
    .number()
    .describe('a finite number of US dollars: the sum of all contributions of the planned window'),
  contribution_cadence_bars: z
    .number()
    .refine(Number.isInteger) // zod's own check holds 1e-7 for a multiple of 1, and refuses 1e300
    .meta({ type: 'integer', description: 'a whole number of bars from one contribution to the next' }),
})

const inside = (field: keyof SimulationInput) => {
  const [least, most] = KEYED_BOUNDS[field]
  const simulated = simulationRequest.shape[field]
  const description = `${simulated.description}, from ${least} to ${most}`
  return simulated
    .min(least)
    .max(most)
    .meta({ ...simulated.meta(), description })
}

/** The body of a profile: stored as requested, so values are never clamped. */
export const profileRequest = z.object({
  equity_usd: inside('equity_usd'),
  contribution_cadence_bars: inside('contribution_cadence_bars'),
})

const clamp = (value: number, [least, most]: Bounds): number => Math.min(Math.max(value, least), most)

export function simulateWithin(
  { data, simulationOf }: PreparedProgram,
  requested: SimulationInput,
  bounds: InputBounds,
) {
  const input = {
    equity_usd: clamp(requested.equity_usd, bounds.equity_usd),
    contribution_cadence_bars: clamp(requested.contribution_cadence_bars, bounds.contribution_cadence_bars),
  }
  const simulation = renderSimulation(data, input, simulationOf(input.contribution_cadence_bars))
  return { simulation, isClamped: !isDeepStrictEqual(input, requested) }
}

export async function simulate(c: Exchange, parts: ServedParts, bounds: InputBounds, links: Links) {
  const served = parts.servedProgram()
  const requested = parseRequest(simulationRequest, await readJson(c.req.raw, MOST_PROGRAM_BYTES))
  const { simulation, isClamped } = simulateWithin(served, requested, bounds)
  const answer = simulation as Json // its type leaves room for later fields
  return sendEnveloped(c, answer, links, { input_clamped: isClamped, requested })
}
