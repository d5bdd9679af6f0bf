import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { MODES, type Mode, type SignalContent } from '#core/contract/signal.ts'
import { decisionHash } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { askRedis } from '../redis/connect.ts'
import { EVERY_ALIAS, HALTED, liveKey } from '../redis/keys.ts'
import type { LiveStrategy } from './signals-of.ts'

/** Raised when the format changes so that an older runner cannot continue from it. */
const CHECKPOINT_FORMAT = 1

/** The position of a live strategy: everything that its next bar needs. */
export type Standing = {
  /** Close of its last bar, epoch milliseconds as text. */
  readonly cursor: string
  readonly version: string
  readonly state: EngineState<unknown>
  readonly announced: Announced
  readonly gaps: readonly Gap[]
}

const checkpoint = z.object({
  format: z.literal(CHECKPOINT_FORMAT),
  version: z.string(),
  hash: z.string(),
  state: z.looseObject({
    bars: z.number(),
    last_t: z.number(),
    last_close: z.number(),
    unit: z.number().default(1), // older checkpoints are all in one
  }),
})

const announcedShape = z
  .object({ mode: z.enum(MODES), stop: z.number(), action: z.enum(['long', 'short']) })
  .nullable()

const gapsShape = z
  .array(z.object({ missing: z.number(), before_ms: z.number(), found_ms: z.number() }))
  .catch([]) // no decision depends on them

/**
 * What a strategy decided without: how many bars are missing before the one that opened at `before_ms`, and when the runner
 * found that; 0 for a gap in the bars that it went live with.
 */
export type Gap = Readonly<z.output<typeof gapsShape>[number]>

export const parseGaps = (text: string | null | undefined): readonly Gap[] =>
  gapsShape.parse(parseJson(text ?? '[]'))

/** `2 bars are missing before 2026-11-20T00:00:00Z, and it goes on without`. */
export const describeGap = ({ missing, before_ms }: Omit<Gap, 'found_ms'>): string =>
  `${missing === 1 ? 'a bar is' : `${missing} bars are`} missing before ${toIsoInstant(before_ms)}, and it goes on without`

/** The fields of the live record after a bar. */
export function recordFields(
  { version, state, announced }: Omit<Standing, 'cursor'>,
  timeframeMs: number,
): Record<string, string> {
  const hash = decisionHash(state)
  return {
    checkpoint: JSON.stringify({ format: CHECKPOINT_FORMAT, version, hash, state }),
    announced: JSON.stringify(announced),
    timeframe_ms: String(timeframeMs),
    // The last bar of a day overwrites earlier ones; nightly replays of whole days are compared with it.
    [hashField(state.last_t)]: `${state.last_t} ${hash}`,
  }
}

/** The field for the last bar of a UTC day: its open, and the digest of the state after it. */
export const hashField = (openMs: number): string => `hash:${toIsoDate(toEpochDay(openMs))}`

/** The field that marks an entry kept back by a halt. */
export const heldField = (id: string): string => `held:${id}`

/** The position of a strategy, or null if it never ran. Throws if the checkpoint is malformed. */
export async function readStanding(redis: Redis, alias: string): Promise<Standing | null> {
  const [cursor, text, announced, gaps] = await askRedis(() =>
    redis.hmget(liveKey(alias), 'cursor', 'checkpoint', 'announced', 'gaps'),
  )
  if (!cursor) return null
  const parsed = checkpoint.safeParse(parseJson(text ?? ''))
  const position = parseAnnounced(announced)
  if (!parsed.success || position === undefined) throw damaged(alias, 'is not one that this runner can read')
  // A state with a matching digest was written by `recordFields`.
  const state = parsed.data.state as unknown as EngineState<unknown>
  if (decisionHash(state) !== parsed.data.hash) throw damaged(alias, 'is not what was written')
  return { cursor, version: parsed.data.version, state, announced: position, gaps: parseGaps(gaps) }
}

/** The field `announced` of a live record; undefined if it is malformed. */
export const parseAnnounced = (text: string | null | undefined): Announced | undefined =>
  announcedShape.safeParse(parseJson(text ?? 'null')).data

const damaged = (alias: string, what: string): Error =>
  new Error(
    `${alias}: its checkpoint in Redis ${what}: use the release that wrote it, or restore it with \`highwater ops restore\``,
  )

export async function readOrders(
  redis: Redis,
  { alias, catalogueMode }: Pick<LiveStrategy, 'alias' | 'catalogueMode'>,
): Promise<{ readonly mode: Mode; readonly isHalted: boolean }> {
  const ordered = await askRedis(() => redis.hget(liveKey(alias), 'mode'))
  const halted = await askRedis(() => redis.smismember(HALTED, alias, EVERY_ALIAS))
  const mode = ordered === 'LIVE' && catalogueMode === 'LIVE' ? 'LIVE' : 'DRY_RUN'
  return { mode, isHalted: halted.some(is => is === 1) }
}

/** The cursor of a state: the close of its last bar. */
export const cursorOf = (
  { last_t }: EngineState<unknown>,
  { timeframeMs }: Pick<LiveStrategy, 'timeframeMs'>,
): string => String(last_t + timeframeMs)

/** A quarter of a bar, at most five minutes. */
export const LATE_MOST_MS = 300_000
const LATE_PART = 0.25

/** How long after the close of its bar an entry may be traded. */
export const lateAfterMs = (timeframeMs: number): number => Math.min(timeframeMs * LATE_PART, LATE_MOST_MS)

/** The position that subscribers were sent, or null. */
export type Announced = {
  readonly mode: Mode
  readonly stop: number
  readonly action: 'long' | 'short'
} | null

export type Orders = {
  /** LIVE if both the operator and the catalogue say so. */
  readonly mode: Mode
  readonly isHalted: boolean
  readonly isLate: boolean
}

/**
 * Decides which signals of a step go out. An entry is LIVE in a live strategy and on time, else `DRY_RUN`, and does
 * not go out while the strategy is halted. A `flat` goes out as its entry did, whatever was ordered since, because it
 * only reduces risk; the `flat` of an unannounced position does not.
 */
export function announce(signals: readonly SignalContent[], before: Announced, orders: Orders) {
  const out: SignalContent[] = []
  const held: string[] = [] // the ids of entries that a halt kept back
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
