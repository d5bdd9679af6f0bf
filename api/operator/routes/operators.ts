// The operators: their tokens, and what they did.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { list, named, request, text } from '#core/contract/payloads/field.ts'
import { action, type LoggedAction, readActions } from '#signals/operators/audit-log.ts'
import { grant, issueToken, listOperators, revokeToken } from '#signals/operators/tokens.ts'
import type { Destination } from '#signals/outbox/destination.ts'
import { nameOf } from '#signals/outbox/setter.ts'
import { readAllClients } from '#signals/views/overview.ts'
import { count, instant } from '../../service/deliveries.ts'
import { operatorRoute } from '../operator-route.ts'
import { signalsQuery } from './signals.ts'

const name = text('the name of an operator: 1 to 64 of a-z, 0-9, - and _')

const scopes = z
  .array(grant)
  .min(1)
  .default(['everything'])
  .describe('a list of scopes: read, fire, fire:STRATEGY for one strategy, clients, or everything')

const token = named('OperatorToken', {
  name: text('Name of the operator.'),
  scopes: z.array(z.string()).readonly().describe('What it may do.'),
  created_at: instant,
})

const issued = named('IssuedOperatorToken', {
  name: text('Name of the operator.'),
  token: text('The token, shown this once.'),
})

const revoked = named('RevokedOperatorToken', {
  name: text('Name of the operator, whose token and sessions are over.'),
  endpoints: list(
    'The endpoints that a link of its holder set, or whose settings it changed last: they stay as they are. `acme` is the webhook of acme, `acme/backup` another one.',
    z.string(),
  ),
})

const loggedAction = named('LoggedAction', {
  ...action.shape,
  seq: count.describe('Number of the action, from 1 without a gap.'),
  at: instant,
})

export const actionsQuery = signalsQuery.extend({
  before: signalsQuery.shape.before.describe('the number of an action, from 1: only older ones are listed'),
})

export const OPERATOR_ACCOUNT_ROUTES = [
  operatorRoute({
    id: 'audit',
    path: '/ops/audit',
    title: 'The audit log: what operators did',
    about:
      'Newest first: who, what, when, and the state before and after. It is never shortened, and copied to the private store. `meta.next` is ' +
      'what to give as `before` for older ones; null if there are none.',
    query: actionsQuery,
    data: z.array(loggedAction),
    example: { path: '/ops/audit?limit=2' },
    command: { usage: 'audit', prints: linesOfActions },
    handler: async (asked, { redis }) => {
      const { rows, next } = await readActions(redis, asked)
      return { data: rows, meta: { next } }
    },
  }),
  operatorRoute({
    id: 'tokens',
    path: '/ops/tokens',
    title: 'The tokens of operators',
    about: 'Those that were issued, by name. OPERATOR_TOKEN, whose name is `operator`, is not among them.',
    data: z.array(token),
    command: { usage: 'tokens list' },
    handler: async (_, { redis }) => {
      const all = await listOperators(redis)
      return { data: all.map(({ name, scopes, created_at }) => ({ name, scopes, created_at })) }
    },
  }),
  operatorRoute({
    id: 'issue_token',
    method: 'POST',
    path: '/ops/tokens',
    scope: 'everything',
    subject: { kind: 'name', field: 'name' },
    title: 'Issue a token to an operator',
    about:
      'It opens what its scopes name, or everything that OPERATOR_TOKEN opens, and the audit log names it. It is shown this once.',
    body: request('OperatorTokenRequest', { name, scopes }),
    data: issued,
    statuses: [201],
    refusals: ['conflict'],
    example: { path: '/ops/tokens', body: { name: 'jane', scopes: ['read', 'clients'] } },
    command: {
      usage: 'tokens add <name>',
      prints: ({ name, token }) => `token of ${name}, shown this once:\n${token}`,
    },
    form: { offers: [{ at: 'tokens', button: 'Issue', inputs: ['name', 'scopes'] }], below: '/audit' },
    secret: {
      field: 'token',
      title: 'A new operator token',
      says: 'Give it to its holder over a channel that you trust. The audit log names it.',
    },
    handler: async ({ name, scopes }, { redis, random, clock }) => {
      const token = await issueToken(redis, name, scopes, random, clock.now())
      return { data: { name, token } }
    },
  }),
  operatorRoute({
    id: 'revoke_token',
    method: 'DELETE',
    path: '/ops/tokens/{name}',
    scope: 'everything',
    subject: { kind: 'name', field: 'name' },
    title: 'Revoke the token of an operator',
    about:
      'From the answer on it opens nothing, and its sessions and those of its links are over. What its links set stays, because its subscribers ' +
      'may have set that: the answer names the endpoints, of which `webhook remove` removes those that their owners did not set.',
    data: revoked,
    refusals: ['not_found'],
    example: { path: '/ops/tokens/jane' },
    command: { usage: 'tokens revoke <name>', prints: linesOfRevoked },
    form: {
      offers: [{ at: 'token', button: 'Revoke…', tone: 'stop' }],
      below: '/audit',
      warn: async ({ name }, { redis }) => [
        `Revoke the token of ${name}?`,
        `It opens nothing from then on, and its sessions on this page are over.${ofLinks(await setByLinks(redis, name))}`,
      ],
      done: 'The token is revoked, and its sessions are over.',
    },
    handler: async ({ name }, { redis }) => {
      await revokeToken(redis, name)
      return { data: { name, endpoints: await setByLinks(redis, name) } }
    },
  }),
]

