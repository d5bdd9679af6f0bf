// Health, readiness, versions and the document.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { SIGNAL_SCHEMA_VERSION } from '#core/contract/signal.ts'
import type { ValueOf } from '#core/contract/value-of.ts'
import { LogGoneError, readGuardedHead } from '#signals/log/guard.ts'
import { RedisDownError } from '#signals/redis/connect.ts'
import { sendBytes, sendEnveloped } from '../exchange.ts'
import { API_VERSION } from '../settings.ts'
import { routesOf } from '../signals-route.ts'

const checks = z
  .object({
    redis: z.boolean().describe('True when Redis, which holds the log, answers.'),
    log: z.boolean().describe('True when the log there is the one that was written.'),
  })
  .describe('What was looked at.')

type Readiness = ValueOf<typeof checks>

export const INFRASTRUCTURE_ROUTES = routesOf('open', [
  {
    id: 'healthz',
    path: '/healthz',
    title: 'Liveness',
    about: 'Answers 200 as long as the process lives, with or without Redis.',
    data: z.object({ status: z.literal('ok').describe('The process lives.') }).meta({ id: 'SignalsHealth' }),
    handler: (c, parts) =>
      sendEnveloped(c, parts, { status: 'ok' }, { self: '/healthz', readyz: '/readyz', version: '/version' }),
  },
  {
    id: 'readyz',
    path: '/readyz',
    title: 'Readiness',
    about: 'Answers 200 when the log can be read and is whole, else 503 with the checks in details.',
    data: z
      .object({ ready: z.literal(true).describe('Always true: else the answer is 503.'), checks })
      .meta({ id: 'SignalsReadiness' }),
    refusals: ['not_ready'],
    handler: async (c, parts) => {
      const found = await assertReady(parts.redis, parts.isDraining())
      const links = { self: '/readyz', healthz: '/healthz', version: '/version' }
      return sendEnveloped(c, parts, { ready: true, checks: found }, links)
    },
  },
  {
    id: 'version',
    path: '/version',
    title: 'Versions',
    about: 'Version of the interface and of the schema of a signal.',
    data: z
      .object({
        api_version: z.string().describe('Version of the interface.'),
        stability: z.string().describe('`stable`.'),
        schema_version: z.string().describe('`schema_version` of the signals that are written now.'),
      })
      .meta({ id: 'SignalsVersion' }),
    handler: (c, parts) => {
      const data = { api_version: API_VERSION, stability: 'stable', schema_version: SIGNAL_SCHEMA_VERSION }
      return sendEnveloped(c, parts, data, { self: '/version', schema: '/v1/signals/schema' })
    },
  },
  {
    id: 'openapi',
    path: '/openapi.json',
    title: 'This document',
    about: 'The description of this service for programs, OpenAPI 3.1.',
    data: z
      .looseObject({
        openapi: z.string().describe('Version of OpenAPI.'),
        paths: z
          .record(
            z.string(),
            z.record(z.string(), z.looseObject({ operationId: z.string().describe('Id of the route.') })),
          )
          .describe('What can be asked, by path and method.'),
      })
      .meta({ id: 'OpenApiDocument' }),
    isBare: true,
    mediaType: 'application/openapi+json',
    handler: (_c, parts) => sendBytes(parts, parts.documents.openApi, OPENAPI_MEDIA),
  },
])

const OPENAPI_MEDIA = { 'content-type': 'application/openapi+json; charset=utf-8' }

/** Reads Redis without writing, so that a full one is ready for pulls. Throws `not_ready` with the checks. */
async function assertReady(redis: Redis, isDraining: boolean): Promise<Readiness> {
  const checks = await readReadiness(redis)
  const reason = isDraining ? 'the process is shutting down' : reasonOf(checks)
  if (reason === null) return checks
  throw new ApiError('not_ready', reason, { details: { checks } })
}

/** An unreachable log counts as missing. */
async function readReadiness(redis: Redis): Promise<Readiness> {
  try {
    await readGuardedHead(redis)
    return { redis: true, log: true }
  } catch (error) {
    if (error instanceof LogGoneError) return { redis: true, log: false }
    if (error instanceof RedisDownError) return { redis: false, log: false }
    throw error
  }
}

function reasonOf({ redis, log }: Readiness): string | null {
  if (!redis) return 'the log of signals cannot be reached'
  return log ? null : 'the log of signals must be repaired first'
}
