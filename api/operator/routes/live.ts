// The live strategies.
import { z } from 'zod'
import { invalidParameter } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { MODES } from '#core/contract/signal.ts'
import { halt, haltedAliases, orderMode, resume } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readLive } from '#signals/views/overview.ts'
import { readJson } from '../exchange.ts'
import { operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { liveStrategies, toLive } from '../views.ts'

const alias = z.string().describe('the id of a strategy')

export const haltRequest = z
  .strictObject({ alias: alias.default(EVERY_ALIAS).describe('the id of a strategy, or * for all') })
  .meta({ id: 'HaltRequest' })

const modeRequest = z
  .strictObject({
    alias,
    mode: z.enum(MODES).describe(`one of ${MODES.join(', ')}`),
  })
  .meta({ id: 'ModeRequest' })

export const LIVE_ROUTES = [
  operatorRoute({
    id: 'live',
    path: '/ops/live',
    title: 'State of the live strategies',
    data: liveStrategies,
    command: { usage: 'live status' },
    handler: async (_, parts) => ({ data: await describeLive(parts) }),
  }),
  haltRoute('halt', 'Halt a strategy, or all: no entry is fired, a flat still is', haltServed),
  haltRoute('resume', 'End a halt', resumeAny),
  operatorRoute({
    id: 'mode',
    method: 'POST',
    path: '/ops/live/mode',
    title: 'Set the mode of a strategy: LIVE or DRY_RUN',
    body: modeRequest,
    data: liveStrategies,
    refusals: ['conflict'],
    example: { path: '/ops/live/mode', body: { alias: 'alder', mode: 'DRY_RUN' } },
    command: { usage: 'live go-live <alias>' },
    handler: async (c, parts) => {
      const { alias, mode } = parseRequest(modeRequest, await readJson(c))
      assertAlias(alias, parts)
      await orderMode(parts.redis, alias, mode)
      return { data: await describeLive(parts) }
    },
  }),
]

const describeLive = async ({ redis, aliases, clock }: OperatorParts) => ({
  halted: await haltedAliases(redis),
  strategies: (await readLive(redis, aliases(), clock.now())).map(toLive),
})

type Act = (alias: string, parts: OperatorParts) => Promise<void>

function haltRoute(id: 'halt' | 'resume', title: string, act: Act) {
  const path = `/ops/live/${id}`
  return operatorRoute({
    id,
    method: 'POST',
    path,
    title,
    body: haltRequest,
    isBodyOptional: true,
    data: liveStrategies,
    example: { path, body: { alias: 'alder' } },
    command: { usage: `live ${id} [alias]` },
    handler: async (c, parts) => {
      await act(parseRequest(haltRequest, await readJson(c, true)).alias, parts)
      return { data: await describeLive(parts) }
    },
  })
}

/** Halts a strategy that is served, or all. Throws `validation_error`. */
export async function haltServed(alias: string, parts: OperatorParts): Promise<void> {
  assertAlias(alias, parts)
  await halt(parts.redis, alias)
}

/** Also for an alias that is no longer served, so that its halt can be ended. */
export function resumeAny(alias: string, { redis }: OperatorParts): Promise<void> {
  return resume(redis, alias)
}

/** A halt of an unknown name would be believed. */
function assertAlias(alias: string, { aliases }: Pick<OperatorParts, 'aliases'>): void {
  if (alias === EVERY_ALIAS || aliases().has(alias)) return
  throw invalidParameter('alias', alias.slice(0, 64), 'expected the id of a strategy of the served dataset')
}
