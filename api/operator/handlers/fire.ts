import { ApiError } from '#core/contract/errors.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { assertClock, ClockError } from '#signals/live/clock.ts'
import { haltedAliases } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { commit, SignalConflictError } from '#signals/log/commit.ts'
import { askRedis, RedisDownError, RedisFullError } from '#signals/redis/connect.ts'
import { SIGNAL_IDS } from '#signals/redis/keys.ts'
import { type Answer, type Handler, REDIS_FULL } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { readJson } from '../read-body.ts'

/** `POST /ops/signals`: 201 for a new signal, 200 for one that was fired before under the same id. */
export const fire: Handler = async (c, parts) => {
  const content = parseFireRequest(await readJson(c), parts.aliases(), parts.clock.now())
  try {
    return await fireOnce(content, parts)
  } catch (error) {
    throw toRefusal(error)
  }
}

async function fireOnce(content: SignalContent, parts: OperatorParts): Promise<Answer> {
  const { redis, clock, onFired } = parts
  await assertClock(redis, clock.now)
  await assertNotHalted(content, parts)
  const startedMs = clock.elapsed()
  const outcome = await commit(redis, [{ content, onlyFor: null }], clock.now())
  onFired?.(clock.elapsed() - startedMs)
  const [signal] = outcome.kind === 'committed' ? outcome.signals : []
  if (signal === undefined) throw new Error('a fire without a cursor was turned away by one')
  const { seq, isRepeat } = signal
  return {
    status: isRepeat ? 200 : 201,
    data: {
      seq,
      signal_id: content.signal_id,
      repeated: isRepeat,
      implied_leverage: content.implied_leverage,
    },
  }
}

/** A halt stops entries through every door; a `flat` takes risk off, and what was fired before is told again. */
async function assertNotHalted(
  { signal_id, alias, action }: SignalContent,
  { redis }: OperatorParts,
): Promise<void> {
  if (action === 'flat') return
  const halted = await haltedAliases(redis)
  if (!halted.includes(alias) && !halted.includes(EVERY_ALIAS)) return
  if ((await askRedis(() => redis.hexists(SIGNAL_IDS, signal_id))) === 1) return
  throw new ApiError(
    'conflict',
    `${alias} is halted: entries are not fired until \`highwater ops live resume\``,
  )
}

/** Only here is it said what to do about a reply that was lost: the id makes it safe. */
function toRefusal(error: unknown): unknown {
  if (error instanceof SignalConflictError) return new ApiError('conflict', error.message)
  if (error instanceof ClockError) return new ApiError('unavailable', error.message)
  if (error instanceof RedisFullError)
    return new ApiError('unavailable', `${REDIS_FULL}: nothing was fired; give it memory or disk`)
  if (error instanceof RedisDownError)
    return new ApiError('unavailable', 'outcome unknown: send the same signal_id again')
  return error
}
