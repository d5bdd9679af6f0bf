import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import type { StepReport } from '#core/replay/held.ts'
import type { Bar } from '#core/replay/strategy.ts'
import { commit, type NewSignal } from '../log/commit.ts'
import {
  announce,
  describeGap,
  heldField,
  lateAfterMs,
  type Orders,
  readOrders,
  readStanding,
  recordFields,
  type Standing,
} from './live-record.ts'
import { closeOf, type LiveStrategy, signalsOf } from './signals-of.ts'

export type LiveWorld = {
  readonly redis: Redis
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Throws a ClockError if the clock may be wrong. */
  readonly assertClock: () => Promise<void>
  /** Prints a line for the operator. */
  readonly note: (line: string) => void
}

/**
 * Processes one closed bar of one strategy: a step of the engine, and one commit of its signals, checkpoint and
 * cursor. A bar that was committed already, by this runner or another, is not committed again: the position in Redis
 * is returned. Throws a RedisDownError if the outcome is unknown: run the same bar again.
 */
export async function runBar(
  world: LiveWorld,
  strategy: LiveStrategy,
  standing: Standing,
  bar: Bar,
): Promise<Standing> {
  const { redis, now } = world
  const { state, report } = await strategy.step(standing.state, bar)
  await world.assertClock()
  const closeMs = closeOf(bar, strategy)
  const isLate = now() - closeMs > lateAfterMs(strategy.timeframeMs)
  const orders = { ...(await readOrders(redis, strategy)), isLate }
  const after = { cursor: String(closeMs), version: strategy.version, state }
  const next = await writeBar(world, strategy, standing, { report, orders, after })
  if (next !== null) return next
  const halted = { ...orders, isHalted: true } // ordered since they were read
  const kept = await writeBar(world, strategy, standing, { report, orders: halted, after })
  if (kept === null) throw new Error(`${strategy.alias}: a halt kept back a bar without an entry`)
  return kept
}

type Decided = {
  readonly report: StepReport
  readonly orders: Orders
  readonly after: Omit<Standing, 'announced' | 'gaps'>
}

/** The new position; null, with nothing written, if a halt forbids one of the entries. */
async function writeBar(
  world: LiveWorld,
  strategy: LiveStrategy,
  standing: Standing,
  { report, orders, after }: Decided,
): Promise<Standing | null> {
  const { signals, announced, held } = announce(signalsOf(report, strategy), standing.announced, orders)
  const before_ms = report.bar.t
  const missing = (before_ms - Number(standing.cursor)) / strategy.timeframeMs // a bar without a gap opens at the cursor
  const found = missing > 0 ? [{ missing, before_ms, found_ms: world.now() }] : []
  const next: Standing = { ...after, announced, gaps: [...standing.gaps, ...found] }
  const outcome = await commit(world.redis, signals.map(toNew), world.now(), {
    alias: strategy.alias,
    from: standing.cursor,
    to: next.cursor,
    fields: {
      ...recordFields(next, strategy.timeframeMs),
      ...(missing > 0 ? { gaps: JSON.stringify(next.gaps) } : {}),
      ...Object.fromEntries(held.map(id => [heldField(id), 'halt'])),
    },
  })
  if (outcome.kind === 'halted') return null
  if (outcome.kind === 'moved') return reload(world, strategy, standing, next)
  for (const gap of found) world.note(`${strategy.alias}: ${describeGap(gap)}`)
  for (const [i, { seq }] of outcome.signals.entries()) world.note(describe(seq, signals[i]!))
  for (const _ of held) world.note(`${strategy.alias}: an entry is kept back, because it is halted`)
  return next
}

export const toNew = (content: SignalContent): NewSignal => ({ content, onlyFor: null })

const describe = (seq: number, { alias, action, mode, signal_price, stop }: SignalContent): string =>
  `signal ${seq}: ${alias} ${action} at ${signal_price}, stop ${stop}, ${mode}`

/** Continues from the record in Redis, which is never behind the bar unless Redis was restored. */
async function reload(
  { redis, note }: LiveWorld,
  { alias, version }: LiveStrategy,
  before: Standing,
  wanted: Standing,
): Promise<Standing> {
  const there = await readStanding(redis, alias)
  if (there === null || Number(there.cursor) < Number(wanted.cursor) || there.version !== version) {
    throw new Error(
      `${alias}: Redis does not know the bar that closed at ${toIsoInstant(Number(before.cursor))} as this runner left ` +
        'it: it was wiped or restored, or another runner replaced the strategy; start this one again',
    )
  }
  note(`${alias}: the bar that closed at ${toIsoInstant(Number(wanted.cursor))} was committed before`)
  return there
}
