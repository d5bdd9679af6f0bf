// Alerts on nights: once a cause, however many nights it lasts, and once more when it is mended.
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import type { Alert } from '#signals/alert.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { parseJson } from '#storage/parse-json.ts'
import { type AlertWays, createAlertChannel } from '../send-alert.ts'
import type { Surroundings } from '../surroundings.ts'

/** What is remembered of a night that failed, in the private store, until one succeeds. */
const FAILING_KEY = 'nights/failing.json'

const failing = z.object({ since: z.string(), cause: z.string() })

export type NightAlerts = {
  /** `message` tells people, without the remedy. */
  readonly failed: (step: string, message: string) => Promise<void>
  readonly done: (version: string) => Promise<void>
}

/** Never rejects: a night that went well is not undone by what could not be told of it. */
export function createNightAlerts(
  openPrivateStore: () => Promise<ObjectStore>,
  ways: AlertWays,
  { env, now }: Pick<Surroundings, 'env' | 'now'>,
  note: (line: string) => void,
): NightAlerts {
  const channel = createAlertChannel(ways, env, message => note(`warning: ${message}`))
  const send = (alert: Alert): Promise<void> => channel({ ...alert, at: toIsoInstant(now()), repeated: 0 })
  const warn = (error: unknown): null => {
    note(
      `warning: how the nights go is not remembered: ${error instanceof Error ? error.message : String(error)}`,
    )
    return null
  }
  return {
    async failed(step, message) {
      const known = await openPrivateStore().then(readFailing).catch(warn)
      const cause = causeOf(step, message)
      if (known?.cause === cause) return
      await send({ kind: 'night_failed', subject: step, message: `the night failed at ${step}: ${message}` })
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
      const message = `nights succeed again, after failing since ${known.since}: ${version} is published`
      await send({ kind: 'night_mended', subject: 'night', message })
      await openPrivateStore()
        .then(store => store.remove(FAILING_KEY))
        .catch(warn)
    },
  }
}

/** The same cause has other dates and ages every night. */
const causeOf = (step: string, message: string): string => `${step}: ${message.replaceAll(/\d+/g, '#')}`

async function readFailing(store: ObjectStore): Promise<z.infer<typeof failing> | null> {
  const bytes = await store.read(FAILING_KEY)
  if (bytes === null) return null
  return failing.safeParse(parseJson(bytes)).data ?? null
}