async function setByLinks(redis: Redis, operator: string): Promise<readonly Destination[]> {
  const link = nameOf({ kind: 'link', id: operator })
  const [, webhooks] = await readAllClients(redis)
  const found = [...webhooks.values()].filter(each => each.set_by === link || each.changers.includes(link))
  return found.map(({ destination }) => destination)
}

const ofLinks = (endpoints: readonly Destination[]): string =>
  endpoints.length === 0
    ? ''
    : ` Its links set these endpoints, or their settings, which stay: ${endpoints.join(', ')}. Ask their owners, and remove what they did not set.`

function linesOfRevoked({ name, endpoints }: z.output<typeof revoked>): string {
  return `revoked the token of ${name}${endpoints.length === 0 ? '' : `.${ofLinks(endpoints)}`}`
}

/** A line an action, as on the page; the state before and after is in `--json`. */
function linesOfActions(rows: readonly LoggedAction[]): unknown {
  if (rows.length === 0) return 'no action yet'
  return rows.map(logged => {
    const { seq: number, at, who, action, subject: about, outcome } = logged
    return { number, at, who, action, about, outcome, 'what changed, or was asked for': actionWords(logged) }
  })
}

/** `account: active → suspended` for each field that differs, or what was asked for if none does. The JSON has the exact state. */
export function actionWords({ before, after, request, subject }: LoggedAction): string {
  const [old, now] = [shownFields(before), shownFields(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const changed = names.filter(name => wordsOf(old[name]) !== wordsOf(now[name]))
  if (changed.length === 0)
    return pairs(Object.entries(request).filter(([, value]) => !subject?.split('/').includes(value))) // it stands beside
  const wasOf = (name: string): string => (before === null ? '' : `${wordsOf(old[name])} → `)
  return changed.map(name => `${name}: ${wasOf(name)}${wordsOf(now[name])}`).join('; ')
}

/** The fields as the page names them: an account that is suspended is pending for its client alone. */
function shownFields(state: LoggedAction['after']): Readonly<Record<string, unknown>> {
  const { status, suspended, aliases, webhook, endpoints = {}, ...others } = state ?? {}
  const hooks = Object.entries(endpoints).map(([name, each]) => [`endpoint ${name}`, each] as const)
  return {
    ...(status === undefined ? {} : { account: suspended === true ? 'suspended' : status }),
    ...(aliases === undefined ? {} : { strategies: aliases }),
    ...others,
    // How many deliveries wait changes by itself, and would hide what was asked for.
    ...Object.fromEntries(
      [['webhook', webhook] as const, ...hooks].flatMap(([name, each]) =>
        each == null ? [] : [[name, each.enabled ? 'enabled' : 'disabled']],
      ),
    ),
  }
}

const pairs = (fields: readonly (readonly [name: string, value: string])[]): string =>
  fields.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join('; ')

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === undefined ? 'none' : String(value)
}
