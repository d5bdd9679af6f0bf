import { ApiError } from '#core/contract/errors.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { assertClock, ClockError } from '#signals/live/clock.ts'
import { commit, SignalConflictError } from '#signals/log/commit.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { type Answer, type Handler, readJson } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'

/** `POST /ops/signals`: 201 for a new signal, 200 for one that was fired before under the same id. */
export const fire: Handler = async (c, parts) => {
  const content = parseFireRequest(await readJson(c), parts.aliases(), parts.clock.now())
  try {
    return await fireOnce(content, parts)
  } catch (error) {
    throw await toRefusal(error, parts)
  }
}

async function fireOnce(content: SignalContent, parts: OperatorParts): Promise<Answer> {
  const { redis, clock, onFired } = parts
  await assertClock(redis, clock.now)
  const startedMs = clock.elapsed()
  const outcome = await commit(redis, [{ content, onlyFor: null }], clock.now())
  if (outcome.kind === 'halted') throw halted(outcome.alias)
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
const halted = (alias: string): ApiError =>
  new ApiError('conflict', `${alias} is halted: entries are not fired until \`highwater ops live resume\``)

/** Only here is it said what to do about a reply that was lost: the id makes it safe. */
async function toRefusal(error: unknown, { diskUsed }: OperatorParts): Promise<unknown> {
  if (error instanceof SignalConflictError) return new ApiError('conflict', error.message)
  if (error instanceof ClockError) return new ApiError('unavailable', error.message)
  if (error instanceof WritesRefusedError)
    return new ApiError('unavailable', `${error.message}; nothing was fired`)
  if (error instanceof RedisDownError)
    return new ApiError('unavailable', `${whyDown((await diskUsed?.()) ?? 0)}${OUTCOME_UNKNOWN}`)
  return error
}

const OUTCOME_UNKNOWN = 'outcome unknown: send the same signal_id again'

/** A Redis that cannot write ends, and takes back what was half written: its disk is left a little less than full. */
const FULL_FROM = 0.98

/** What an operator should mend before, where it is the disk. */
const whyDown = (diskUsed: number): string =>
  diskUsed < FULL_FROM
    ? ''
    : 'Redis is away, and its disk is full: make room, and start it again where it does not come back; '
