// Every form of the operator's page: the route that it calls, what must be confirmed first, and what follows. Its inputs are
// the fields of its route.
import { html, raw } from 'hono/html'
import { toIsoInstant } from '#core/calendar.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readHead } from '#signals/log/read-log.ts'
import { missingScope, type Operator } from '#signals/operators/tokens.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import type { Exchange } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import type { RouteField } from '../route-fields.ts'
import { clientOf } from '../routes/clients.ts'
import { assertSentTo, replayQuery } from '../routes/webhooks.ts'
import type { Note, Piece, Texts, Warning } from './layout.ts'

type Fields = Readonly<Record<string, unknown>>

/** An action, by the id of its route in the JSON interface. */
export type Form = {
  readonly action: string
  /** What the next page says; it is the page of the form, unless `next` names another. */
  readonly note?: Note
  readonly next?: (answer: Fields) => string
  /** The answer may have a secret, which a page of its own shows. */
  readonly secret?: { readonly field: string; readonly title: string; readonly says: string }
  /** The button of a form with inputs. Of the fields some are not shown, and some are made if they are left empty. */
  readonly label?: string
  readonly hides?: readonly string[]
  readonly makes?: readonly string[]
  /** The strategies that it can be about. */
  readonly aliases?: (parts: OperatorParts, who: Operator) => readonly string[]
  /** What must be confirmed first, or null. Called with what the route would be sent. */
  readonly warn?: (
    c: Exchange,
    parts: OperatorParts,
    sent: Fields,
  ) => Warning | null | Promise<Warning | null>
}

/** The fields as a form sends them, typed as a body or a query has them; what was left empty is not sent. */
export const sentBy = (fields: readonly RouteField[], given: Texts): Fields =>
  Object.fromEntries(
    fields.flatMap(({ name, type, format }): [string, unknown][] => {
      const text = given[name] ?? ''
      if (type === 'boolean') return [[name, text !== '']]
      if (type === 'array') return [[name, text.split(/[\s,]+/).filter(word => word !== '')]]
      if (text === '') return []
      if (format === 'date-time') return [[name, toInstant(text)]]
      return [[name, isNumber(type) ? Number(text) : text]]
    }),
  )

const isNumber = (type: string): boolean => type === 'number' || type === 'integer'

/** An input for a time has no zone, and may have no seconds; the page means UTC. */
const toInstant = (text: string): string =>
  text.replace(/T\d\d:\d\d$/, '$&:00').replace(/T\d\d:\d\d:\d\d$/, '$&Z')

/** Names that differ from those of the fields, and words for what can be chosen. */
const WORDS: Texts = {
  owed: 'waiting',
  exhausted: 'given up',
  aliases: 'strategies',
  alias: 'strategy',
  program: 'accumulation program',
  activate: 'active at once',
  signal_price: 'price',
  url: 'address',
  base_risk_pct: 'risk, such as 0.02',
  timestamp: 'decided at, now if empty',
  from: 'from signal',
  to: 'to signal',
  scopes: 'scopes of read, fire, fire:STRATEGY, clients, everything',
  seq: 'signal',
  status: 'state',
}

/** The input of a field, filled with what is given; a secret is never shown again. */
export function inputOf(
  { name, type, format, description, isRequired, initial }: RouteField,
  given: string | undefined,
  choices: readonly string[] | undefined,
): Piece {
  const isTime = format === 'date-time'
  const words = `${WORDS[name] ?? name.replaceAll('_', ' ')}${isTime ? ' (UTC)' : ''}`
  const label = words.charAt(0).toUpperCase() + words.slice(1)
  if (type === 'boolean')
    return html`<label title="${description}"><input type="checkbox" name="${name}" value="yes"${raw(given ? ' checked' : '')}> ${label}</label>`
  const value = name === 'secret' ? '' : (given ?? String(initial ?? ''))
  const isOptional = !isRequired && initial === undefined
  if (choices !== undefined)
    return html`<label title="${description}">${label} <select name="${name}">${[...(isOptional ? [''] : []), ...choices].map(each => html`<option value="${each}"${raw(each === value ? ' selected' : '')}>${each === '' ? 'any' : (WORDS[each] ?? each)}</option>`)}</select></label>`
  const kind = isTime ? 'datetime-local' : isNumber(type) ? 'number' : 'text'
  const more = `${kind === 'text' ? '' : ` step="${isTime ? 1 : 'any'}"`}${isRequired ? ' required' : ''}`
  return html`<label title="${description}">${label} <input type="${kind}" name="${name}" value="${isTime ? value.replace('Z', '') : value}" placeholder="${isOptional ? 'optional' : ''}" autocomplete="off"${raw(more)}></label>`
}

