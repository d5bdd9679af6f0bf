import { toIsoInstant } from '#core/calendar.ts'
import type { Alert, SentAlert } from '#signals/alerts.ts'
import { messageOf } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import type { Environment } from '../settings/environment.ts'
import { runShell } from './shell.ts'

/** A receiver that takes longer counts as down. */
const TIMEOUT_MS = 10_000

/** Where alerts are sent; null if they are not. */
export type AlertWays = Pick<Environment, 'ALERT_URL' | 'ALERT_COMMAND'>

/** Sends alerts to ALERT_URL and to the input of ALERT_COMMAND, as JSON. Never throws: failures, without the two, go to `onError`. */
export function createAlertChannel(
  { ALERT_URL: url, ALERT_COMMAND: command }: AlertWays,
  env: NodeJS.ProcessEnv,
  onError: (message: string) => void,
): (alert: SentAlert) => Promise<void> {
  return async alert => {
    const body = JSON.stringify(alert)
    const headers = { 'content-type': 'application/json' }
    const ways = [
      ...(url === null ? [] : [post('ALERT_URL', url, { headers, body, redirect: 'error' })]),
      ...(command === null ? [] : [pipe(command, body, env)]),
    ]
    for (const result of await Promise.allSettled(ways)) {
      if (result.status === 'rejected')
        onError(`an alert (${alert.kind}) could not be sent: ${String(result.reason?.message)}`)
    }
  }
}

/** Sends single alerts; a failure is a warning. Never rejects. */
export function createAlertSender(
  ways: AlertWays,
  { env, now }: Pick<Runtime, 'env' | 'now'>,
  note: (line: string) => void,
): (alert: Alert) => Promise<void> {
  const send = createAlertChannel(ways, env, message => note(`warning: ${message}`))
  return alert => send({ ...alert, at: toIsoInstant(now()), repeated: 0 })
}

/** Sends a POST. Rejects if it was not accepted; `name` stands for the address, which may be a secret. */
export async function post(name: string, url: string, init: RequestInit): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { ...init, method: 'POST', signal }).catch(() => {
    throw new Error(`${name} does not answer`)
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${name} answered ${response.status}`)
}

/** The command gets only PATH and HOME of our environment, which contains secrets. */
async function pipe(command: string, body: string, { PATH, HOME }: NodeJS.ProcessEnv): Promise<void> {
  const order = { env: { PATH, HOME }, timeoutMs: TIMEOUT_MS, input: `${body}\n` }
  await runShell(command, order).catch((error: unknown) => {
    throw new Error(`ALERT_COMMAND ${messageOf(error)}`)
  })
}
