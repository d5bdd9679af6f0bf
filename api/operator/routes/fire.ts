import { toIsoInstant } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { type FireOrder, fireRequest, parseFireRequest } from '#core/contract/fire-request.ts'
import { flag, named, text, type ValueOf } from '#core/contract/payloads/field.ts'
import { signal } from '#core/contract/signal.ts'
import { hasRun, LATE_MOST_MS } from '#signals/live/live-record.ts'
import { commit, SignalConflictError } from '#signals/log/commit.ts'
import { isKnownId } from '#signals/log/read-log.ts'
import { assertClock, ClockError } from '#signals/redis/clock.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { seq } from '../../service/deliveries.ts'
import type { Answer, Warning } from '../../service/page/page-route.ts'
import { type OperatorParts, readJson } from '../exchange.ts'
import type { OperatorRoute } from '../operator-route.ts'

const firedSignal = named('FiredSignal', {
  seq,
  signal_id: text('Its id, as it was sent.'),
  repeated: flag('True if it was fired before under the same id: then nothing was written.'),
  implied_leverage: signal.shape.implied_leverage,
})

/** Its handler checks the body itself, against what is served. */
export const FIRE_ROUTE: OperatorRoute = {
  group: 'operator',
  id: 'fire',
  method: 'POST',
  path: '/ops/signals',
  scope: 'fire',
  subject: { kind: 'name', field: 'alias' },
  title: 'Fire a signal; the same id is fired once',
  about:
    'Answers once the signal is on disk, with 201 if it is new and 200 if it was fired before; it goes to every client that is entitled to its alias. The ' +
    'same `signal_id` with the same content gets its first number again, so a fire whose answer was ' +
    'lost can be repeated; with other content it is a `conflict`. So is an entry of a halted strategy, ' +
    'and a `LIVE` entry is refused five minutes after its timestamp; a `flat` is fired nevertheless. The ' +
    'signal says `by: operator:NAME`, the name of the token, and a `flat` also `why: operator`. A strategy that ' +
    'has run live is fired with `by_hand: true` only, and an entry has the base risk of the catalogue.',
  body: fireRequest,
  data: firedSignal,
  statuses: [201, 200],
  refusals: ['conflict'],
  example: {
    path: '/ops/signals',
    body: {
      signal_id: 'alder-20261121-1',
      alias: 'alder',
      action: 'long',
      signal_price: 50_000,
      stop: 49_000,
      base_risk_pct: 0.02,
      timestamp: '2026-11-21T00:00:00Z',
      mode: 'DRY_RUN',
      by_hand: true,
    },
  },
  command: { usage: 'fire <file>', fields: ['by_hand'] },
  form: {
    offers: [
      {
        at: 'signals',
        button: 'Fire…',
        inputs: 'signal_id alias action signal_price stop base_risk_pct timestamp mode by_hand'.split(' '),
      },
    ],
    // Those of the first look, so that a fire whose answer was lost is repeated as it was.
    makes: {
      signal_id: ({ random }) => `by-hand-${Buffer.from(random(8)).toString('hex')}`,
      timestamp: ({ clock }) => toIsoInstant(clock.now()),
    },
    warn: warnOfFire,
    next: ({ seq }: ValueOf<typeof firedSignal>) => `/ops/view/signals/${seq}`,
    done: 'The signal is fired. Its deliveries are below.',
  },
  ask: c => readJson(c),
  handler: async (c, parts, who) => {
    try {
      return await fireOnce(await orderOf(await readJson(c), parts, who.name), parts)
    } catch (error) {
      throw await toRefusal(error, parts)
    }
  },
}

function warnOfFire(asked: unknown, parts: OperatorParts): Warning {
  const { content } = parseFireRequest(asked, '', parts, parts.clock.now())
  const { mode, action, alias, signal_price, stop, base_risk_pct, implied_leverage } = content
  return [
    `Fire a ${mode} ${action} of ${alias}?`,
    `At ${signal_price} with the stop ${stop}, risk ${base_risk_pct}, leverage ${implied_leverage}. It is sent to every client that is entitled to ${alias}, at once, and cannot be taken back.`,
  ]
}

