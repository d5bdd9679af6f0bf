// Every action of an operator is logged, by this one function: for the JSON interface and for the page.
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { listKeys, ownerOf } from '#signals/clients/api-keys.ts'
import { getClient } from '#signals/clients/clients.ts'
import { keyIdOf } from '#signals/clients/token.ts'
import { haltedAliases, readStatus } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { logAction, type SubjectState } from '#signals/operators/audit-log.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import type { OperatorParts } from './parts.ts'

/** What an operator wants to do: the name of the route, and the variables of its path with the fields of its body. */
export type Intent = {
  readonly who: string
  readonly action: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * Does something and logs it, with the state of its subject before and after, and also if it was refused. What was done
 * stays done if it cannot be logged, which is reported: halting must never wait for a log.
 */
export async function audited<Result>(
  intent: Intent,
  parts: OperatorParts,
  act: () => Promise<Result>,
): Promise<Result> {
  const subject = await subjectOf(intent, parts)
  const before = await stateOf(subject, parts)
  let outcome = 'done'
  try {
    return await act()
  } catch (error) {
    outcome = error instanceof ApiError ? error.code : 'internal'
    throw error
  } finally {
    await log(intent, subject, before, outcome, parts).catch((error: unknown) => {
      if (outcome === 'done') parts.onError(error)
    })
  }
}

async function log(
  { who, action, fields }: Intent,
  subject: Subject,
  before: SubjectState | null,
  outcome: string,
  parts: OperatorParts,
): Promise<void> {
  const after = await stateOf(subject, parts)
  const at = toIsoInstant(parts.clock.now())
  const request = withoutSecrets(fields)
  await logAction(parts.redis, { at, who, action, subject: subject.name, request, outcome, before, after })
  parts.onAction()
}

type Subject = { readonly kind: 'client' | 'strategy' | 'other'; readonly name: string | null }

const LIVE_ACTIONS: readonly string[] = ['halt', 'resume', 'mode']

async function subjectOf({ action, fields }: Intent, { redis }: OperatorParts): Promise<Subject> {
  const { alias, key, id, name, signal_id } = fields
  const keyId = keyIdOf(String(key ?? ''))
  const client = fields.client ?? (keyId === null ? null : await ownerOf(redis, keyId).catch(() => null))
  if (LIVE_ACTIONS.includes(action)) return { kind: 'strategy', name: String(alias ?? EVERY_ALIAS) }
  if (client !== null) return { kind: 'client', name: String(client) }
  if (action === 'add_client') return { kind: 'client', name: String(id) }
  const other = keyId ?? name ?? signal_id ?? alias
  return { kind: 'other', name: other === undefined ? null : String(other) }
}

/** What an action may change; null if the subject does not exist or has no state, or Redis cannot say. */
async function stateOf(
  { kind, name }: Subject,
  { redis, clock }: OperatorParts,
): Promise<SubjectState | null> {
  if (name === null || kind === 'other') return null
  try {
    if (kind === 'strategy') {
      const halted = await haltedAliases(redis)
      return name === EVERY_ALIAS
        ? { halted }
        : { halted, mode: (await readStatus(redis, name, clock.now())).mode }
    }
    const client = await getClient(redis, name)
    if (client === null) return null
    const { tier, status, suspended, aliases, program } = client
    const webhook = (await readWebhookStates(redis, [name])).get(name)
    return {
      ...{ tier, status, suspended, aliases, program },
      keys: (await listKeys(redis, name)).map(({ id }) => id),
      webhook: webhook === undefined ? null : { enabled: webhook.enabled, waiting: webhook.owed },
    }
  } catch {
    return null // the action itself reports what is wrong
  }
}

const HIDDEN = '***'

/** A secret is hidden, of a key its id is shown, and of the address of a webhook, which may contain one, the host is shown. */
const withoutSecrets = (fields: Intent['fields']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'secret' && value !== null) return [name, HIDDEN]
      if (name === 'key') return [name, keyIdOf(String(value)) ?? HIDDEN] // a whole one may be given
      if (name !== 'url') return [name, typeof value === 'string' ? value : JSON.stringify(value)]
      return [name, typeof value === 'string' && URL.canParse(value) ? new URL(value).host : HIDDEN]
    }),
  )