const CLIENTS = '/ops/view/clients'
const CLIENT = `${CLIENTS}/:client`

/** Every form, by the path that it is sent to. What stops signals or sends them again is confirmed first. */
export const FORMS: Readonly<Record<string, Form>> = {
  [`${CLIENT}/activate`]: { action: 'activate', note: 'activated' },
  [`${CLIENT}/suspend`]: {
    action: 'suspend',
    note: 'suspended',
    warn: c => ({
      title: `Suspend ${clientOf(c)}?`,
      says: 'Its pulls are refused and its deliveries stop, at once. Signals that wait, and those that are fired until you activate it, are sent only if you resend them then. Its keys, its webhook and what it may see stay as they are.',
      label: 'Suspend',
    }),
  },
  [CLIENTS]: { action: 'add_client', next: ({ id }) => `${CLIENTS}/${id}?note=added`, label: 'Add' },
  [`${CLIENT}/entitlements`]: {
    action: 'entitle',
    note: 'entitled',
    label: 'Save',
    hides: ['add', 'remove'],
  },
  [`${CLIENT}/keys`]: {
    action: 'issue_key',
    secret: {
      field: 'token',
      title: 'A new key',
      says: 'Give it to the client over a channel that you trust. If the client has another key, that one stays valid until the client confirms this one.',
    },
  },
  [`${CLIENT}/keys/:key/revoke`]: {
    action: 'revoke_key',
    note: 'revoked',
    warn: async (c, parts) => {
      const [id, key] = [clientOf(c), c.req.param('key')]
      const isSetter = (await readWebhookStates(parts.redis, [id])).get(id)?.setter?.keyId === key
      return {
        title: `Revoke the key ${key} of ${id}?`,
        says: `The next request with it is refused, for good.${isSetter ? ' It set the webhook, so nothing more is sent there until a live key of the client, or you, set it again.' : ''}`,
        label: 'Revoke',
      }
    },
  },
  [`${CLIENT}/webhook`]: {
    action: 'set_webhook',
    note: 'webhook_set',
    label: 'Test and set',
    secret: {
      field: 'secret',
      title: 'The secret of the webhook',
      says: 'The address acknowledged a signed test, and signals are sent to it. Its owner needs this secret to verify them.',
    },
  },
  [`${CLIENT}/webhook/rotate`]: {
    action: 'rotate_webhook',
    secret: {
      field: 'secret',
      title: 'The new secret of the webhook',
      says: 'Deliveries are signed with the new secret and with the old one, until the old one ends after a day. Give the new one to its owner before then.',
    },
    warn: c => ({
      title: `Make a new secret for the webhook of ${clientOf(c)}?`,
      says: 'Deliveries are signed with the old secret and the new one for a day, then with the new one alone. Its owner must know it by then.',
      label: 'Make a new secret',
    }),
  },
  [`${CLIENT}/webhook/remove`]: {
    action: 'remove_webhook',
    note: 'webhook_removed',
    warn: c => ({
      title: `Remove the webhook of ${clientOf(c)}?`,
      says: 'Nothing more is sent to it, and its address and secrets are deleted. The client can still pull every signal.',
      label: 'Remove',
    }),
  },
  [`${CLIENT}/test`]: { action: 'test', next: ({ seq }) => `/ops/view/signals/${seq}?note=tested` },
  [`${CLIENT}/enable`]: { action: 'enable_webhook', note: 'enabled' },
  [`${CLIENT}/disable`]: {
    action: 'disable_webhook',
    note: 'disabled',
    warn: c => ({
      title: `Disable the webhook of ${clientOf(c)}?`,
      says: 'Nothing is sent to it until you enable it. Signals that wait, and those that are fired meanwhile, are sent only if you resend them then. The client can still pull every signal.',
      label: 'Disable',
    }),
  },
  [`${CLIENT}/replay`]: {
    action: 'replay',
    next: ({ client, owed_again }) =>
      `${CLIENTS}/${client}?note=${owed_again === 0 ? 'nothing_replayed' : 'replayed'}`,
    label: 'Resend…',
    warn: warnOfResend,
  },
  '/ops/view/live/halt': {
    action: 'halt',
    note: 'halted',
    label: 'Halt',
    aliases: ({ aliases }) => [...aliases()],
    warn: (_, __, { alias }) =>
      alias === EVERY_ALIAS
        ? {
            title: 'Halt every strategy?',
            says: 'From now on no client gets a long or a short of any strategy, whatever fires it. A flat is still sent. It lasts until you resume.',
            label: 'Halt all',
          }
        : null,
  },
  '/ops/view/live/resume': { action: 'resume', note: 'resumed' },
  '/ops/view/signals': {
    action: 'fire',
    next: ({ seq }) => `/ops/view/signals/${seq}?note=fired`,
    label: 'Fire…',
    hides: ['is_test', 'implied_leverage'],
    makes: ['signal_id', 'timestamp'],
    aliases: ({ aliases }, who) => [...aliases()].filter(alias => missingScope(who, 'fire', alias) === null),
    warn: warnOfFire,
  },
  '/ops/view/rollback': {
    action: 'rollback',
    note: 'rolled_back',
    warn: (_, __, { version }) => ({
      title: `Serve ${version} again?`,
      says: 'Every client of the history gets this version within seconds. Nothing is deleted, and the next night publishes as ever.',
      label: 'Roll back',
    }),
  },
  '/ops/view/audit/tokens': {
    action: 'issue_token',
    label: 'Issue',
    secret: {
      field: 'token',
      title: 'A new operator token',
      says: 'Give it to its holder over a channel that you trust. The audit log names it.',
    },
  },
  '/ops/view/audit/tokens/:name/revoke': {
    action: 'revoke_token',
    note: 'token_revoked',
    warn: c => ({
      title: `Revoke the token of ${c.req.param('name')}?`,
      says: 'It opens nothing from then on, and its sessions on this page are over.',
      label: 'Revoke',
    }),
  },
}

