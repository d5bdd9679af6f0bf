// The accumulation program for entitled clients: published records with their exact bytes, and computed answers.
import { ApiError } from '#core/contract/errors.ts'
import { canonicalUrl, parseQuery, wordParameter } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import {
  BASKET_VIEWS,
  PERFORMANCE_BENCHMARKS,
  PROGRAM_SCHEMA_VERSION,
  type ProgramDeploy,
  programBasket,
  programDeploy,
  programDeploys,
  programManifest,
  programPerformance,
  programProfile,
  programSimulation,
} from '#core/contract/payloads/program.ts'
import type { Links } from '#core/contract/register.ts'
import { toCsvHeader, toCsvRow } from '#core/dataset/render/csv.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { renderBasket } from '#core/dataset/resources/program/records.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { type Profile, readProfile, saveProfile } from '#signals/program/profile.ts'
import { csvMedia, type Exchange, queryOf, sendBytes, sendEnveloped } from '../../service/exchange.ts'
import { readJson } from '../../service/read-body.ts'
import { routesOf, type ServedParts, sendPublished } from '../exchange.ts'
import type { PreparedProgram } from '../program/prepared-program.ts'
import {
  boundsText,
  KEYED_BOUNDS,
  MOST_PROGRAM_BYTES,
  profileRequest,
  simulate,
  simulationRequest,
} from '../program/simulate.ts'
import { formatOfRows, pageParameters } from './signals.ts'

const PROGRAM = '/v1/program'
const BASKET = '/v1/program/basket'
const DEPLOYS = '/v1/program/deploys'
const PERFORMANCE = '/v1/program/performance'
const PROFILE = '/v1/program/profile'
const SIMULATE = '/v1/program/simulate'

const INPUT = { equity_usd: 25_000, contribution_cadence_bars: 14 }

const basketQuery = {
  view: wordParameter(
    '`reference`: the equity and cadence of the program; `personal`: those of the profile.',
    BASKET_VIEWS,
  ),
}

const deploysQuery = { ...pageParameters('Deployments'), format: formatOfRows }

const DEPLOY_FIELDS = Object.keys(programDeploy.shape) as (keyof typeof programDeploy.shape)[] // its own keys

const performanceQuery = {
  benchmark: wordParameter('What the program is held against.', PERFORMANCE_BENCHMARKS),
}

