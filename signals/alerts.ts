// Alerts for the operator, each raised once and not at every check. An alert has names and numbers, never an
// address or a secret.
import { LRUCache } from 'lru-cache'
import { toIsoInstant } from '#core/calendar.ts'
import type { DeliveryEvent } from './delivery/deliver.ts'
import { describeGap, isMissed, type LiveStatus } from './live/live-record.ts'
import { LogGoneError } from './log/guard.ts'
import { argumentsOf, clientOf, routeOf } from './outbox/destination.ts'
import type { WebhookChange } from './outbox/register-webhook.ts'
import { CLOCK_TOLERANCE_MS } from './redis/clock.ts'
import { WritesRefusedError } from './redis/connect.ts'
import { SEALS_OFF } from './redis/keys.ts'
import type { Overview, SealState } from './views/overview.ts'

export type SentAlert = Alert & {
  readonly at: string
  /** Alerts of this kind and subject that were suppressed since the last one. */
  readonly repeated: number
}

/** The same alert is sent again after this time if it is raised again. */
const REPEAT_MS = 3_600_000

/** Alerts in one minute, without those about webhooks; more would hide each other. */
const MOST_A_MINUTE = 20
const MINUTE_MS = 60_000

const MOST_REMEMBERED = 10_000

/** Of those that were sent, for the operator's page. */
const MOST_RECENT = 50

/** Internal faults in a row before an alert: one or two are transient, such as a restart of the resolver. */
const FAULTS_IN_A_ROW = 3

export function createAlerts(sendOut: (alert: SentAlert) => void, now: () => number) {
  const recent: SentAlert[] = []
  const send = (raised: Alert, repeated = 0): void => {
    const sending = { ...raised, at: toIsoInstant(now()), repeated }
    recent.unshift(sending)
    recent.length = Math.min(recent.length, MOST_RECENT)
    sendOut(sending)
  }
  const { raise, turnMinute } = createLimiter(send, now)
  let stoodAt: number | null = null
  return {
    raise,
    onEvent(event: DeliveryEvent): void {
      const found = toAlert(event)
      if (found !== null) raise(found)
    },
    /** The newest alerts that were sent, newest first. */
    recent: (): readonly SentAlert[] => [...recent],
    /** Each change is sent, whatever else the minute had: any of them may be a thief's. */
    onWebhook: (change: WebhookChange): void => send(toChangeAlert(change, toIsoInstant(now()))),
    onGuessing: (wrongTokens: number): void => raise(toGuessingAlert(wrongTokens)),
    /**
     * Checks the state of the service, or why it could not be read. `diskUsed` is the used share of the disk of Redis, 0 to 1, or
     * null: a full disk may have ended Redis. Call it every few seconds: it also reports how many alerts the last minute suppressed.
     */
    look(found: Overview | Error, diskUsed: number | null = null): void {
      turnMinute()
      const problems = found instanceof Error ? [problemOfFailure(found)] : problemsOf(found, stoodAt)
      for (const each of [...problems, ...problemsOfDisk(diskUsed)]) raise(each)
      if (!(found instanceof Error)) stoodAt = standstillOf(found)
    },
  }
}

/** Raises each alert once an hour, and in a minute no more than MOST_A_MINUTE of them: then one says how many others there were. */
function createLimiter(send: (raised: Alert, repeated?: number) => void, now: () => number) {
  const sent = new LRUCache<string, { readonly atMs: number; repeated: number }>({ max: MOST_REMEMBERED })
  let minute = { startedMs: Number.NEGATIVE_INFINITY, count: 0, keptBack: new Set<string>() }
  const turnMinute = (): void => {
    if (Math.abs(now() - minute.startedMs) < MINUTE_MS) return // the clock may be set back
    const { keptBack } = minute
    minute = { startedMs: now(), count: 0, keptBack: new Set() }
    if (keptBack.size > 0) send(toMore(keptBack))
  }
  const raise = (raised: Alert): void => {
    const key = `${raised.kind} ${raised.subject}`
    const last = sent.peek(key)
    turnMinute()
    if (last !== undefined && Math.abs(now() - last.atMs) < REPEAT_MS) last.repeated++
    else if (minute.count < MOST_A_MINUTE) {
      minute.count++
      sent.set(key, { atMs: now(), repeated: 0 })
      send(raised, last?.repeated)
    } else if (minute.keptBack.size < MOST_REMEMBERED) minute.keptBack.add(key)
  }
  return { raise, turnMinute }
}

function toMore(keptBack: ReadonlySet<string>): Alert {
  const byKind = Map.groupBy(keptBack, key => key.slice(0, key.indexOf(' ')))
  const kinds = [...byKind].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
  const message = `and ${keptBack.size} more alerts in a minute that already had ${MOST_A_MINUTE}: ${kinds}; see \`highwater ops status\``
  return alert('more', 'alerts', message)
}

