// Every form of the operator's page: what it does, what must be confirmed first, and which page follows.
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { issueKey, listKeys } from '#signals/clients/api-keys.ts'
import { activateClient, entitleClient, findClient, suspendClient } from '#signals/clients/clients.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readHead } from '#signals/log/read-log.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import type { Exchange } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { addClient, clientOf, clientRequest, entitlementRequest, revokeLiveKey } from '../routes/clients.ts'
import { haltKnown, haltRequest, resumeAny } from '../routes/live.ts'
import {
  assertEnabled,
  assertSentTo,
  assertWebhook,
  replayQuery,
  webhookRequest,
} from '../routes/webhooks.ts'
import { type Note, type Session, secretPage, type Warning } from './layout.ts'

/** Performs the action of a form. Resolves with the address of the next page, or with a page that is shown once. */
type Act = (
  c: Exchange,
  parts: OperatorParts,
  form: URLSearchParams,
  session: Session,
) => Promise<string | Response>

/** An action, by the id of its route in the JSON interface, and what must be confirmed before it; null if nothing must be. */
export type Form = {
  readonly action: string
  readonly act: Act
  readonly warn?: (c: Exchange, parts: OperatorParts, form: URLSearchParams) => Promise<Warning | null>
}

const CLIENTS = '/ops/view/clients'
const CLIENT = `${CLIENTS}/:client`

/** An action on one client; the next page shows the note. */
const forClient =
  (note: Note, act: (id: string, parts: OperatorParts, form: URLSearchParams) => Promise<unknown>): Act =>
  async (c, parts, form) => {
    const { id } = await findClient(parts.redis, clientOf(c))
    await act(id, parts, form)
    return `${CLIENTS}/${id}?note=${note}`
  }

const forWebhook = (note: Note, act: (id: string, parts: OperatorParts) => Promise<unknown>): Act =>
  forClient(note, async (id, parts) => act(await assertWebhook(id, parts), parts))

/** An action on one client that makes a secret, which this page alone shows. */
const forSecret =
  (
    title: string,
    says: string,
    make: (id: string, parts: OperatorParts, form: URLSearchParams) => Promise<string | null>,
    note: Note,
  ): Act =>
  async (c, parts, form, session) => {
    const { id } = await findClient(parts.redis, clientOf(c))
    const secret = await make(id, parts, form)
    const back = `${CLIENTS}/${id}`
    return secret === null ? `${back}?note=${note}` : secretPage(session, { title, says, secret, back })
  }

const forAlias =
  (note: Note, act: (alias: string, parts: OperatorParts) => Promise<void>): Act =>
  async (_, parts, form) => {
    const { alias } = parseRequest(haltRequest, fieldsOf(form))
    await act(alias, parts)
    return `/ops/view/live?note=${note}`
  }

/** A warning about a client that exists. */
const aboutClient =
  (
    warn: (
      id: string,
      parts: OperatorParts,
      form: URLSearchParams,
      c: Exchange,
    ) => Promise<Warning> | Warning,
  ) =>
  async (c: Exchange, parts: OperatorParts, form: URLSearchParams): Promise<Warning> => {
    const { id } = await findClient(parts.redis, clientOf(c))
    return { ...(await warn(id, parts, form, c)), back: `${CLIENTS}/${id}` }
  }

/** What the form itself says, without the token and the confirmation. */
export function fieldsOf(form: URLSearchParams): Record<string, string> {
  const { csrf: _, confirm: __, ...fields } = Object.fromEntries(form)
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.trim()]))
}

/** The fields that are not empty. */
const filled = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(Object.entries(fieldsOf(form)).filter(([, text]) => text !== ''))

/** The words of a field, which commas or spaces separate. */
const wordsOf = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? '').split(/[\s,]+/).filter(word => word !== '')

const toClient = (form: URLSearchParams) =>
  parseRequest(clientRequest, {
    ...filled(form),
    aliases: wordsOf(form, 'aliases'),
    activate: form.has('activate'),
  })

const toEntitlement = (form: URLSearchParams) =>
  parseRequest(entitlementRequest, { aliases: wordsOf(form, 'aliases'), program: form.has('program') })

/** The key of the path. Throws `not_found` unless it is a live one of the client. */
async function ownKey(c: Exchange, id: string, { redis }: OperatorParts): Promise<string> {
  const key = c.req.param('key') ?? ''
  if ((await listKeys(redis, id)).some(live => live.id === key)) return key
  throw new ApiError('not_found', `'${id}' has no live key '${key}': it is refused already`)
}

const rangeOf = (form: URLSearchParams) => parseRequest(replayQuery, filled(form))

