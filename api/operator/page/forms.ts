import { haltRequest, parseRequest, replayQuery } from '#core/contract/operator-requests.ts'
import { activateClient, findClient, suspendClient } from '#signals/clients/clients.ts'
import { halt, resume } from '#signals/live/control.ts'
import type { Exchange } from '../exchange.ts'
import { assertAlias } from '../handlers/live.ts'
import type { OperatorParts } from '../parts.ts'
import type { Note } from './layout.ts'

/** Does what a form asks for, and names the page that follows. */
type Act = (c: Exchange, parts: OperatorParts, form: URLSearchParams) => Promise<string>

const CLIENT = '/ops/view/clients/:client'

/** What is done to one client, which the page that follows tells. */
const forClient =
  (note: Note, act: (id: string, parts: OperatorParts, form: URLSearchParams) => Promise<unknown>): Act =>
  async (c, parts, form) => {
    const { id } = await findClient(parts.redis, c.req.param('client') ?? '')
    await act(id, parts, form)
    return `/ops/view/clients/${id}?note=${note}`
  }

const forAlias =
  (note: Note, act: (alias: string, parts: OperatorParts) => Promise<void>): Act =>
  async (_, parts, form) => {
    const { alias } = parseRequest(haltRequest, fieldsOf(form))
    await act(alias, parts)
    return `/ops/view/live?note=${note}`
  }

/** What was filled in: all but the proof that the form is ours. */
function fieldsOf(form: URLSearchParams): Record<string, string> {
  const { csrf: _, ...fields } = Object.fromEntries(form)
  return fields
}

/** Every form, by the path that it is sent to. */
export const FORMS: Readonly<Record<string, Act>> = {
  [`${CLIENT}/activate`]: forClient('activated', (id, { redis }) => activateClient(redis, id)),
  [`${CLIENT}/suspend`]: forClient('suspended', (id, { redis }) => suspendClient(redis, id)),
  [`${CLIENT}/test`]: forClient('tested', (id, { orders }) => orders.fireTest(id)),
  [`${CLIENT}/enable`]: forClient('enabled', (id, { orders }) => orders.enable(id)),
  [`${CLIENT}/disable`]: forClient('disabled', (id, { orders }) =>
    orders.disable(id, 'the operator disabled it'),
  ),
  [`${CLIENT}/replay`]: forClient('replayed', (id, { orders }, form) =>
    orders.replay(id, parseRequest(replayQuery, fieldsOf(form)).from),
  ),
  '/ops/view/live/halt': forAlias('halted', async (alias, parts) => {
    assertAlias(alias, parts)
    await halt(parts.redis, alias)
  }),
  '/ops/view/live/resume': forAlias('resumed', (alias, { redis }) => resume(redis, alias)),
}
