import { parseRequest, signalsQuery } from '#core/contract/operator-requests.ts'
import { listKeys } from '#signals/clients/api-keys.ts'
import { findClient, listClients } from '#signals/clients/clients.ts'
import { readAttempts, readOutbox } from '#signals/delivery/outbox.ts'
import { SealError } from '#signals/delivery/secret-box.ts'
import { haltedAliases } from '#signals/live/control.ts'
import { readLatency } from '#signals/views/latency.ts'
import { readLive, readOverview } from '#signals/views/overview.ts'
import { recentDeliveries, recentSignals, rowsOf } from '#signals/views/recent.ts'
import { readWebhookStates } from '#signals/views/webhook-state.ts'
import type { Exchange } from '../exchange.ts'
import { signalOf } from '../handlers/deliveries.ts'
import type { OperatorParts, WebhookAddress } from '../parts.ts'
import { clientPage, clientsPage } from './clients.ts'
import { page } from './layout.ts'
import { livePage } from './live.ts'
import { overviewPage } from './overview.ts'
import type { Session } from './session.ts'
import { exhaustedPage, signalPage, signalsPage } from './signals.ts'

type View = (c: Exchange, parts: OperatorParts, session: Session) => Promise<Response>

/** Deliveries on the page of a client. */
const LAST_DELIVERIES = 20

/** Deliveries of one signal whose attempts are shown; the command line shows those of any. */
const MOST_SHOWN = 200

const overview: View = async (_, parts, session) =>
  page(session, 'Overview', 'Overview', overviewPage(await readOverview(parts), parts.clock.now()))

const clients: View = async (_, { redis }, session) => {
  const all = await listClients(redis)
  const ids = all.map(({ id }) => id)
  return page(session, 'Clients', 'Clients', clientsPage(all, await readWebhookStates(redis, ids)))
}

const client: View = async (c, parts, session) => {
  const { redis } = parts
  const found = await findClient(redis, c.req.param('client') ?? '')
  const { id } = found
  const [keys, webhooks, latency, { rows }] = await Promise.all([
    listKeys(redis, id),
    readWebhookStates(redis, [id]),
    readLatency(redis, id),
    recentDeliveries(redis, { client: id, limit: LAST_DELIVERIES }),
  ])
  const webhook = webhooks.get(id)
  const address = webhook === undefined ? null : await readAddress(parts, id)
  const view = { client: found, keys, webhook, address, latency, deliveries: rows }
  return page(session, 'Clients', id, clientPage(session, view), c.req.query('note'))
}

/** A page without an address is better than none: the key that sealed it may be missing. */
async function readAddress({ orders }: OperatorParts, id: string): Promise<WebhookAddress | null> {
  try {
    return await orders.readAddress(id)
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

const signals: View = async (c, { redis }, session) =>
  page(
    session,
    'Signals',
    'Signals',
    signalsPage(await recentSignals(redis, parseRequest(signalsQuery, c.req.query()))),
  )

const signal: View = async (c, { redis }, session) => {
  const logged = await signalOf(c, redis)
  const { seq } = logged
  const all = rowsOf(logged, await readOutbox(redis, seq))
  const deliveries = await Promise.all(
    all
      .slice(0, MOST_SHOWN)
      .map(async row => ({ row, attempts: await readAttempts(redis, seq, row.client) })),
  )
  return page(session, 'Signals', `Signal ${seq}`, signalPage(logged, deliveries, all.length))
}

const exhausted: View = async (c, { redis }, session) => {
  const { note, ...query } = c.req.query()
  const { before, limit } = parseRequest(signalsQuery, query)
  const found = await recentDeliveries(redis, { status: 'exhausted', before, limit })
  return page(session, 'Exhausted', 'Exhausted', exhaustedPage(session, found), note)
}

const live: View = async (c, { redis, aliases }, session) => {
  const [strategies, halted] = await Promise.all([readLive(redis, aliases()), haltedAliases(redis)])
  return page(session, 'Live', 'Live', livePage(session, strategies, halted), c.req.query('note'))
}

/** Every page, by its path. */
export const VIEWS: Readonly<Record<string, View>> = {
  '/ops': overview,
  '/ops/view/clients': clients,
  '/ops/view/clients/:client': client,
  '/ops/view/signals': signals,
  '/ops/view/signals/:seq': signal,
  '/ops/view/exhausted': exhausted,
  '/ops/view/live': live,
}
