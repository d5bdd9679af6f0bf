// What somebody must look at, told once and not at every look. An alert holds names and numbers, never an address or a secret.
import { toIsoInstant } from '#core/calendar.ts'
import type { Alert } from './alert.ts'
import type { DeliveryEvent } from './delivery/delivery-parts.ts'
import { LogGoneError } from './log/guard.ts'
import { WritesRefusedError } from './redis/connect.ts'
import type { Overview } from './views/overview.ts'

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

/** Faults of ours in a row: one or two are a moment's, such as a restart of the resolver. */
const FAULTS_IN_A_ROW = 3

export type Alerts = {
  readonly raise: (alert: Alert) => void
  readonly onEvent: (event: DeliveryEvent) => void
  /**
   * Holds how the service stands against what it should be; null where Redis cannot be asked. `diskUsed` is how much of
   * the disk of Redis is used, from 0 to 1, null where nobody knows. Call it every few seconds: it also tells how many
   * alerts were kept back when their minute is over.
   */
  readonly look: (overview: Overview | null, diskUsed?: number | null) => void
  /** Tells why the service could not be looked at; a full disk may be what ended Redis. */
  readonly onLookFailed: (error: unknown, diskUsed?: number | null) => void
}

/** Alerts of one process; `send` must not throw. */
export function createAlerts(send: (alert: SentAlert) => void, now: () => number): Alerts {
  const told = new Map<string, { atMs: number; repeated: number }>()
  let minute = { startedMs: Number.NEGATIVE_INFINITY, count: 0, keptBack: new Set<string>() }
  let stoodAt: number | null = null
  const turnMinute = (): void => {
    if (now() - minute.startedMs < MINUTE_MS) return
    const { keptBack } = minute
    minute = { startedMs: now(), count: 0, keptBack: new Set() }
    if (keptBack.size > 0) send({ ...toMore(keptBack), at: toIsoInstant(now()), repeated: 0 })
  }
  const raise = (alert: Alert): void => {
    const key = `${alert.kind} ${alert.subject}`
    const last = told.get(key)
    turnMinute()
    if (last !== undefined && now() - last.atMs < REPEAT_MS) {
      last.repeated++
      return
    }
    if (minute.count >= MOST_A_MINUTE) {
      if (minute.keptBack.size < MOST_REMEMBERED) minute.keptBack.add(key)
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
  return {
    raise,
    onEvent,
    look(overview, diskUsed = null) {
      turnMinute()
      for (const alert of [...problemsOf(overview, stoodAt), ...problemsOfDisk(diskUsed)]) raise(alert)
      stoodAt = overview === null ? null : standstillOf(overview)
    },
    onLookFailed(error, diskUsed = null) {
      for (const alert of [...problemsOfFailure(error), ...problemsOfDisk(diskUsed)]) raise(alert)
    },
  }
}

/** What was kept back in a minute, by kind: the names stand in the ledger, on the page and in the metrics. */
function toMore(keptBack: ReadonlySet<string>): Alert {
  const counts = new Map<string, number>()
  for (const key of keptBack) {
    const kind = key.slice(0, key.indexOf(' '))
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const message = `and ${keptBack.size} more in a minute that had ${MOST_A_MINUTE} already: ${kinds}; \`highwater ops status\` tells how things stand`
  return { kind: 'more', subject: 'alerts', message }
}

/** Each stage of failing is an alert of its own: the second one must not be swallowed as the first again. */
function toAlert(event: DeliveryEvent): Alert | null {
  switch (event.kind) {
    case 'attempt':
    case 'withdrawn':
      return null
    case 'our fault':
      return event.inARow < FAULTS_IN_A_ROW ? null : toFaultAlert(event)
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

/** An error of the program befalls a client; what is wrong with our network befalls all, and is one alert. */
function toFaultAlert({ client, seq, reason, inARow }: Extract<DeliveryEvent, { kind: 'our fault' }>): Alert {
  if (reason !== 'program_error') {
    const message = `deliveries cannot be sent, ${inARow} times in a row: ${reason}; look at the network and the name resolution of this machine`
    return { kind: 'our_fault', subject: reason, message }
  }
  const what = seq === null ? `looking after ${client}` : `delivering signal ${seq} to ${client}`
  const message = `${what} ended in an error of the program ${inARow} times in a row: the log of the process tells it; what is owed stays owed`
  return { kind: 'our_fault', subject: client, message }
}

/** A Redis with less room than this is full soon. */
const FULL_AT = 0.85

/** Of the disk under the append-only file, lowest first: a rewrite needs room for a second copy, and then it is too late. */
const DISK_FULL_AT: readonly number[] = [0.7, 0.85]

/** Signals that wait for a relay which runs: a block and more. */
const MOST_LAG = 1_000

/** A replica may also take writes, where it is set to, and lose them when it follows its primary again. */
const READ_ONLY: Alert = {
  kind: 'redis_read_only',
  subject: 'writes',
  message: 'Redis is a replica, where nothing is fired: name its primary in REDIS_URL, or promote it',
}

/** The last number that the relay has passed, where others wait behind it; else null. */
export const standstillOf = ({ seq, relayLag }: Overview): number | null =>
  relayLag > 0 ? seq - relayLag : null

/** What is wrong with the service as it stands, and as the relay stood at the look before, where signals waited for it. */
export function problemsOf(overview: Overview | null, stoodAt: number | null = null): readonly Alert[] {
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
  if (redis.isReplica) found.push(READ_ONLY)
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
  else if (stoodAt !== null && stoodAt === standstillOf(overview))
    found.push({
      kind: 'relay_stuck',
      subject: 'relay',
      message: `the relay does not get past signal ${stoodAt}, and ${relayLag} wait: the log of the process tells why`,
    })
  return found
}

/** What is wrong with a service that cannot be looked at. */
export function problemsOfFailure(error: unknown): readonly Alert[] {
  if (error instanceof LogGoneError) return [{ kind: 'redis_wiped', subject: 'log', message: error.message }]
  if (error instanceof WritesRefusedError) return [toRefusalAlert(error)]
  return problemsOf(null)
}

const toRefusalAlert = ({ refusal, message }: WritesRefusedError): Alert => ({
  kind: refusal === 'OOM' || refusal === 'MISCONF' ? 'redis_full' : 'redis_read_only',
  subject: 'writes',
  message: `${message}; nothing is fired meanwhile`,
})

/** Each stage is an alert of its own. */
export function problemsOfDisk(used: number | null): readonly Alert[] {
  const stage = DISK_FULL_AT.findLast(share => used !== null && used >= share)
  if (stage === undefined) return []
  const percent = `${Math.round(stage * 100)} %`
  const message = `the disk of Redis is ${percent} full: make room before it is, nothing is fired from then on`
  return [{ kind: 'redis_full', subject: `disk at ${percent}`, message }]
}