async function warnOfResend(c: Exchange, parts: OperatorParts, sent: Fields): Promise<Warning> {
  const { from, to, only } = parseRequest(replayQuery, sent)
  const id = await assertSentTo(clientOf(c), parts)
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(parts.redis, parts.newEpoch)).seq)
  const count = Math.max(0, last - from + 1)
  const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
  const isAll = only === 'all'
  const which = isAll ? 'those that it may see, delivered before or not' : 'those that were given up'
  return {
    title: isAll ? `Send ${id} ${what} again?` : `Send ${id} what was given up again?`,
    says: `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
    label: 'Send again',
  }
}

/** The moment and the id are those of the first look, so that a fire whose answer was lost is repeated as it was. */
function warnOfFire(_: Exchange, parts: OperatorParts, sent: Fields): Warning {
  const { clock, random } = parts
  const id = `by-hand-${Buffer.from(random(8)).toString('hex')}`
  const { timestamp = toIsoInstant(clock.now()), signal_id = id } = sent
  const adds = { timestamp: String(timestamp), signal_id: String(signal_id) }
  const { content } = parseFireRequest({ ...sent, ...adds }, '', parts, clock.now())
  const { mode, action, alias, signal_price, stop, base_risk_pct, implied_leverage } = content
  return {
    title: `Fire a ${mode} ${action} of ${alias}?`,
    says: `At ${signal_price} with the stop ${stop}, risk ${base_risk_pct}, leverage ${implied_leverage}. It is sent to every client that is entitled to ${alias}, at once, and cannot be taken back.`,
    label: 'Fire',
    adds,
  }
}
