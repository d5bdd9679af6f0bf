// The program for clients that are entitled to it: what a night published of it, as it was published, and what is
// computed from the same data.
import { ApiError } from '#core/contract/errors.ts'
import { PROGRAM_SCHEMA_VERSION } from '#core/contract/payloads/program-field.ts'
import { parseInput, profileRequest } from '#core/contract/program-input.ts'
import {
  basketPath,
  deploysPath,
  PROGRAM_PATHS,
  parseBenchmark,
  parseDeploysQuery,
  parseView,
  performancePath,
} from '#core/contract/program-query.ts'
import type { Links } from '#core/contract/register.ts'
import type { ProgramRouteId } from '#core/contract/signals-route.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { renderBasket } from '#core/dataset/resources/program/basket.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { type Profile, readProfile, saveProfile } from '#signals/program/profile.ts'
import { readJson } from '../../http/read-body.ts'
import {
  type Exchange,
  type KeyedHandler,
  type ServedParts,
  sendEnveloped,
  sendPublished,
} from '../exchange.ts'
import type { PreparedProgram } from './prepared-program.ts'
import { keyedSimulation, MOST_PROGRAM_BYTES } from './simulate.ts'

/** Where answers lead to. */
const { program, basket, deploys, performance, profile } = PROGRAM_PATHS

export const PROGRAM_HANDLERS: { readonly [Id in ProgramRouteId]: KeyedHandler } = {
  program: (c, parts) => {
    const { documents } = parts.servedProgram()
    return sendPublished(c, parts, documents.manifest, {
      self: program,
      basket,
      deploys,
      performance,
      profile,
    })
  },
  program_basket: async (c, parts, { client }) => {
    const served = parts.servedProgram()
    const view = parseView(queryOf(c))
    const links = { self: basketPath(view), program, deploys, profile }
    if (view === 'reference') return sendPublished(c, parts, served.documents.basket, links)
    return sendEnveloped(c, parts, personalBasket(served, await profileOf(parts, client.id)), links)
  },
  program_deploys: (c, parts) => {
    const all = parts.servedProgram().deploys
    const query = parseDeploysQuery(queryOf(c))
    const after = all.filter(({ seq }) => seq > query.since)
    const page = after.slice(0, query.limit ?? after.length)
    const last = page.at(-1)?.seq ?? query.since
    const next = page.length < after.length ? { next: deploysPath({ ...query, since: last }) } : {}
    const links: Links = { self: deploysPath(query), program, basket, ...next }
    return sendEnveloped(c, parts, page as readonly Json[], links, { count: page.length, last_seq: last })
  },
  program_performance: (c, parts) => {
    const { documents } = parts.servedProgram()
    const benchmark = parseBenchmark(queryOf(c))
    const links = { self: performancePath(benchmark), program, basket }
    return sendPublished(c, parts, documents[`performance-${benchmark}`], links)
  },
  get_profile: async (c, parts, { client }) => {
    const { data } = parts.servedProgram()
    return sendProfile(c, parts, data.plan, await profileOf(parts, client.id))
  },
  put_profile: async (c, parts, { client }) => {
    const { data } = parts.servedProgram()
    const input = parseInput(profileRequest, await readJson(c.req.raw, MOST_PROGRAM_BYTES))
    const stored = await saveProfile(parts.redis, client.id, input, parts.clock.now())
    return sendProfile(c, parts, data.plan, stored)
  },
  program_simulate: keyedSimulation,
}

const queryOf = (c: Exchange): URLSearchParams => new URL(c.req.url).searchParams

function personalBasket({ data, simulationOf }: PreparedProgram, input: Profile): Json {
  const { simulation } = simulationOf(input.contribution_cadence_bars)
  const { simulation: reference } = simulationOf(data.plan.contribution_cadence_bars)
  return renderBasket(data, 'personal', input, simulation, reference) as Json // its type leaves room for later fields
}

async function profileOf({ redis }: ServedParts, client: string): Promise<Profile> {
  const found = await readProfile(redis, client)
  if (found === null) throw new ApiError('profile_not_set', `no profile yet: PUT ${profile} sets one`)
  return found
}

function sendProfile(c: Exchange, parts: ServedParts, { alias }: ProgramPlan, stored: Profile): Response {
  const data = { schema_version: PROGRAM_SCHEMA_VERSION, alias, ...stored }
  return sendEnveloped(c, parts, data, { self: profile, basket: basketPath('personal'), program })
}
