// What somebody must look at, told once and not at every look. An alert holds names and numbers, never an address or a secret.
import { toIsoInstant } from '#core/calendar.ts'
import type { Alert } from './alert.ts'
import type { DeliveryEvent } from './delivery/delivery-parts.ts'
import { problemsOf, problemsOfDisk, problemsOfFailure, standstillOf } from './service-problems.ts'
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
