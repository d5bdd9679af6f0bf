// What is done to an endpoint, said once: for its client, with a key and on its page, and for an operator.

import { RESENT } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { DEFAULT_ENDPOINT, type Destination } from '#signals/outbox/destination.ts'
import type { RegisterParts } from '#signals/outbox/register-webhook.ts'
import type { Setter } from '#signals/outbox/setter.ts'
import { removeWebhook } from '#signals/outbox/webhooks.ts'
import type { Secret, Warning } from './page/page-route.ts'

/** What pages show of endpoints, beside which they offer these actions. */
export type EndpointPlace =
  | 'first endpoint'
  | 'new endpoint'
  | 'endpoint'
  | 'settings of an endpoint'
  | 'range'
  | 'given up'
  | 'delivery'

/** An endpoint of the client that asks, or of the one that an operator names. */
type Target = { readonly endpoint: string; readonly client?: string }

/** `the endpoint backup of acme`. */
export const nameOf = ({ endpoint, client }: Target): string => {
  if (client === undefined) return `the endpoint ${endpoint}`
  return endpoint === DEFAULT_ENDPOINT ? `the webhook of ${client}` : `the endpoint ${endpoint} of ${client}`
}

const SETTINGS = 'settings of an endpoint'

export const SET = {
  method: 'PUT',
  title: 'Set an endpoint, if it acknowledges a signed test',
  about:
    'Sends a signed test to the address, and keeps it if the answer is 2xx; otherwise nothing changes. Without `secret` a first address ' +
    'gets a new one, which only this answer shows, and a later one keeps its own. A client has five endpoints at most.',
  form: {
    offers: [
      { at: 'first endpoint', button: 'Test and set', inputs: ['url', 'secret'] },
      { at: SETTINGS, button: 'Test and set', inputs: ['url', 'secret'] },
      { at: 'new endpoint', button: 'Test and add', inputs: ['endpoint', 'url', 'secret', 'headers'] },
    ],
    done: 'The endpoint acknowledged a signed test and is set.',
  },
  secret: {
    field: 'secret',
    title: 'The secret of the endpoint',
    says: 'The address acknowledged a signed test, and signals are sent to it. The receiver needs this secret to verify them.',
  } satisfies Secret,
} as const

const REMOVED =
  'Nothing more is sent to it, and its address and secrets are deleted. The pull has every signal.'

export const REMOVE = {
  method: 'DELETE',
  title: 'Remove an endpoint',
  about: REMOVED,
  form: {
    offers: [{ at: SETTINGS, button: 'Remove…', tone: 'stop' }],
    warn: (asked: Target): Warning => [`Remove ${nameOf(asked)}?`, REMOVED],
    done: 'The endpoint is removed.',
  },
} as const

export const ROTATE = {
  method: 'POST',
  title: 'Make a new secret; the old one also signs for a while',
  about:
    'Only this answer shows the new secret. Deliveries are signed with both until the overlap ends, by default after a day.',
  isBodyOptional: true,
  form: {
    offers: [{ at: SETTINGS, button: 'New secret…', tone: 'quiet' }],
    warn: (asked: Target): Warning => [
      `Make a new secret for ${nameOf(asked)}?`,
      'Deliveries are signed with the old secret and the new one for a day, then with the new one alone.',
      'Make a new secret',
    ],
  },
  secret: {
    field: 'secret',
    title: 'The new secret of the endpoint',
    says: 'The old one also signs until it ends after a day. Give the new one to the receiver before then.',
  } satisfies Secret,
} as const

export const TEST = {
  method: 'POST',
  title: 'Fire a test signal to one endpoint',
  about:
    'The test has a number of its own, `is_test: true` and mode `DRY_RUN`. It looks like an entry, of `TEST-INSTRUMENT`, an alias ' +
    'that no strategy can have, and is delivered like any signal, to this endpoint alone.',
  statuses: [201],
  form: {
    offers: [
      { at: 'endpoint', button: 'Fire a test', tone: 'quiet', when: { enabled: true, paused: false } },
    ],
    done: 'A test signal was fired. Its delivery is below.',
  },
} as const

export const RESEND = {
  method: 'POST',
  title: 'Send signals of a range again, or those that were given up',
  about:
    'Every signal from `from` to `to` that the client may see is owed to it once more, delivered or not: a receiver drops what it ' +
    'has by `signal_id`. The same number twice is one signal.',
  form: {
    offers: [
      { at: 'range', button: 'Resend…', inputs: ['endpoint', 'from', 'to', 'only', 'fired_from'] },
      { at: 'given up', button: 'Resend all given up…', tone: 'quiet' },
      { at: 'delivery', button: 'Resend…', tone: 'quiet' },
    ],
    done: 'The signals are sent again.',
    idle: 'No signal of that range is one to send again: nothing is sent.',
    isIdle: ({ owed_again }: { readonly owed_again: number }): boolean => owed_again === 0,
  },
} as const

/** Asks before so many signals are sent to `where` again; null if there are none. */
export function resendWarning(signals: number, where: string, only: keyof typeof RESENT): Warning | null {
  if (signals === 0) return null
  const [what, they] = signals === 1 ? ['1 signal', 'It is'] : [`${signals} signals`, 'They are']
  const says = `${they} sent to ${where}: ${RESENT[only]}. A receiver drops what it has by signal_id.`
  return [`Send ${what} again?`, says, 'Send again']
}

export async function removeEndpoint(
  { redis, onChange }: RegisterParts,
  destination: Destination,
  by: Setter,
) {
  await removeWebhook(redis, destination)
  onChange({ destination, change: 'removed', by })
  return { data: null }
}

/** Nothing is sent to an endpoint that is disabled. Throws `conflict`. */
export function assertEnabled(
  { enabled, disabled_why: why }: { readonly enabled: boolean; readonly disabled_why: string | null },
  name: string,
  fix: string,
): void {
  if (!enabled)
    throw new ApiError('conflict', `${name} is disabled${why === null ? '' : ` (${why})`}: ${fix}`)
}
