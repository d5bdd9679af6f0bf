// Alerts on nightly jobs: once for each cause, however long it lasts, and once when it is resolved; and pings.

import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import type { Alert } from '#signals/alerts.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import type { Runtime } from './runtime.ts'
import { type AlertWays, createAlertChannel } from './send-alert.ts'

/** The state of a failing job, in the private store until one succeeds. */
const FAILING_KEY = 'nights/failing.json'

const failing = z.object({ since: z.string(), cause: z.string() })

type NightAlerts = {
  /** `message` is for people, without the remedy. */
  readonly failed: (step: string, message: string) => Promise<void>
  readonly done: (version: string) => Promise<void>
}

/** Never rejects: an alert that cannot be sent does not fail the job. */
export function createNightAlerts(
  openPrivateStore: () => Promise<ObjectStore>,
  ways: AlertWays,
  { env, now, terminal: { note } }: Pick<Runtime, 'env' | 'now' | 'terminal'>,
): NightAlerts {
  const channel = createAlertChannel(ways, env, message => note(`warning: ${message}`))
  const send = (alert: Alert): Promise<void> => channel({ ...alert, at: toIsoInstant(now()), repeated: 0 })
  const warn = (error: unknown): null => {
    note(
      `warning: the state of the nightly job was not saved: ${error instanceof Error ? error.message : String(error)}`,
    )
    return null
  }
  return {
    async failed(step, message) {
      const known = await openPrivateStore().then(readFailing).catch(warn)
      const cause = causeOf(step, message)
      if (known?.cause === cause) return
      await send({
        kind: 'night_failed',
        subject: step,
        message: `the nightly job failed at step ${step}: ${message}`,
      })
      const since = known?.since ?? toIsoInstant(now())
      await openPrivateStore()
        .then(store =>
          store.replace(FAILING_KEY, toJsonBytes({ since, cause }), { content_type: 'application/json' }),
        )
        .catch(warn)
    },
    async done(version) {
      const known = await openPrivateStore().then(readFailing).catch(warn)
      if (known === null) return
      const message = `the nightly job succeeds again, after failures since ${known.since}: ${version} is published`
      await send({ kind: 'night_mended', subject: 'night', message })
      await openPrivateStore()
        .then(store => store.remove(FAILING_KEY))
        .catch(warn)
    },
  }
}

/** The same cause has other dates and ages every time. */
const causeOf = (step: string, message: string): string => `${step}: ${message.replaceAll(/\d+/g, '#')}`

async function readFailing(store: ObjectStore): Promise<z.infer<typeof failing> | null> {
  const bytes = await store.read(FAILING_KEY)
  if (bytes === null) return null
  return failing.safeParse(parseJson(bytes)).data ?? null
}

// Tells a service that watches for nights that did not happen, such as healthchecks.io: at the beginning and at the end.

/** A receiver that takes longer counts as down. */
const TIMEOUT_MS = 10_000

/** A missed ping raises an alarm, so short network failures are retried. */
const ATTEMPTS = 3
const PAUSE_MS = 2_000

export type Ping = (what: 'start' | 'done' | 'fail', body: string) => Promise<void>

/** Asks the address itself when a night is done, and with `/start` or `/fail` behind it otherwise. Never rejects. */
export function createPing(
  url: string | null,
  pause: (ms: number) => Promise<void>,
  note: (line: string) => void,
): Ping {
  return async (what, body) => {
    if (url === null) return
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const fault = await post(withEnding(url, what), body)
      if (fault === null) return
      if (attempt === ATTEMPTS) note(`warning: the ping (${what}) failed: NIGHTLY_PING_URL ${fault}`)
      else await pause(PAUSE_MS)
    }
  }
}

function withEnding(text: string, what: 'start' | 'done' | 'fail'): string {
  const url = new URL(text)
  if (what !== 'done') url.pathname = `${url.pathname.replace(/\/$/, '')}/${what}`
  return url.href
}

/** Null if the ping was accepted, otherwise the reason, without the address, which is a secret. */
async function post(url: string, body: string): Promise<string | null> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await response.body?.cancel()
    return response.ok ? null : `answered ${response.status}`
  } catch {
    return 'does not answer'
  }
}
