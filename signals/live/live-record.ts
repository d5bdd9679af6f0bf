import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toEpochDay, toIsoDate } from '#core/calendar.ts'
import { MODES, type Mode, type SignalContent } from '#core/contract/signal.ts'
import { decisionHash } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import { askRedis } from '../redis/connect.ts'
import { HALTED, liveKey } from '../redis/keys.ts'
import type { LiveStrategy } from './signals-of.ts'

/** Raised when an older runner could not go on from what a newer one wrote. */
const CHECKPOINT_FORMAT = 1

/** Halts every strategy. */
export const EVERY_ALIAS = '*'

/** Where a live strategy stands: everything that its next bar needs. */
export type Standing = {
  /** Close of its last bar, epoch milliseconds as text. */
  readonly cursor: string
  readonly version: string
  readonly state: EngineState<unknown>
  readonly announced: Announced
}

const checkpoint = z.object({
  format: z.literal(CHECKPOINT_FORMAT),
  version: z.string(),
  hash: z.string(),
  state: z.looseObject({ bars: z.number(), last_t: z.number(), last_close: z.number() }),
})

const announcedShape = z
  .object({ mode: z.enum(MODES), stop: z.number(), action: z.enum(['long', 'short']) })
  .nullable()

/** The fields of the live record after a bar. */
export function recordFields({
  version,
  state,
  announced,
}: Omit<Standing, 'cursor'>): Record<string, string> {
  const hash = decisionHash(state)
  return {
    checkpoint: JSON.stringify({ format: CHECKPOINT_FORMAT, version, hash, state }),
    announced: JSON.stringify(announced),
    // The last bar of a day overwrites those before it: what a nightly replay of whole days is held against.
    [hashField(state.last_t)]: `${state.last_t} ${hash}`,
  }
}

/** The field for the last bar of the UTC day in which a bar opened: its open, and the digest of the state after it. */
export const hashField = (openMs: number): string => `hash:${toIsoDate(toEpochDay(openMs))}`

/** The field that says that an entry was kept back by a halt. */
export const heldField = (id: string): string => `held:${id}`

/** Where a strategy stands, or null where it never ran. Throws where the checkpoint is not what was written. */
export async function readStanding(redis: Redis, alias: string): Promise<Standing | null> {
  const [cursor, text, announced] = await askRedis(() =>
    redis.hmget(liveKey(alias), 'cursor', 'checkpoint', 'announced'),
  )
  if (!cursor) return null
  const parsed = checkpoint.safeParse(parseJson(text ?? ''))
  const told = announcedShape.safeParse(parseJson(announced ?? 'null'))
  if (!parsed.success || !told.success) throw damaged(alias, 'is not one that this runner can read')
  // A state that has its digest is one that `recordFields` wrote.
  const state = parsed.data.state as unknown as EngineState<unknown>
  if (decisionHash(state) !== parsed.data.hash) throw damaged(alias, 'is not what was written')
  return { cursor, version: parsed.data.version, state, announced: told.data }
}

const damaged = (alias: string, what: string): Error =>
  new Error(
    `${alias}: its checkpoint in Redis ${what}: use the release that wrote it, or restore it with \`highwater ops restore\``,
  )

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What the operator has ordered for a strategy. */
export async function readOrders(
  redis: Redis,
  { alias, catalogueMode }: Pick<LiveStrategy, 'alias' | 'catalogueMode'>,
): Promise<{ readonly mode: Mode; readonly isHalted: boolean }> {
  const ordered = await askRedis(() => redis.hget(liveKey(alias), 'mode'))
  const halted = await askRedis(() => redis.smismember(HALTED, alias, EVERY_ALIAS))
  const mode = ordered === 'LIVE' && catalogueMode === 'LIVE' ? 'LIVE' : 'DRY_RUN'
  return { mode, isHalted: halted.some(is => is === 1) }
}

/** The cursor of a state: the close of the last bar in it. */
export const cursorOf = (
  { last_t }: EngineState<unknown>,
  { timeframeMs }: Pick<LiveStrategy, 'timeframeMs'>,
): string => String(last_t + timeframeMs)

/** A quarter of a bar, and never more than this: a price of five minutes ago is not the price that was decided on. */
const LATE_MOST_MS = 300_000
const LATE_PART = 0.25

/** How long after the close of its bar an entry may still be traded. */
export const lateAfterMs = (timeframeMs: number): number => Math.min(timeframeMs * LATE_PART, LATE_MOST_MS)

/** The position that subscribers were told of, and how; null where there is none that they know. */
export type Announced = {
  readonly mode: Mode
  readonly stop: number
  readonly action: 'long' | 'short'
} | null

/** What stands over a bar. */
export type Orders = {
  /** LIVE where both the operator's command and the catalogue say so. */
  readonly mode: Mode
  readonly isHalted: boolean
  readonly isLate: boolean
}

export type Announcement = {
  readonly signals: readonly SignalContent[]
  readonly announced: Announced
  /** Ids of entries that a halt kept back. */
  readonly held: readonly string[]
}

/**
 * What becomes of the signals of a step. An entry is LIVE in a live strategy and on time, `DRY_RUN` otherwise, and does
 * not go out at all while the strategy is halted. A `flat` goes out as its entry did, whatever has been ordered since,
 * because it only takes risk off; the `flat` of a position that nobody was told of does not go out.
 */
export function announce(signals: readonly SignalContent[], before: Announced, orders: Orders): Announcement {
  const out: SignalContent[] = []
  const held: string[] = []
  let announced = before
  for (const signal of signals) {
    if (signal.action === 'flat') {
      if (announced !== null) out.push({ ...signal, mode: announced.mode })
      announced = null
    } else if (orders.isHalted) {
      held.push(signal.signal_id)
      announced = null
    } else {
      const mode = orders.isLate ? 'DRY_RUN' : orders.mode
      out.push({ ...signal, mode })
      announced = { mode, stop: signal.stop, action: signal.action }
    }
  }
  return { signals: out, announced, held }
}