/** Every form, by the path that it is sent to. What stops signals or sends them again is confirmed first. */
export const FORMS: Readonly<Record<string, Form>> = {
  [`${CLIENT}/activate`]: {
    action: 'activate',
    act: forClient('activated', (id, { redis }) => activateClient(redis, id)),
  },
  [`${CLIENT}/suspend`]: {
    action: 'suspend',
    act: forClient('suspended', (id, { redis }) => suspendClient(redis, id)),
    warn: aboutClient(id => ({
      title: `Suspend ${id}?`,
      says: 'Its pulls are refused and its deliveries stop, at once. Signals that wait, and those that are fired until you activate it, are sent only if you resend them then. Its keys, its webhook and what it may see stay as they are.',
      label: 'Suspend',
    })),
  },
  [CLIENTS]: {
    action: 'add_client',
    act: async (_, parts, form) => `${CLIENTS}/${(await addClient(toClient(form), parts)).id}?note=added`,
  },
  [`${CLIENT}/entitlements`]: {
    action: 'entitle',
    act: forClient('entitled', (id, { redis, programAlias }, form) =>
      entitleClient(redis, id, toEntitlement(form), programAlias()),
    ),
  },
  [`${CLIENT}/keys`]: {
    action: 'issue_key',
    act: forSecret(
      'A new key',
      'Give it to the client over a channel that you trust. If the client has another key, that one stays valid until the client confirms this one.',
      async (id, { redis, random, clock }) => (await issueKey(redis, id, random, clock.now())).token,
      'added',
    ),
  },
  [`${CLIENT}/keys/:key/revoke`]: {
    action: 'revoke_key',
    act: async (c, parts) => {
      const { id } = await findClient(parts.redis, clientOf(c))
      await revokeLiveKey(await ownKey(c, id, parts), parts)
      return `${CLIENTS}/${id}?note=revoked`
    },
    warn: aboutClient(async (id, parts, _, c) => {
      const key = await ownKey(c, id, parts)
      const webhook = (await readWebhookStates(parts.redis, [id])).get(id)
      const isSetter = webhook?.setter?.keyId === key
      return {
        title: `Revoke the key ${key} of ${id}?`,
        says: `The next request with it is refused, for good.${isSetter ? ' It set the webhook, so nothing more is sent there until a live key of the client, or you, set it again.' : ''}`,
        label: 'Revoke',
      }
    }),
  },
  [`${CLIENT}/webhook`]: {
    action: 'set_webhook',
    act: forSecret(
      'The secret of the webhook',
      'The address acknowledged a signed test, and signals are sent to it. Its owner needs this secret to verify them.',
      (id, { orders }, form) => orders.register(id, parseRequest(webhookRequest, filled(form))),
      'webhook_set',
    ),
  },
  [`${CLIENT}/webhook/rotate`]: {
    action: 'rotate_webhook',
    act: forSecret(
      'The new secret of the webhook',
      'Deliveries are signed with the new secret and with the old one, until the old one ends after a day. Give the new one to its owner before then.',
      async (id, parts) => parts.orders.rotate(await assertWebhook(id, parts)),
      'webhook_set',
    ),
    warn: aboutClient(id => ({
      title: `Make a new secret for the webhook of ${id}?`,
      says: 'Deliveries are signed with the old secret and the new one for a day, then with the new one alone. Its owner must know it by then.',
      label: 'Make a new secret',
    })),
  },
  [`${CLIENT}/webhook/remove`]: {
    action: 'remove_webhook',
    act: forWebhook('webhook_removed', (id, { orders }) => orders.remove(id)),
    warn: aboutClient(id => ({
      title: `Remove the webhook of ${id}?`,
      says: 'Nothing more is sent to it, and its address and secrets are deleted. The client can still pull every signal.',
      label: 'Remove',
    })),
  },
  [`${CLIENT}/test`]: {
    action: 'test',
    act: async (c, parts) => {
      const id = await assertWebhook(clientOf(c), parts)
      await assertEnabled(id, parts)
      return `/ops/view/signals/${await parts.orders.fireTest(id)}?note=tested`
    },
  },
  [`${CLIENT}/enable`]: {
    action: 'enable_webhook',
    act: forWebhook('enabled', (id, { orders }) => orders.enable(id)),
  },
  [`${CLIENT}/disable`]: {
    action: 'disable_webhook',
    act: forWebhook('disabled', (id, { orders }) => orders.disable(id, 'the operator disabled it')),
    warn: aboutClient(id => ({
      title: `Disable the webhook of ${id}?`,
      says: 'Nothing is sent to it until you enable it. Signals that wait, and those that are fired meanwhile, are sent only if you resend them then. The client can still pull every signal.',
      label: 'Disable',
    })),
  },
  [`${CLIENT}/replay`]: {
    action: 'replay',
    act: async (c, parts, form) => {
      const id = await assertSentTo(clientOf(c), parts)
      const count = await parts.orders.replay(id, rangeOf(form))
      const note: Note = count === 0 ? 'nothing_replayed' : 'replayed'
      return `${CLIENTS}/${id}?note=${note}`
    },
    warn: aboutClient(async (id, parts, form) => {
      const { redis, newEpoch } = parts
      const { from, to, only } = rangeOf(form)
      await assertSentTo(id, parts)
      const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(redis, newEpoch)).seq)
      const count = Math.max(0, last - from + 1)
      const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
      const which =
        only === 'exhausted' ? 'those that were given up' : 'those that it may see, delivered before or not'
      return {
        title: only === 'exhausted' ? `Send ${id} what was given up again?` : `Send ${id} ${what} again?`,
        says: `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
        label: 'Send again',
      }
    }),
  },
  '/ops/view/live/halt': {
    action: 'halt',
    act: forAlias('halted', haltKnown),
    warn: async (_, __, form) =>
      form.get('alias') === EVERY_ALIAS
        ? {
            title: 'Halt every strategy?',
            says: 'From now on no client gets a long or a short of any strategy, whatever fires it. A flat is still sent. It lasts until you resume.',
            label: 'Halt all',
            back: '/ops/view/live',
          }
        : null,
  },
  '/ops/view/live/resume': { action: 'resume', act: forAlias('resumed', resumeAny) },
}
