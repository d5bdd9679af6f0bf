// The record of a live strategy in Redis: what its runner wrote, what the operator orders, and its state as the operator sees it.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toEpochDay, toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { MODES, type Mode, type Signal, type SignalContent } from '#core/contract/signal.ts'
import { decisionHash } from '#core/replay/held.ts'
import type { EngineState } from '#core/replay/state.ts'
import { parseJson } from '#storage/json-bytes.ts'
import type { SealEvent } from '#storage/seals/seal.ts'
import { readSignal } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { EVERY_ALIAS, HALTED, LATEST, liveKey, SEAL_EVENTS } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import type { LiveStrategy } from './signals-of.ts'

/** Raised when the format changes so that an older runner cannot continue from it. */
const CHECKPOINT_FORMAT = 1

/** The position of a live strategy: everything that its next bar needs. */
export type Standing = {
  /** Close of its last bar, epoch milliseconds as text. */
  readonly cursor: string
  readonly version: string
  readonly state: EngineState
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

/** Null without a position. */
const announcedShape = z
  .object({ mode: z.enum(MODES), stop: z.number(), action: z.enum(['long', 'short']) })
  .nullable()

/** The position that subscribers were sent. */
type Announced = Readonly<z.output<typeof announcedShape>>

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
export function recordFields({ version, state, announced }: Omit<Standing, 'cursor'>, timeframeMs: number) {
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
  const state = parsed.data.state as unknown as EngineState
  if (decisionHash(state) !== parsed.data.hash) throw damaged(alias, 'is not what was written')
  return { cursor, version: parsed.data.version, state, announced: position, gaps: parseGaps(gaps) }
}

/** The field `announced` of a live record; undefined if it is malformed. */
const parseAnnounced = (text: string | null | undefined): Announced | undefined =>
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

/** A quarter of a bar, at most five minutes. */
export const LATE_MOST_MS = 300_000
const LATE_PART = 0.25

/** How long after the close of its bar an entry may be traded. */
export const lateAfterMs = (timeframeMs: number): number => Math.min(timeframeMs * LATE_PART, LATE_MOST_MS)

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

/** A live strategy as the operator sees it. */
export type LiveStatus = Awaited<ReturnType<typeof readStatus>>

/** Who ordered something of a live strategy, when (epoch milliseconds), and why: sealed if it changed anything. */
export type Ordered = { readonly by: string; readonly atMs: number; readonly why: string | null }

/** A `SealEvent` as it is stored and sealed. */
export const eventOf = (event: SealEvent['event'], alias: string, { by, atMs, why }: Ordered): string =>
  JSON.stringify({ event, alias, by, why, at: toIsoInstant(atMs) } satisfies SealEvent)

/**
 * Halts a strategy, or all if `alias` is `*`: once this resolves no further entry is committed; a `flat` still is. With a reason it
 * is an event also if it was halted before.
 */
export const halt = (redis: Redis, alias: string, by: Ordered): Promise<void> =>
  setHalt(redis, 'SADD', alias, eventOf('halt', alias, by), by.why === null ? '' : 'always')

/** Ends a halt. `*` and single strategies are independent. */
export const resume = (redis: Redis, alias: string, by: Ordered): Promise<void> =>
  setHalt(redis, 'SREM', alias, eventOf('resume', alias, by))

const setHalt = async (redis: Redis, ...args: readonly string[]): Promise<void> =>
  void (await runScript(redis, HALT_SCRIPT, [HALTED, SEAL_EVENTS], ...args))

const HALT_SCRIPT = `
if redis.call(ARGV[1], KEYS[1], ARGV[2]) == 1 or ARGV[4] == 'always' then redis.call('RPUSH', KEYS[2], ARGV[3]) end
return false
`

export const hasRun = async (redis: Redis, alias: string): Promise<boolean> =>
  (await askRedis(() => redis.hexists(liveKey(alias), 'cursor'))) === 1

/** The halted aliases; `*` stands for all. */
export const haltedAliases = async (redis: Redis): Promise<readonly string[]> =>
  (await askRedis(() => redis.smembers(HALTED))).sort()

/**
 * Sets the mode of a strategy from its next entry on. A position keeps the mode of its entry until its `flat`. Throws
 * `conflict` if the strategy never ran.
 */
export async function orderMode(redis: Redis, alias: string, mode: Mode, by: Ordered): Promise<void> {
  if (!(await hasRun(redis, alias))) {
    const message = `${alias} has never run: start \`highwater live\` first, and then order its mode`
    throw new ApiError('conflict', message)
  }
  const event = eventOf(mode === 'LIVE' ? 'live' : 'ended', alias, by)
  await runScript(redis, MODE_SCRIPT, [liveKey(alias), SEAL_EVENTS], mode, event)
}

const MODE_SCRIPT = `
local was = redis.call('HGET', KEYS[1], 'mode') or 'DRY_RUN'
redis.call('HSET', KEYS[1], 'mode', ARGV[1])
if was ~= ARGV[1] then redis.call('RPUSH', KEYS[2], ARGV[2]) end
return false
`

/** Notes how the signals of a strategy differ from the replay; null if they agree. */
export const noteDivergence = async (redis: Redis, alias: string, how: string | null): Promise<void> =>
  void (await askRedis(() =>
    how === null ? redis.hdel(liveKey(alias), 'diverges') : redis.hset(liveKey(alias), 'diverges', how),
  ))

const STATUS_FIELDS = ['cursor', 'live_from', 'mode', 'announced', 'timeframe_ms', 'gaps', 'diverges']

export async function readStatus(redis: Redis, alias: string, nowMs: number) {
  const [cursor, from, mode, announced, timeframe, gaps, diverges] = await askRedis(() =>
    redis.hmget(liveKey(alias), ...STATUS_FIELDS),
  )
  const halted = await haltedAliases(redis)
  const found = parseGaps(gaps).filter(({ found_ms }) => found_ms > 0)
  const gap = found.at(-1) ?? null
  const dueMs = cursor && timeframe ? nowMs - (Number(cursor) + Number(timeframe)) : 0
  const behindMs = dueMs > lateAfterMs(Number(timeframe)) ? dueMs : 0
  return {
    alias,
    /** When this was read. */
    atMs: nowMs,
    /** Null if it never ran. */
    last_bar_close: cursor ? toIsoInstant(Number(cursor)) : null,
    live_from: from ? toIsoInstant(Number(from)) : null,
    /** As ordered; a strategy whose catalogue says DRY_RUN stays so. */
    mode: MODES.find(each => each === mode) ?? ('DRY_RUN' as const),
    halted: halted.includes(alias) || halted.includes(EVERY_ALIAS),
    /** The side of the position that subscribers were sent, or null. */
    announced: parseAnnounced(announced)?.action ?? null,
    /** How long its next bar has been due; 0 as long as an entry on that bar would still be on time. */
    behind_seconds: Math.round(behindMs / 1_000),
    /** The newest gap since it went live, or null. */
    gap,
    missing_bars: found.reduce((sum, { missing }) => sum + missing, 0),
    gap_before: gap && toIsoInstant(gap.before_ms),
    /** How its signals differed from the replay when a build last compared them; null if they agreed. */
    diverges: diverges ?? null,
    by_hand: await readByHand(redis, alias),
  }
}

/** The number of the newest signal of a strategy if an operator fired it, else null. */
async function readByHand(redis: Redis, alias: string): Promise<number | null> {
  const seq = Number((await askRedis(() => redis.hget(LATEST, alias))) ?? 0)
  const newest = await readSignal(redis, seq).catch(() => null) // it is reported where it is read
  if (newest === null) return null
  const { by = 'strategy' }: Signal = JSON.parse(newest.body) // its digest was checked
  return by === 'strategy' ? null : seq
}

/** Whether a runner is silent that subscribers rely on: its strategy is LIVE, or they were sent a position of it. */
export const isMissed = ({ behind_seconds, mode, announced }: LiveStatus): boolean =>
  behind_seconds > 0 && (mode === 'LIVE' || announced !== null)
