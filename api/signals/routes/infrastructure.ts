import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { byName, flag, named, namedRecord, object, text } from '#core/contract/payloads/field.ts'
import { SIGNAL_SCHEMA_VERSION } from '#core/contract/signal.ts'
import { commit } from '#signals/log/commit.ts'
import { LogGoneError } from '#signals/log/guard.ts'
import { ClockError } from '#signals/redis/clock.ts'
import { askRedis, RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { EPOCH } from '#signals/redis/keys.ts'
import { API_VERSION, sendBytes, sendEnveloped } from '../../service/exchange.ts'
import { OPENAPI_TYPE } from '../../service/headers.ts'
import { routesOf, type SignalsParts } from '../exchange.ts'

const checks = object('What was looked at.', {
  redis: flag('True when Redis, which holds the log, answers.'),
  log: flag('True when the log there is the one that was written.'),
  fires: flag('True when a signal that is fired now would be accepted.'),
})

export const INFRASTRUCTURE_ROUTES = routesOf('open', [
  {
    id: 'healthz',
    path: '/healthz',
    title: 'Liveness',
    about: 'Answers 200 as long as the process lives, with or without Redis.',
    data: named('SignalsHealth', { status: z.literal('ok').describe('The process lives.') }),
    handler: c =>
      sendEnveloped(c, { status: 'ok' }, { self: '/healthz', readyz: '/readyz', version: '/version' }),
  },
  {
    id: 'readyz',
    path: '/readyz',
    title: 'Readiness',
    about: 'Answers 200 when the log is whole and signals can be fired, else 503 with the checks in details.',
    data: named('SignalsReadiness', {
      ready: z.literal(true).describe('Always true: else the answer is 503.'),
      checks,
    }),
    refusals: ['not_ready'],
    handler: async (c, parts) => {
      const { reason, ...found } = await readReadiness(parts)
      const why = parts.isDraining() ? 'the process is shutting down' : reason
      if (why !== null) throw new ApiError('not_ready', why, { details: { checks: found } })
      const links = { self: '/readyz', healthz: '/healthz', version: '/version' }
      return sendEnveloped(c, { ready: true, checks: found }, links)
    },
  },
  {
    id: 'version',
    path: '/version',
    title: 'Versions',
    about: 'Version of the interface and of the schema of a signal.',
    data: named('SignalsVersion', {
      api_version: text('Version of the interface.'),
      stability: text('`stable`.'),
      schema_version: text('`schema_version` of the signals that are written now.'),
    }),
    handler: c => {
      const data = { api_version: API_VERSION, stability: 'stable', schema_version: SIGNAL_SCHEMA_VERSION }
      return sendEnveloped(c, data, { self: '/version', schema: '/v1/signals/schema' })
    },
  },
  {
    id: 'openapi',
    path: '/openapi.json',
    title: 'This document',
    about: 'The description of this service for programs, OpenAPI 3.1.',
    data: namedRecord('OpenApiDocument', {
      openapi: text('Version of OpenAPI.'),
      paths: byName(
        'What can be asked, by path and method.',
        z.record(z.string(), z.looseObject({ operationId: text('Id of the route.') })),
      ),
    }),
    isBare: true,
    mediaType: 'application/openapi+json',
    handler: (c, parts) => sendBytes(c, parts.documents.openApi(), { 'content-type': OPENAPI_TYPE }),
  },
])

/** Checks what a fire checks, in the same order. An unreachable log counts as missing. */
async function readReadiness({ redis, clock, assertClock, onError }: SignalsParts) {
  const isThere = { redis: true, log: true }
  const isMissing = { log: false, fires: false }
  try {
    await commit(redis, [], clock.now())
    await assertClock()
    await askRedis(() => redis.setrange(EPOCH, 0, '')) // changes nothing, and is refused as every write is
    return { ...isThere, fires: true, reason: null }
  } catch (error) {
    if (error instanceof LogGoneError)
      return { redis: true, ...isMissing, reason: 'the log of signals must be repaired first' }
    const isRefused = error instanceof WritesRefusedError || error instanceof ClockError
    if (error instanceof RedisDownError && !isRefused)
      return { redis: false, ...isMissing, reason: 'the log of signals cannot be reached' }
    if (!isRefused) onError(error)
    const where = isRefused ? 'the operator has been alerted' : 'the log of the service says why'
    return { ...isThere, fires: false, reason: `no signal can be fired; ${where}` }
  }
}