/** Each stage of failing has a subject of its own, so that the second is not suppressed as a repetition. */
function toAlert(event: DeliveryEvent): Alert | null {
  switch (event.kind) {
    case 'attempt':
    case 'withdrawn':
    case 'expired':
      return null
    case 'our fault':
      return event.inARow < FAULTS_IN_A_ROW ? null : toFaultAlert(event)
    case 'exhausted': {
      const message = `no attempt to deliver signal ${event.seq} to ${event.destination} succeeded: \`highwater ops signal ${event.seq} ${argumentsOf(event.destination)}\` shows why`
      return alert('exhausted', event.destination, message)
    }
    case 'disabled': {
      const message = `the webhook of ${event.destination} is disabled: ${event.why}; run \`highwater ops webhook enable ${argumentsOf(event.destination)}\` when it works again`
      return alert('disabled', event.destination, message)
    }
    case 'failing': {
      const minutes = Math.round(event.forMs / MINUTE_MS)
      const message = `the webhook of ${event.destination} has failed for ${minutes} minutes: inform its owner`
      return alert('failing', `${event.destination} for ${minutes} min`, message)
    }
    case 'clock':
      return toClockAlert(event)
    case 'stuck': {
      const seconds = Math.round(event.forMs / 1_000)
      const message = `${event.waiting} clients are due and no delivery was started for ${seconds} s: restart the delivery process`
      return alert('stuck', 'workers', message)
    }
  }
}

function toClockAlert({ jumpMs, offMs }: Extract<DeliveryEvent, { kind: 'clock' }>): Alert {
  const [jumped, off] = [jumpMs, offMs].map(ms => `${(ms / 1_000).toFixed(1)} s`)
  const isOff = offMs > CLOCK_TOLERANCE_MS
  const message = isOff
    ? `the clock of this machine and that of Redis differ by ${off}: nothing is fired, and deliveries go by the time before; set both clocks by NTP`
    : `the clock of this machine jumped by ${jumped}, as did that of Redis: deliveries go by the new time; check what sets the clock`
  return alert('clock', isOff ? 'difference' : 'jump', message)
}

function toChangeAlert({ destination, change, by: setter }: WebhookChange, at: string): Alert {
  const { id } = setter
  const by = {
    operator: 'through the operator interface: `highwater ops audit` names who did it',
    key: `with the key ${id}: if its owner did not do that, run \`highwater ops keys revoke ${id}\``,
    link:
      `by a link made by ${id}: if its owner did not do that, run \`highwater ops clients suspend ${clientOf(destination)}\`, which ends ` +
      `its sessions, and \`highwater ops webhook remove ${argumentsOf(destination)}\``,
  }[setter.kind]
  const what = {
    set: `was set ${by}`,
    changed: `has other settings ${by}`,
    rotated: `has a new secret ${by}`,
    removed: `was removed ${by}`,
    suspended: `is suspended, because the key ${id}, which set it or may have set it, was revoked: its owner confirms the address by PUT ${routeOf(destination)} with a live key`,
  }[change]
  return alert('webhook_changed', `${destination} at ${at}`, `the webhook of ${destination} ${what}`)
}

function toGuessingAlert(wrongTokens: number): Alert {
  const message = `${wrongTokens} wrong operator tokens in a minute: check what can reach OPERATOR_PORT, and change OPERATOR_TOKEN if it may be known`
  return alert('token_guessing', 'operator', message)
}

/** An internal error concerns one client; a network fault concerns all and is one alert. */
function toFaultAlert(event: Extract<DeliveryEvent, { kind: 'our fault' }>): Alert {
  const { destination, seq, reason, inARow } = event
  if (reason !== 'program_error') {
    const message = `deliveries failed ${inARow} times in a row before they were sent: ${reason}; check the network and the name resolution of this machine`
    return alert('our_fault', reason, message)
  }
  const what = seq === null ? `looking after ${destination}` : `delivering signal ${seq} to ${destination}`
  const message = `${what} failed with an internal error ${inARow} times in a row: see the log of the process; the deliveries wait`
  return alert('our_fault', destination, message)
}

const FULL_AT = 0.85

/** Of the disk under the append-only file: a rewrite needs room for a second copy. */
const DISK_FULL_AT: readonly number[] = [0.7, 0.85]

/** Signals that may wait for a running relay: a block and more. */
const MOST_LAG = 1_000

/** The last number the relay has passed, if signals wait behind it; else null. */
const standstillOf = ({ seq, relayLag }: Overview): number | null => (relayLag > 0 ? seq - relayLag : null)

