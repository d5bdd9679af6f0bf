import { createAlerts } from '#signals/alerts.ts'
import { type AlertWays, createAlertChannel } from '../send-alert.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Terminal } from '../terminal.ts'
import { LiveMismatchError } from './assert-live-agrees.ts'

/** Tells whoever takes the alerts where an error is a LiveMismatchError, and resolves when it is sent. */
export async function alertMismatch(
  error: unknown,
  ways: AlertWays,
  { env, now }: Pick<Surroundings, 'env' | 'now'>,
  { note }: Pick<Terminal, 'note'>,
): Promise<void> {
  if (!(error instanceof LiveMismatchError)) return
  const send = createAlertChannel(ways, env, message => note(`warning: ${message}`))
  let sent: Promise<void> | null = null
  const { raise } = createAlerts(alert => {
    sent = send(alert)
  }, now)
  const subject = error.aliases.join(', ')
  raise({
    kind: 'live_mismatch',
    subject,
    message: `the live signals of ${subject} differ from the replay, and nothing is published: the build says where`,
  })
  await sent
}
