import { ApiError } from '#core/contract/errors.ts'
import {
  accountQuery,
  deliveriesQuery,
  parseRequest,
  parseSeq,
  signalsQuery,
} from '#core/contract/operator-requests.ts'
import type { Json } from '#core/dataset/render/json.ts'
import { accountFor } from '#signals/delivery/account-for.ts'
import { readAttempts, readDelivery, readOutbox } from '#signals/delivery/outbox.ts'
import { type LoggedSignal, readSignal } from '#signals/log/read-log.ts'
import { readOverview } from '#signals/views/overview.ts'
import { recentDeliveries, recentSignals, rowsOf } from '#signals/views/recent.ts'
import type { Exchange, Handler } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { toAttempt, toDelivery, toStatus } from '../views.ts'

export const allSignals: Handler = async (c, { redis }) => {
  const { rows, next } = await recentSignals(redis, parseRequest(signalsQuery, c.req.query()))
  const data = rows.map(({ signal, counts }) => ({ ...describe(signal), deliveries: { ...counts } }))
  return { data, meta: { next } }
}

export const oneSignal: Handler = async (c, { redis }) => {
  const signal = await signalOf(c, redis)
  const deliveries = rowsOf(signal, await readOutbox(redis, signal.seq)).map(toDelivery)
  return { data: { ...describe(signal), deliveries } }
}

export const oneDelivery: Handler = async (c, { redis }) => {
  const { seq, alias, atMs: firedAtMs } = await signalOf(c, redis)
  const client = c.req.param('client') ?? ''
  const state = await readDelivery(redis, seq, client)
  if (state === null)
    throw new ApiError('not_found', `signal ${seq} was never owed to the client '${client.slice(0, 64)}'`)
  const attempts = (await readAttempts(redis, seq, client)).map(toAttempt)
  return { data: { delivery: toDelivery({ seq, client, alias, firedAtMs, state }), attempts } }
}

export const allDeliveries: Handler = async (c, { redis }) => {
  const { rows, next } = await recentDeliveries(redis, parseRequest(deliveriesQuery, c.req.query()))
  return { data: rows.map(toDelivery), meta: { next } }
}

export const account: Handler = async (c, { redis }) => {
  const { from = null, to = null } = parseRequest(accountQuery, c.req.query())
  return { data: await accountFor(redis, c.req.param('client') ?? '', from, to) }
}

export const status: Handler = async (_, parts) => ({ data: toStatus(await readOverview(parts)) })

/** The signal that a path names. Throws `not_found`. */
export async function signalOf(c: Exchange, redis: OperatorParts['redis']): Promise<LoggedSignal> {
  const seq = parseSeq(c.req.param('seq') ?? '')
  const signal = await readSignal(redis, seq)
  if (signal === null) throw new ApiError('not_found', `there is no signal ${seq}`)
  return signal
}

const describe = ({ seq, body, onlyFor, atMs }: LoggedSignal): { readonly [key: string]: Json } => ({
  seq,
  fired_at: new Date(atMs).toISOString(),
  only_for: onlyFor,
  signal: JSON.parse(body) as Json, // the log holds what was written as JSON
})
