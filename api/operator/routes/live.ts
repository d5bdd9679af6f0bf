// The live strategies.
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { MODES } from '#core/contract/signal.ts'
import { halt, haltedAliases, orderMode, readStatus, resume } from '#signals/live/control.ts'
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
  operatorRoute({
    id: 'halt',
    method: 'POST',
    path: '/ops/live/halt',
    title: 'Halt a strategy, or all: no entry is fired, a flat still is',
    body: haltRequest,
    isBodyOptional: true,
    data: liveStrategies,
    example: { path: '/ops/live/halt', body: { alias: 'alder' } },
    command: { usage: 'live halt [alias]' },
    handler: async (c, parts) => {
      const { alias } = parseRequest(haltRequest, await readJson(c, true))
      assertAlias(alias, parts)
      await halt(parts.redis, alias)
      return { data: await describeLive(parts) }
    },
  }),
  operatorRoute({
    id: 'resume',
    method: 'POST',
    path: '/ops/live/resume',
    title: 'End a halt',
    body: haltRequest,
    isBodyOptional: true,
    data: liveStrategies,
    example: { path: '/ops/live/resume', body: { alias: 'alder' } },
    command: { usage: 'live resume [alias]' },
    // Also for an alias that is no longer served, so that its halt can be ended.
    handler: async (c, parts) => {
      const { alias } = parseRequest(haltRequest, await readJson(c, true))
      await resume(parts.redis, alias)
      return { data: await describeLive(parts) }
    },
  }),
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
      if ((await readStatus(parts.redis, alias)).cursorMs === null)
        throw new ApiError(
          'conflict',
          `${alias} has never run: start \`highwater live\` first, and then order its mode`,
        )
      await orderMode(parts.redis, alias, mode)
      return { data: await describeLive(parts) }
    },
  }),
]

const describeLive = async ({ redis, aliases }: OperatorParts) => ({
  halted: await haltedAliases(redis),
  strategies: (await readLive(redis, aliases())).map(toLive),
})

/** A halt of an unknown name would be believed. Throws `validation_error`. */
export function assertAlias(alias: string, { aliases }: Pick<OperatorParts, 'aliases'>): void {
  if (alias === EVERY_ALIAS || aliases().has(alias)) return
  const reason = 'expected the id of a strategy of the served dataset'
  throw new ApiError('validation_error', `alias: ${reason}`, {
    details: [{ param: 'alias', value: alias.slice(0, 64), reason }],
  })
}
