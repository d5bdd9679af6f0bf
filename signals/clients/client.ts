// A client: one record, and what it may see.
import { z } from 'zod'
import { invalidParameter } from '#core/contract/errors.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { rememberText, toRecord } from '../redis/record-text.ts'

export const CLIENT_STATUSES = ['pending', 'active'] as const

export type Client = Readonly<z.output<typeof stored>> & { readonly id: string }

/** The caller, and the id of its key. */
export type Identity = { readonly client: Client; readonly keyId: string }

const stored = z.object({
  /** The operator's own name for what was sold. */
  tier: z.string(),
  /** `pending` until the operator activates the account. */
  status: z.enum(CLIENT_STATUSES),
  aliases: z.string().transform(text => z.array(z.string()).readonly().parse(JSON.parse(text))),
  program: z.enum(['0', '1']).transform(text => text === '1'),
  created_at: z.string(),
  /** Whether the account was active and the operator suspended it. */
  suspended: z
    .literal('1')
    .optional()
    .transform(text => text === '1'),
})

/** Parses a stored record; null if there is none. Throws if it is malformed. */
export function toClient(id: string, fields: Readonly<Record<string, string>>): Client | null {
  return Object.keys(fields).length === 0 ? null : { id, ...stored.parse(fields) }
}

export const toStoredClient = ({ tier, status, aliases, program, created_at }: Client) => ({
  tier,
  status,
  aliases: JSON.stringify(aliases),
  program: program ? '1' : '0',
  created_at,
})

/** Throws `validation_error` unless a text is a valid id of a client, a tier or an alias. */
export function assertId(param: string, value: string): void {
  if (ID_PATTERN.test(value)) return
  const reason = 'expected 1 to 64 of a-z, 0-9, - and _, the first one a letter or a digit'
  throw invalidParameter(param, value.slice(0, ECHO_LENGTH), reason)
}

const ECHO_LENGTH = 80

/** Clients whose latest record is cached: some megabytes. */
const MOST_CLIENTS = 10_000

/** The client of a record that was read as one text; null if there is none. Each text is parsed once. */
export const clientOfText = rememberText(MOST_CLIENTS, (text, id) => toClient(id, toRecord(text)))