export const PROGRAM_ROUTES = routesOf('program', [
  {
    id: 'program',
    path: PROGRAM,
    title: 'The program',
    about: 'The manifest of the accumulation program: its tiers, its window, its costs, and where it stands.',
    data: programManifest,
    handler: (c, parts) => {
      const { documents } = parts.servedProgram()
      const links = {
        self: PROGRAM,
        basket: BASKET,
        deploys: DEPLOYS,
        performance: PERFORMANCE,
        profile: PROFILE,
      }
      return sendPublished(c, documents.manifest, links)
    },
  },
  {
    id: 'program_basket',
    path: BASKET,
    title: 'Basket',
    about:
      'What the program holds: on its own equity and cadence, or on those of the profile of the client. Without a ' +
      'profile the personal view answers `profile_not_set`.',
    query: basketQuery,
    data: programBasket,
    refusals: ['not_found', 'profile_not_set'],
    handler: async (c, parts, { client }) => {
      const served = parts.servedProgram()
      const query = parseQuery(basketQuery, queryOf(c))
      const links = {
        self: canonicalUrl(BASKET, basketQuery, query),
        program: PROGRAM,
        deploys: DEPLOYS,
        profile: PROFILE,
      }
      if (query.view === 'reference') return sendPublished(c, served.documents.basket, links)
      return sendEnveloped(c, personalBasket(served, await profileOf(parts, client.id)), links)
    },
  },
  {
    id: 'program_deploys',
    path: DEPLOYS,
    title: 'Deployments since a number',
    about: 'Every deployment of the reference basket after `since`, ascending by seq. None ever changes.',
    query: deploysQuery,
    formats: ['json', 'csv'],
    data: programDeploys,
    example: { path: `${DEPLOYS}?limit=3` },
    handler: (c, parts) => {
      const all = parts.servedProgram().deploys
      const query = parseQuery(deploysQuery, queryOf(c))
      const after = all.filter(({ seq }) => seq > query.since)
      const page = after.slice(0, query.limit ?? after.length)
      if (query.format === 'csv') return sendBytes(c, csvOf(page), csvMedia(`deploys-since-${query.since}`))
      const last = page.at(-1)?.seq ?? query.since
      const pathOf = (since: number) => canonicalUrl(DEPLOYS, deploysQuery, { ...query, since })
      const next = page.length < after.length ? { next: pathOf(last) } : {}
      const links: Links = { self: pathOf(query.since), program: PROGRAM, basket: BASKET, ...next }
      return sendEnveloped(c, page as readonly Json[], links, { count: page.length, last_seq: last })
    },
  },
  {
    id: 'program_performance',
    path: PERFORMANCE,
    title: 'Performance against a benchmark',
    about: 'The reference basket held against what anybody could have done instead.',
    query: performanceQuery,
    data: programPerformance,
    example: { path: `${PERFORMANCE}?benchmark=hodl` },
    handler: (c, parts) => {
      const { documents } = parts.servedProgram()
      const query = parseQuery(performanceQuery, queryOf(c))
      const links = {
        self: canonicalUrl(PERFORMANCE, performanceQuery, query),
        program: PROGRAM,
        basket: BASKET,
      }
      return sendPublished(c, documents[`performance-${query.benchmark}`], links)
    },
  },
  {
    id: 'get_profile',
    path: PROFILE,
    title: 'The profile',
    about: 'What the personal basket of the client is computed with.',
    data: programProfile,
    refusals: ['not_found', 'profile_not_set'],
    handler: async (c, parts, { client }) => {
      const { data } = parts.servedProgram()
      return sendProfile(c, data.plan, await profileOf(parts, client.id))
    },
  },
  {
    id: 'put_profile',
    method: 'PUT',
    path: PROFILE,
    title: 'Set the profile',
    about: 'Replaces the whole profile of the client. Values outside of the bounds are refused.',
    body: profileRequest,
    data: programProfile,
    example: { path: PROFILE, body: INPUT },
    handler: async (c, parts, { client }) => {
      const { data } = parts.servedProgram()
      const input = parseRequest(profileRequest, await readJson(c.req.raw, MOST_PROGRAM_BYTES))
      const stored = await saveProfile(parts.redis, client.id, input, parts.clock.now())
      return sendProfile(c, data.plan, stored)
    },
  },
  {
    id: 'program_simulate',
    method: 'POST',
    path: SIMULATE,
    title: 'Simulate',
    about: `The program on another equity and cadence. ${boundsText(KEYED_BOUNDS)}`,
    body: simulationRequest,
    data: programSimulation,
    example: { path: SIMULATE, body: INPUT },
    handler: (c, parts) =>
      simulate(c, parts, KEYED_BOUNDS, { self: SIMULATE, program: PROGRAM, profile: PROFILE }),
  },
])

const csvOf = (deploys: readonly ProgramDeploy[]) =>
  new TextEncoder().encode(
    toCsvHeader(DEPLOY_FIELDS) + deploys.map(deploy => toCsvRow(DEPLOY_FIELDS, deploy)).join(''),
  )

function personalBasket({ data, simulationOf }: PreparedProgram, input: Profile): Json {
  const { simulation } = simulationOf(input.contribution_cadence_bars)
  const { simulation: reference } = simulationOf(data.plan.contribution_cadence_bars)
  return renderBasket(data, 'personal', input, simulation, reference) as Json // its type leaves room for later fields
}

async function profileOf({ redis }: ServedParts, client: string): Promise<Profile> {
  const found = await readProfile(redis, client)
  if (found === null) throw new ApiError('profile_not_set', `no profile yet: PUT ${PROFILE} sets one`)
  return found
}

function sendProfile(c: Exchange, { alias }: ProgramPlan, stored: Profile): Response {
  const data = { schema_version: PROGRAM_SCHEMA_VERSION, alias, ...stored }
  const personal = canonicalUrl(BASKET, basketQuery, { view: 'personal' })
  return sendEnveloped(c, data, { self: PROFILE, basket: personal, program: PROGRAM })
}