/** Problems of the service; `stoodAt` is where the relay stood at the check before if signals waited. */
export function problemsOf(overview: Overview, stoodAt: number | null = null): readonly Alert[] {
  const { redis, isRelayed, relayLag, continued, live, seals } = overview
  const isUnrelayed = relayLag > 0 && (!isRelayed || relayLag > MOST_LAG)
  const isStill = !isUnrelayed && stoodAt !== null && stoodAt === standstillOf(overview)
  const isNearlyFull = redis.limit_bytes > 0 && redis.used_bytes > FULL_AT * redis.limit_bytes
  const unsafe = `Redis could lose signals: ${redis.problems.join('; ')}`
  const unrelayed = `${relayLag} signals wait for the relay: is a delivery process running?`
  const still = `the relay does not get past signal ${stoodAt}, and ${relayLag} signals wait: see the log of the process`
  return [
    redis.problems.length > 0 && alert('redis_unsafe', 'redis', unsafe),
    !redis.isWriting && alert('redis_full', 'disk', CANNOT_WRITE),
    redis.isReplica && alert('redis_read_only', 'writes', IS_REPLICA),
    continued !== null && toContinuedAlert(continued),
    isNearlyFull && alert('redis_full', 'memory', 'Redis has used 85 % of its memory: give it more'),
    isUnrelayed && alert('relay_stuck', 'relay', unrelayed),
    isStill && alert('relay_stuck', 'relay', still),
    seals !== null && toSealAlert(seals),
    ...live.filter(isMissed).map(toBehindAlert),
    ...live.map(toGapAlert),
  ].filter(each => each !== false && each !== null)
}

const CANNOT_WRITE = 'Redis cannot write its append-only file: free space on its disk'
const IS_REPLICA = 'Redis is a replica and takes no writes: set REDIS_URL to its primary, or promote it'

/** Three seals. */
const MOST_SEAL_AGE_S = 1_800

function toSealAlert({ n, refused, age_seconds }: SealState): Alert | null {
  if (refused === SEALS_OFF) return null
  if (refused !== null) return alert('seal_refused', 'seals', `${refused}; the newest seal is ${n}`)
  if (age_seconds === null || age_seconds <= MOST_SEAL_AGE_S) return null
  const message = `seal ${n} ended ${Math.floor(age_seconds / 60)} minutes ago, and none follows: see the log of the process`
  return alert('seal_behind', 'seals', message)
}

function toContinuedAlert({ last, above, atMs }: NonNullable<Overview['continued']>): Alert {
  const message =
    `the log may have lost its end: signals up to ${last} are there, and numbers up to ${above} may have been given. It continues above them ` +
    'under a new epoch, and clients pull again: fire again what is missing'
  return alert('log_continued', `log at ${toIsoInstant(atMs)}`, message)
}

function toBehindAlert({ alias, announced, behind_seconds }: LiveStatus): Alert {
  const minutes = Math.ceil(behind_seconds / 60)
  const position = announced === null ? '' : `, and subscribers hold its ${announced}`
  const message = `${alias} has not decided the bar that was due ${minutes} minutes ago${position}: check \`highwater live\` and its feed`
  return alert('live_behind', alias, message)
}

/** Only as long as a repetition is suppressed, so that a process raises each gap once. */
function toGapAlert({ alias, gap, gap_before, atMs }: LiveStatus): Alert | null {
  if (gap === null || atMs - gap.found_ms >= REPEAT_MS) return null
  const message = `${alias}: ${describeGap(gap)}; compare its bars with those of your vendor, or halt it with \`highwater ops live halt ${alias}\``
  return alert('live_gap', `${alias} before ${gap_before}`, message)
}

const REFUSAL_KINDS = {
  OOM: 'redis_full',
  MISCONF: 'redis_full',
  READONLY: 'redis_read_only',
  NOREPLICAS: 'redis_read_only',
  UNSAFE: 'redis_unsafe',
} as const

const IS_DOWN = 'Redis does not answer: nothing is fired or delivered until it does'

/** Why the state of the service could not be read. */
export function problemOfFailure(error: unknown): Alert {
  if (error instanceof LogGoneError) return alert('redis_wiped', 'log', error.message)
  if (!(error instanceof WritesRefusedError)) return alert('redis_down', 'redis', IS_DOWN)
  return alert(REFUSAL_KINDS[error.refusal], 'writes', `${error.message}; nothing is fired until then`)
}

function problemsOfDisk(used: number | null): Alert[] {
  const stage = DISK_FULL_AT.findLast(share => used !== null && used >= share)
  if (stage === undefined) return []
  const percent = `${Math.round(stage * 100)} %`
  const message = `the disk of Redis is ${percent} full: free space; nothing can be fired once it is full`
  return [alert('redis_full', `disk at ${percent}`, message)]
}

/** Every kind; docs/operating.md has what each means and what to do. */
export const ALERT_KINDS = [
  'exhausted',
  'disabled',
  'webhook_changed',
  'token_guessing',
  'failing',
  'stuck',
  'our_fault',
  'relay_stuck',
  'redis_down',
  'redis_unsafe',
  'redis_full',
  'redis_wiped',
  'log_continued',
  'redis_read_only',
  'clock',
  'live_behind',
  'live_gap',
  'live_mismatch',
  'seal_refused',
  'seal_behind',
  'program_unreadable',
  'swap_failed',
  'swap_mended',
  'night_failed',
  'night_mended',
  'more',
] as const

export type AlertKind = (typeof ALERT_KINDS)[number]

export type Alert = {
  readonly kind: AlertKind
  /** A client, an alias or a part of the service. */
  readonly subject: string
  /** One sentence with what to do. */
  readonly message: string
}

const alert = (kind: AlertKind, subject: string, message: string): Alert => ({ kind, subject, message })
