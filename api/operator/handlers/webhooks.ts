import { ApiError } from '#core/contract/errors.ts'
import {
  disableRequest,
  parseRequest,
  replayQuery,
  rotationRequest,
  webhookRequest,
} from '#core/contract/operator-requests.ts'
import { findClient } from '#signals/clients/clients.ts'
import { readWebhookStates } from '#signals/views/webhook-state.ts'
import { type Exchange, type Handler, readJson } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { toWebhook } from '../views.ts'
import { clientOf } from './clients.ts'

const HOUR_MS = 3_600_000

/** How a webhook stands after what was done to it. */
async function stateOf(c: Exchange, { redis, orders }: OperatorParts) {
  const id = clientOf(c)
  const state = (await readWebhookStates(redis, [id])).get(id) ?? null
  return toWebhook(state, state === null ? null : await orders.readAddress(id))
}

/** Throws `not_found` unless the client is there and has a webhook. */
async function assertWebhook(c: Exchange, { redis }: OperatorParts): Promise<string> {
  const { id } = await findClient(redis, clientOf(c))
  if (!(await readWebhookStates(redis, [id])).has(id))
    throw new ApiError('not_found', `the client '${id}' has no webhook: set one first`)
  return id
}

export const showWebhook: Handler = async (c, parts) => {
  await assertWebhook(c, parts)
  return { data: await stateOf(c, parts) }
}

/** The only answers that ever hold a secret of a webhook are this and the next. */
export const setWebhook: Handler = async (c, parts) => {
  const { id } = await findClient(parts.redis, clientOf(c))
  const request = parseRequest(webhookRequest, await readJson(c))
  const { secret } = await parts.orders.register(id, request)
  return { data: { webhook: await stateOf(c, parts), secret } }
}

export const rotateWebhook: Handler = async (c, parts) => {
  const id = await assertWebhook(c, parts)
  const { overlap_hours } = parseRequest(rotationRequest, await readJson(c, true))
  const { secret } = await parts.orders.rotate(
    id,
    overlap_hours === undefined ? null : overlap_hours * HOUR_MS,
  )
  return { data: { webhook: await stateOf(c, parts), secret } }
}

export const enableWebhook: Handler = async (c, parts) => {
  await parts.orders.enable(await assertWebhook(c, parts))
  return { data: await stateOf(c, parts) }
}

export const disableWebhook: Handler = async (c, parts) => {
  const id = await assertWebhook(c, parts)
  const { why } = parseRequest(disableRequest, await readJson(c, true))
  await parts.orders.disable(id, why)
  return { data: await stateOf(c, parts) }
}

export const removeWebhook: Handler = async (c, parts) => {
  await parts.orders.remove(await assertWebhook(c, parts))
  return { data: null }
}

export const fireTest: Handler = async (c, parts) => {
  const id = await assertWebhook(c, parts)
  await assertEnabled(id, parts)
  const seq = await parts.orders.fireTest(id)
  return { status: 201, data: { seq } }
}

/** To a disabled webhook nothing is sent: whoever waits for the test would wait for ever. */
async function assertEnabled(id: string, { redis }: OperatorParts): Promise<void> {
  const webhook = (await readWebhookStates(redis, [id])).get(id)
  if (webhook?.enabled !== false) return
  const why = webhook.disabledWhy === null ? '' : ` (${webhook.disabledWhy})`
  throw new ApiError(
    'conflict',
    `the webhook of '${id}' is disabled${why}: enable it first, with \`highwater ops webhook enable ${id}\``,
  )
}

export const replay: Handler = async (c, parts) => {
  const id = await assertWebhook(c, parts)
  const { from } = parseRequest(replayQuery, c.req.query())
  return { data: { client: id, from, owed_again: await parts.orders.replay(id, from) } }
}
