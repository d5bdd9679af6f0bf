import type { Redis } from 'ioredis'
import { DAY_MS, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import type { LoggedContent, Mode, Signal } from '#core/contract/signal.ts'
import type { StepReport } from '#core/replay/held.ts'
import { readVisible } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { liveKey } from '../redis/keys.ts'
import { hashField, heldField } from './live-record.ts'
import { priceOf, type Sender, signalId, signalsOf } from './signals-of.ts'

/** What a live strategy left in Redis, to be compared with a replay. */
export type LivePast = NonNullable<Awaited<ReturnType<typeof readLivePast>>>

/** A replay of all bars: the steps from `fromMs` on, and the digest at the end of each day. */
export type Replayed = Sender & {
  readonly reports: readonly StepReport[]
  readonly days: readonly { readonly openMs: number; readonly hash: string }[]
  readonly endMs: number
}

/**
 * What a strategy left, or null if it never ran in this version: `fromMs` is the close of the last bar before it was
 * live, `cursorMs` that of its last bar.
 */
export async function readLivePast(redis: Redis, alias: string, version: string) {
  const record = await askRedis(() => redis.hgetall(liveKey(alias)))
  const { cursor, live_from, checkpoint } = record
  if (!cursor || !live_from || !checkpoint) return null
  const ran: { version?: unknown } = JSON.parse(checkpoint)
  return ran.version === version ? { fromMs: Number(live_from), cursorMs: Number(cursor), record } : null
}

/** What the runner fired for an alias, by id. */
export type FiredSignals = ReadonlyMap<string, Signal>

/** What was fired for each alias of `pasts`, in one pass over the log. */
export async function readFired(redis: Redis, pasts: ReadonlyMap<string, LivePast>) {
  const fired = new Map([...pasts.keys()].map(alias => [alias, new Map<string, Signal>()]))
  const viewer = { id: '', aliases: [...pasts.keys()] } // no client: it sees no tests
  for await (const block of readVisible(redis, viewer, 0, pasts.size === 0 ? 0 : Number.POSITIVE_INFINITY))
    for (const { body, alias } of block) {
      const { fromMs, cursorMs } = pasts.get(alias)!
      const signal: Signal = JSON.parse(body) // its digest was checked: it is what `toHalves` made
      if (isOfRunner(signal) && isInside(signal, fromMs, cursorMs))
        fired.get(alias)!.set(signal.signal_id, signal)
    }
  return fired
}

/** Signals fired by hand say so; those of earlier releases have ids of another form. */
const isOfRunner = ({ signal_id, alias, timestamp, action, is_test, by = 'strategy' }: Signal): boolean =>
  !is_test && by === 'strategy' && signal_id === signalId(alias, Date.parse(timestamp), action)

/** Whether the bar of a signal closed after `fromMs` and not after `untilMs`. */
function isInside({ timestamp }: Pick<Signal, 'timestamp'>, fromMs: number, untilMs: number): boolean {
  const closeMs = Date.parse(timestamp)
  return closeMs > fromMs && closeMs <= untilMs
}

/**
 * Compares what was fired with a replay of the same bars; returns one sentence per difference, with alias, bar,
 * stored and replayed. Only tradeable signals must agree: tests, `DRY_RUN`, signals fired by hand, entries kept back
 * by a halt, and the `flat` of an unannounced position are left out.
 */
export function compareLive(past: LivePast, fired: FiredSignals, replayed: Replayed): readonly string[] {
  const untilMs = Math.min(past.cursorMs, replayed.endMs)
  return [...signalFaults(past, fired, replayed, untilMs), ...hashFaults(past, replayed, untilMs)]
}

function signalFaults(
  { record, fromMs }: LivePast,
  fired: FiredSignals,
  replayed: Replayed,
  untilMs: number,
): string[] {
  const stored = new Map([...fired].filter(([, signal]) => isInside(signal, fromMs, untilMs)))
  const faults: string[] = []
  let announced: Mode | null = null
  const expected = replayed.reports.flatMap(report => signalsOf(report, replayed))
  for (const signal of expected.filter(one => isInside(one, fromMs, untilMs))) {
    const isFlat = signal.action === 'flat'
    if (isFlat && announced === null) continue
    const there = stored.get(signal.signal_id)
    const isExcused = isFlat ? announced === 'DRY_RUN' : record[heldField(signal.signal_id)] !== undefined
    stored.delete(signal.signal_id)
    announced = isFlat ? null : (there?.mode ?? null)
    const wanted = describe({ ...signal, why: there?.by === undefined ? undefined : signal.why }, replayed)
    const found = there === undefined ? 'nothing' : describe(there, replayed)
    if (there === undefined ? isExcused : there.mode === 'DRY_RUN' || found === wanted) continue
    faults.push(faultAt(signal, found, wanted))
  }
  for (const signal of stored.values()) {
    if (signal.mode === 'LIVE') faults.push(faultAt(signal, describe(signal, replayed), 'nothing'))
  }
  return faults
}

/** Earlier releases did not round to the tick: prices are compared on it, and the risk instead of the leverage. They gave no cause. */
const describe = ({ action, why, signal_price, stop, base_risk_pct }: LoggedContent, sender: Sender) =>
  `${action}${why === undefined ? '' : ` (${why})`} at ${priceOf(signal_price, sender)}, stop ${priceOf(stop, sender)}, risk ${base_risk_pct}`

const faultAt = (signal: Pick<Signal, 'alias' | 'timestamp'>, stored: string, replay: string): string =>
  `${signal.alias}, bar that closed at ${signal.timestamp}: stored is ${stored}; the replay has ${replay}`

/** The first day that ended in another state; later ones differ with it. */
function hashFaults({ record, fromMs }: LivePast, replayed: Replayed, untilMs: number): string[] {
  for (const { openMs, hash } of replayed.days) {
    const dayEndMs = (toEpochDay(openMs) + 1) * DAY_MS
    const there = record[hashField(openMs)]
    if (openMs < fromMs || dayEndMs > untilMs || there === `${openMs} ${hash}`) continue
    const at = toIsoInstant(openMs + replayed.timeframeMs)
    return [
      `${replayed.alias}, bar that closed at ${at}: stored is the state ${there ?? 'of no bar'}; the replay has ${openMs} ${hash}`,
    ]
  }
  return []
}
