// Both simulations: one shape, and bounds of their own.
import {
  clampInput,
  type InputBounds,
  KEYED_BOUNDS,
  KEYLESS_BOUNDS,
  parseInput,
  simulationRequest,
} from '#core/contract/program-input.ts'
import { PROGRAM_PATHS } from '#core/contract/program-query.ts'
import type { Links } from '#core/contract/register.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { renderSimulation } from '#core/dataset/resources/program/simulation.ts'
import { readJson } from '../../http/read-body.ts'
import {
  type Exchange,
  type KeyedHandler,
  type OpenHandler,
  type ServedParts,
  sendEnveloped,
} from '../exchange.ts'

/** Two numbers and their names are shorter by far. */
export const MOST_PROGRAM_BYTES = 4_096

/** `POST /v1/program/simulate`. */
export const keyedSimulation: KeyedHandler = (c, parts) => {
  const { simulate: self, program, profile } = PROGRAM_PATHS
  return simulate(c, parts, KEYED_BOUNDS, { self, program, profile })
}

/** `POST /v1/program/preview/simulate`. */
export const keylessSimulation: OpenHandler = (c, parts) => {
  const { previewSimulate: self, preview } = PROGRAM_PATHS
  return simulate(c, parts, KEYLESS_BOUNDS, { self, preview })
}

async function simulate(
  c: Exchange,
  parts: ServedParts,
  bounds: InputBounds,
  links: Links,
): Promise<Response> {
  const { data, simulationOf } = parts.servedProgram()
  const requested = parseInput(simulationRequest, await readJson(c.req.raw, MOST_PROGRAM_BYTES))
  const input = clampInput(requested, bounds)
  const simulation = simulationOf(input.contribution_cadence_bars)
  const answer = renderSimulation(data, input, simulation) as Json // its type leaves room for later fields
  const input_clamped =
    input.equity_usd !== requested.equity_usd ||
    input.contribution_cadence_bars !== requested.contribution_cadence_bars
  return sendEnveloped(c, parts, answer, links, { input_clamped, requested })
}
