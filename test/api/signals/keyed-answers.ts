// Bodies of the signals service, parsed: what the specification promises, written down apart from the product.
import type { IncomingMessage } from 'node:http'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { z } from 'zod'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { OUTBOX_PREFIX } from '#signals/redis/keys.ts'

const instant = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)

const FIXED_META = { generated_utc: instant, timing_ms: z.number().min(0) }

const ERROR = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string().min(1), details: z.unknown() }),
  meta: z.strictObject(FIXED_META),
})

const INPUT = z.strictObject({ equity_usd: z.number(), contribution_cadence_bars: z.number() })

const ENVELOPE = z.strictObject({
  data: z.unknown(),
  meta: z.strictObject({
    ...FIXED_META,
    count: z.int().min(0).optional(),
    basis: z.literal('live').optional(),
    last_seq: z.int().min(0).optional(),
    expired: z
      .array(z.strictObject({ seq: z.int(), endpoints: z.array(z.string()) }))
      .min(1)
      .optional(),
    input_clamped: z.boolean().optional(),
    requested: INPUT.optional(),
  }),
  links: z.record(z.string(), z.string().startsWith('/')),
})

export const SIGNAL = z.strictObject({
  schema_version: z.literal('1.0'),
  signal_id: z.string(),
  seq: z.int().min(1),
  alias: z.string(),
  mode: z.enum(['LIVE', 'DRY_RUN']),
  is_test: z.boolean(),
  action: z.enum(['long', 'short', 'flat']),
  signal_price: z.number(),
  stop: z.number(),
  base_risk_pct: z.number(),
  timestamp: instant,
  implied_leverage: z.number(),
  by: z.string(),
  why: z.enum(['stop', 'signal', 'time', 'operator', 'end']).optional(),
})

/** The error of an answer; its envelope and its headers are checked against the specification. */
export async function refusalOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  return ERROR.parse(await response.json()).error
}

/** The envelope of an answer that was given. */
export async function envelopeOf(response: Response) {
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  return ENVELOPE.parse(await response.json())
}

/** The rows of a history. */
export const rowsOf = async (response: Response) => z.array(SIGNAL).parse((await envelopeOf(response)).data)

/** The numbers of the rows of a history. */
export const seqsOf = async (response: Response): Promise<number[]> =>
  (await rowsOf(response)).map(({ seq }) => seq)

/** What the server knows of a request from an address. */
export const from = (remoteAddress: string) => ({
  incoming: { socket: { remoteAddress } } as IncomingMessage, // all that the app reads of it
})

const CHANGING = [
  ...['put_webhook', 'get_webhook', 'put_endpoint', 'patch_endpoint', 'rotate_endpoint', 'endpoints'],
  ...['resend', 'test_endpoint', 'delete_endpoint', 'put_profile', 'get_profile', 'confirm_key'],
]

/** The routes in the order in which a test asks them: those that change what the others answer come last. */
export const ROUTES_IN_TURN = SIGNALS_ROUTES.toSorted(
  (a, b) => CHANGING.indexOf(a.id) - CHANGING.indexOf(b.id),
)

/** Every record in whose key a client is, and every delivery to it. */
export async function storedOf(redis: Redis, client: string) {
  const names = (await redis.keys('*')).sort()
  const dump = async (name: string) => [name, (await redis.dumpBuffer(name)).toString('hex')]
  const records = await Promise.all(names.filter(name => name.includes(client)).map(dump))
  const outboxes = names.filter(name => name.startsWith(OUTBOX_PREFIX)).map(name => redis.hgetall(name))
  const owed = (await Promise.all(outboxes)).flatMap(Object.entries)
  return [records, owed.filter(([destination]) => destination.startsWith(client))]
}
