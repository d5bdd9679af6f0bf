// Every form of the operator's page: the route that it calls, and what follows. Its inputs are the fields of its route.
import { missingScope, type Operator } from '#signals/operators/tokens.ts'
import type { OperatorParts } from '../parts.ts'
import type { Fields } from './inputs.ts'

/** An action, by the id of its route in the JSON interface. The next page is that of the form and has the note of the action. */
export type Form = {
  readonly action: string
  /** Where the next page is instead, and another note. */
  readonly next?: (answer: Fields) => string
  readonly note?: (answer: Fields) => string | false
  /** The answer may have a secret, which a page of its own shows. */
  readonly secret?: { readonly field: string; readonly title: string; readonly says: string }
  /** The button of a form with inputs. Of the fields some are not shown, and some are made if they are left empty. */
  readonly label?: string
  readonly hides?: readonly string[]
  readonly makes?: readonly string[]
  /** The strategies that it can be about. */
  readonly aliases?: (parts: OperatorParts, who: Operator) => readonly string[]
}

const CLIENTS = '/ops/view/clients'
const CLIENT = `${CLIENTS}/:client`

const pageOfSignal = ({ seq }: Fields): string => `/ops/view/signals/${seq}`

/** Every form, by the path that it is sent to. */
export const FORMS: Readonly<Record<string, Form>> = {
  [CLIENTS]: { action: 'add_client', next: ({ id }) => `${CLIENTS}/${id}`, label: 'Add' },
  [`${CLIENT}/activate`]: { action: 'activate' },
  [`${CLIENT}/suspend`]: { action: 'suspend' },
  [`${CLIENT}/entitlements`]: { action: 'entitle', label: 'Save', hides: ['add', 'remove'] },
  [`${CLIENT}/keys`]: {
    action: 'issue_key',
    secret: {
      field: 'token',
      title: 'A new key',
      says: 'Give it to the client over a channel that you trust. If the client has another key, that one stays valid until the client confirms this one.',
    },
  },
  [`${CLIENT}/keys/:key/revoke`]: { action: 'revoke_key' },
  [`${CLIENT}/webhook`]: {
    action: 'set_webhook',
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
  },
  [`${CLIENT}/webhook/remove`]: { action: 'remove_webhook' },
  [`${CLIENT}/test`]: { action: 'test', next: pageOfSignal },
  [`${CLIENT}/enable`]: { action: 'enable_webhook' },
  [`${CLIENT}/disable`]: { action: 'disable_webhook' },
  [`${CLIENT}/replay`]: {
    action: 'replay',
    next: ({ client }) => `${CLIENTS}/${client}`,
    note: ({ owed_again }) => owed_again === 0 && 'nothing_replayed',
    label: 'Resend…',
  },
  '/ops/view/live/halt': { action: 'halt', label: 'Halt', aliases: ({ aliases }) => [...aliases()] },
  '/ops/view/live/resume': { action: 'resume' },
  '/ops/view/signals': {
    action: 'fire',
    next: pageOfSignal,
    label: 'Fire…',
    hides: ['is_test', 'implied_leverage'],
    makes: ['signal_id', 'timestamp'],
    aliases: ({ aliases }, who) => [...aliases()].filter(alias => missingScope(who, 'fire', alias) === null),
  },
  '/ops/view/rollback': { action: 'rollback' },
  '/ops/view/audit/tokens': {
    action: 'issue_token',
    label: 'Issue',
    secret: {
      field: 'token',
      title: 'A new operator token',
      says: 'Give it to its holder over a channel that you trust. The audit log names it.',
    },
  },
  '/ops/view/audit/tokens/:name/revoke': { action: 'revoke_token' },
}
