// Every action of an operator is allowed and logged by this one function: for the JSON interface and for the page.
import { z } from 'zod'
import { ISO_INSTANT, instantOf } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { type Query, variablesOf } from '#core/contract/route.ts'
import { listKeys, ownerOf } from '#signals/clients/api-keys.ts'
import { getClient } from '#signals/clients/clients.ts'
import { keyIdOf, OUR_SECRETS } from '#signals/clients/token.ts'
import { haltedAliases, readStatus } from '#signals/live/live-record.ts'
import { logAction, type SubjectState } from '#signals/operators/audit-log.ts'
import { assertScope, type Operator } from '#signals/operators/tokens.ts'
import { clientOf, DEFAULT_ENDPOINT, destinationOf } from '#signals/outbox/destination.ts'
import { EVERY_ALIAS } from '#signals/redis/keys.ts'
import { readWebhookStates, toLogged } from '#signals/views/overview.ts'
import type { Fields } from '../service/page/forms.ts'
import type { OperatorParts } from './exchange.ts'
import type { OperatorRoute } from './operator-route.ts'

/** What an operator asks for: a route, the variables of its path, and the fields that were sent with it. */
export type Intent = {
  readonly who: Operator
  readonly route: OperatorRoute
  readonly path: Fields
  readonly sent: Fields
}

/**
 * Does what the token of an operator allows and logs it, with the state of its subject before and after, and also if it
 * was refused. What was done stays done if it cannot be logged, which is reported: halting must never wait for a log.
 */
export async function audited<Result>(
  intent: Intent,
  parts: OperatorParts,
  act: () => Promise<Result>,
): Promise<Result> {
  const subject = await subjectOf(intent, parts)
  const before = await stateOf(subject, parts)
  let outcome = 'done'
  const log = async (): Promise<void> => {
    const after = await stateOf(subject, parts)
    await logAction(parts.redis, {
      at: instantOf(parts.clock.now()), // in milliseconds: signals of the same second are before or after it
      who: intent.who.name,
      action: intent.route.id,
      subject: subject.name,
      request: loggedRequest(intent, parts.token),
      ...{ outcome, before, after },
    })
    parts.onAction()
  }
  try {
    assertScope(intent.who, intent.route.scope, subject.name)
    return await act()
  } catch (error) {
    outcome = error instanceof ApiError ? error.code : 'internal'
    throw error
  } finally {
    await log().catch((error: unknown) => {
      if (outcome === 'done') parts.onError(error)
    })
  }
}

type Named = { readonly kind: 'client' | 'strategy' | 'name'; readonly name: string | null }

/** Of clients, strategies, tokens and versions; the asterisk is every strategy. */
const NAMES = [ID_PATTERN, ISO_INSTANT, /^\*$/]

const isName = (given: unknown): given is string =>
  typeof given === 'string' && NAMES.some(names => names.test(given))

/** What an action is about, as its route declares it; without a name if what was given is none. */
async function subjectOf({ route, path, sent }: Intent, { redis, token }: OperatorParts): Promise<Named> {
  if (route.subject === null) return { kind: 'name', name: null }
  const { query, body } = route
  const { kind, field, otherwise } = route.subject
  const given = (variablesOf(route.path).includes(field) ? path[field] : sent[field]) ?? otherwise
  if (kind === 'key') {
    const keyId = keyIdOf(String(given))
    const owner = keyId === null ? null : await ownerOf(redis, keyId).catch(() => null)
    return owner === null ? { kind: 'name', name: keyId } : { kind: 'client', name: owner }
  }
  if (!isName(given) || given === token) return { kind, name: null }
  const { endpoint } = sent
  const hasEndpoint = kind === 'client' && namesIn(query ?? body).includes('endpoint') && isName(endpoint)
  return { kind, name: hasEndpoint && endpoint !== token ? destinationOf(given, endpoint) : given }
}

/** What an action may change; null if the subject does not exist or has no state, or Redis cannot say. */
async function stateOf({ kind, name }: Named, { redis, clock }: OperatorParts): Promise<SubjectState | null> {
  if (name === null || kind === 'name') return null
  try {
    if (kind === 'strategy') {
      const halted = await haltedAliases(redis)
      return name === EVERY_ALIAS
        ? { halted }
        : { halted, mode: (await readStatus(redis, name, clock.now())).mode }
    }
    const client = await getClient(redis, clientOf(name))
    if (client === null) return null
    const { id, tier, status, suspended, aliases, program } = client
    const all = [...(await readWebhookStates(redis, [id])).values()].map(
      each => [each.endpoint, toLogged(each)] as const,
    )
    const { [DEFAULT_ENDPOINT]: webhook = null, ...endpoints } = Object.fromEntries(all)
    return {
      ...{ tier, status, suspended, aliases, program },
      keys: (await listKeys(redis, id)).map(each => each.id),
      webhook,
      ...(Object.keys(endpoints).length > 0 && { endpoints }),
    }
  } catch {
    return null // the action itself reports what is wrong
  }
}

const HIDDEN = '***'

/** The log is kept in the Redis of the signals, and a refused request may be large. */
const MOST_FIELDS = 20
const MOST_CHARS = 1_000

/** What was asked for: the fields that the route declares, without secrets, and of any other the name alone. */
function loggedRequest({ route, path, sent }: Intent, token: string): Record<string, string> {
  const declared = [...Object.keys(path), ...namesIn(route.query), ...namesIn(route.body)]
  const clean = (text: string): string =>
    text.replaceAll(token, HIDDEN).replaceAll(OUR_SECRETS, HIDDEN).slice(0, MOST_CHARS)
  const fields = Object.entries({ ...sent, ...path }).toSorted(
    ([a], [b]) => Number(declared.includes(b)) - Number(declared.includes(a)),
  )
  return Object.fromEntries(
    fields
      .slice(0, MOST_FIELDS)
      .map(([name, value]) => [
        clean(name),
        declared.includes(name) ? clean(withoutSecret(name, value)) : HIDDEN,
      ]),
  )
}

const namesIn = (shape: Query | z.ZodType | undefined): readonly string[] =>
  shape instanceof z.ZodObject ? Object.keys(shape.shape) : []

/** Of a key its id is shown, and of the address of a webhook, which may contain a secret, the host. */
function withoutSecret(name: string, value: unknown): string {
  if (name === 'key') return keyIdOf(String(value)) ?? HIDDEN // a whole one may be given
  if (name === 'url') return typeof value === 'string' && URL.canParse(value) ? new URL(value).host : HIDDEN
  const hasObject = [value].flat().some(each => typeof each === 'object' && each !== null) // of undeclared names
  if (hasObject || (name === 'secret' && value !== null)) return HIDDEN
  return typeof value === 'string' ? value : JSON.stringify(value)
}