const withId = fireRequest.pick({ signal_id: true }).loose()

/** What a body asks for. What was fired before is answered again, whatever holds by now. */
async function orderOf(body: unknown, parts: OperatorParts, operator: string): Promise<FireOrder> {
  const nowMs = parts.clock.now()
  try {
    const order = parseFireRequest(body, operator, parts, nowMs)
    await assertMayFire(order, parts)
    return order
  } catch (error) {
    const { success, data } = withId.safeParse(body)
    if (success && (await isKnownId(parts.redis, data.signal_id)))
      return parseFireRequest(body, operator, null, nowMs)
    throw error
  }
}

async function fireOnce(
  order: FireOrder,
  parts: OperatorParts,
): Promise<Answer<ValueOf<typeof firedSignal>>> {
  const { redis, clock, onFired } = parts
  const { content } = order
  const startedMs = clock.elapsed()
  const outcome = await commit(redis, [{ content, onlyFor: null }], clock.now())
  // A halt stops entries from every source; a `flat` reduces risk, and a repeated fire is answered again.
  if (outcome.kind === 'halted') {
    const why = `${outcome.alias} is halted: entries are not fired until \`highwater ops live resume\``
    throw new ApiError('conflict', why)
  }
  onFired?.(clock.elapsed() - startedMs)
  const [fired] = outcome.kind === 'committed' ? outcome.signals : []
  if (fired === undefined) throw new Error('a fire without a cursor was turned away by one')
  const { seq, isRepeat: repeated } = fired
  const { signal_id, implied_leverage } = content
  return { status: repeated ? 200 : 201, data: { seq, signal_id, repeated, implied_leverage } }
}

/** Throws `validation_error` on a LIVE entry that is late, and on what a live runner fires itself unless it is meant so. */
async function assertMayFire(order: FireOrder, { redis, clock }: OperatorParts): Promise<void> {
  const { alias, action, mode, timestamp } = order.content
  await assertClock(redis, clock.now)
  const isLate = action !== 'flat' && mode === 'LIVE' && clock.now() - Date.parse(timestamp) > LATE_MOST_MS
  const isForeign = !order.isByHand && (await hasRun(redis, alias))
  if (isForeign)
    throw invalidParameter(
      'by_hand',
      'false',
      `expected true, got false: ${alias} has run live, and its runner fires what its rules decide. \`highwater ops fire FILE --by-hand\` fires it nevertheless, and the signal says so`,
    )
  if (!isLate) return
  const reason = `a LIVE entry is fired within ${LATE_MOST_MS / 60_000} minutes of its timestamp: decide again, or give mode DRY_RUN`
  throw invalidParameter('timestamp', timestamp, reason)
}

/** Only a fire can be repeated after a lost reply: the id makes it safe. */
async function toRefusal(error: unknown, { diskUsed }: OperatorParts): Promise<unknown> {
  if (error instanceof SignalConflictError) return new ApiError('conflict', error.message)
  if (error instanceof ClockError) return new ApiError('unavailable', error.message)
  if (error instanceof WritesRefusedError)
    return new ApiError('unavailable', `${error.message}; nothing was fired`)
  if (error instanceof RedisDownError) {
    const why = ((await diskUsed?.()) ?? 0) < FULL_FROM ? '' : DISK_FULL
    return new ApiError('unavailable', `${why}outcome unknown: send the same signal_id again`)
  }
  return error
}

/** A Redis that cannot write ends and removes what was half written, so its disk is slightly below full. */
const FULL_FROM = 0.98

const DISK_FULL =
  'Redis is away, and its disk is full: make room, and start it again where it does not come back; '
