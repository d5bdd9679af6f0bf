import { ApiError } from '#core/contract/errors.ts'
import { haltRequest, modeRequest, parseRequest } from '#core/contract/operator-requests.ts'
import { halt, haltedAliases, orderMode, readStatus, resume } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readLive } from '#signals/views/overview.ts'
import { type Handler, readJson } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { toLive } from '../views.ts'

export const live: Handler = async (_, parts) => ({ data: await describeLive(parts) })

export const haltLive: Handler = async (c, parts) => {
  const { alias } = parseRequest(haltRequest, await readJson(c, true))
  assertAlias(alias, parts)
  await halt(parts.redis, alias)
  return { data: await describeLive(parts) }
}

/** Also for an alias that is no more: its halt must be possible to end. */
export const resumeLive: Handler = async (c, parts) => {
  const { alias } = parseRequest(haltRequest, await readJson(c, true))
  await resume(parts.redis, alias)
  return { data: await describeLive(parts) }
}

export const orderLiveMode: Handler = async (c, parts) => {
  const { alias, mode } = parseRequest(modeRequest, await readJson(c))
  assertAlias(alias, parts)
  if ((await readStatus(parts.redis, alias)).cursorMs === null)
    throw new ApiError(
      'conflict',
      `${alias} has never run: start \`highwater live\` first, and then order its mode`,
    )
  await orderMode(parts.redis, alias, mode)
  return { data: await describeLive(parts) }
}

const describeLive = async ({ redis, aliases }: OperatorParts) => ({
  halted: [...(await haltedAliases(redis))],
  strategies: (await readLive(redis, aliases())).map(toLive),
})

/** A halt of a name that nobody has would be believed. Throws `validation_error`. */
export function assertAlias(alias: string, { aliases }: Pick<OperatorParts, 'aliases'>): void {
  if (alias === EVERY_ALIAS || aliases().has(alias)) return
  const reason = 'expected the id of a strategy of the served dataset'
  throw new ApiError('validation_error', `alias: ${reason}`, {
    details: [{ param: 'alias', value: alias.slice(0, 64), reason }],
  })
}
