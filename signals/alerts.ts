// What somebody must look at, told once and not at every look. An alert holds names and numbers, never an address or a secret.
import { toIsoInstant } from '#core/calendar.ts'
import type { DeliveryEvent } from './delivery/delivery-parts.ts'
import type { Overview } from './views/overview.ts'

export type AlertKind =
  | 'exhausted'
  | 'disabled'
  | 'failing'
  | 'stuck'
  | 'relay_stuck'
  | 'redis_down'
  | 'redis_unsafe'
  | 'redis_full'
  | 'live_mismatch'

export type Alert = {
  readonly kind: AlertKind
  /** A client, an alias or a part of the service. */
  readonly subject: string
  /** One sentence, with what to do. */
  readonly message: string
}

/** An alert as it is sent. */
export type SentAlert = Alert & {
  readonly at: string
  /** Alerts of this kind and subject that were swallowed since the last one. */
  readonly repeated: number
}

/** The same alert is told again after so long, if it is raised again: an hour is soon enough to be reminded. */
const REPEAT_MS = 3_600_000

/** Alerts of all kinds in one minute; a storm of them would hide each. */
const MOST_A_MINUTE = 20
const MINUTE_MS = 60_000

/** Kinds and subjects that are remembered. */
const MOST_REMEMBERED = 10_000

/** A Redis with less room than this is full soon. */
const FULL_AT = 0.85

/** Signals that wait for a relay which runs: a block and more. */
const MOST_LAG = 1_000

export type Alerts = {
  readonly raise: (alert: Alert) => void
  readonly onEvent: (event: DeliveryEvent) => void
  /** Holds how the service stands against what it should be; null where Redis cannot be asked. */
  readonly look: (overview: Overview | null) => void
}

/** Alerts of one process; `send` must not throw. */
export function createAlerts(send: (alert: SentAlert) => void, now: () => number): Alerts {
  const told = new Map<string, { atMs: number; repeated: number }>()
  let minute = { startedMs: Number.NEGATIVE_INFINITY, count: 0 }
  const raise = (alert: Alert): void => {
    const key = `${alert.kind} ${alert.subject}`
    const last = told.get(key)
    if (now() - minute.startedMs >= MINUTE_MS) minute = { startedMs: now(), count: 0 }
    if ((last !== undefined && now() - last.atMs < REPEAT_MS) || minute.count >= MOST_A_MINUTE) {
      if (last !== undefined) last.repeated++
      return
    }
    minute.count++
    told.delete(key)
    told.set(key, { atMs: now(), repeated: 0 })
    if (told.size > MOST_REMEMBERED) told.delete(told.keys().next().value ?? '')
    send({ ...alert, at: toIsoInstant(now()), repeated: last?.repeated ?? 0 })
  }
  const onEvent = (event: DeliveryEvent): void => {
    const alert = toAlert(event)
    if (alert !== null) raise(alert)
  }
  return { raise, onEvent, look: overview => problemsOf(overview).forEach(raise) }
}

/** Each stage of failing is an alert of its own: the second one must not be swallowed as the first again. */
function toAlert(event: DeliveryEvent): Alert | null {
  switch (event.kind) {
    case 'attempt':
    case 'withdrawn':
    case 'our fault':
      return null
    case 'exhausted': {
      const message = `signal ${event.seq} was not taken by ${event.client} in any attempt: \`highwater ops signal ${event.seq} ${event.client}\``
      return { kind: 'exhausted', subject: event.client, message }
    }
    case 'disabled': {
      const message = `the webhook of ${event.client} is disabled: ${event.why}; \`highwater ops webhook enable ${event.client}\` when it is mended`
      return { kind: 'disabled', subject: event.client, message }
    }
    case 'failing': {
      const minutes = Math.round(event.forMs / MINUTE_MS)
      const message = `the webhook of ${event.client} has failed for ${minutes} minutes: tell its owner`
      return { kind: 'failing', subject: `${event.client} for ${minutes} min`, message }
    }
    case 'stuck': {
      const seconds = Math.round(event.forMs / 1_000)
      const message = `${event.waiting} calls wait and none was begun for ${seconds} s: restart the delivery process`
      return { kind: 'stuck', subject: 'workers', message }
    }
  }
}

/** What is wrong with the service as it stands. */
function problemsOf(overview: Overview | null): readonly Alert[] {
  if (overview === null)
    return [
      {
        kind: 'redis_down',
        subject: 'redis',
        message: 'Redis does not answer: nothing is fired or delivered until it does',
      },
    ]
  const { redis, isRelayed, relayLag } = overview
  const found: Alert[] = []
  if (redis.problems.length > 0)
    found.push({
      kind: 'redis_unsafe',
      subject: 'redis',
      message: `Redis could lose signals: ${redis.problems.join('; ')}`,
    })
  if (!redis.isWriting)
    found.push({
      kind: 'redis_full',
      subject: 'disk',
      message: 'Redis cannot write its append-only file: make room on its disk',
    })
  if (redis.limitBytes > 0 && redis.usedBytes > FULL_AT * redis.limitBytes)
    found.push({
      kind: 'redis_full',
      subject: 'memory',
      message: 'Redis has used 85 % of its memory: give it more',
    })
  if (relayLag > 0 && (!isRelayed || relayLag > MOST_LAG))
    found.push({
      kind: 'relay_stuck',
      subject: 'relay',
      message: `${relayLag} signals wait for the relay: is a delivery process running?`,
    })
  return found
}
