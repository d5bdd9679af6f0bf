import { html } from 'hono/html'
import { DEFAULT_ENDPOINT } from '#signals/outbox/destination.ts'
import { recentDeliveries, type ShownDelivery } from '#signals/views/recent.ts'
import { deliveriesTable, PRECISE, searchDeliveries } from '../../service/page/deliveries.ts'
import type { Piece, Texts } from '../../service/page/layout.ts'
import type { OperatorParts } from '../parts.ts'
import { deliveriesQuery } from '../routes/signals.ts'
import { clientLink, offers, type Session, signalLink } from './site.ts'

export async function deliveriesPage(
  asked: Texts,
  { redis, clock }: OperatorParts,
  session: Session,
): Promise<Piece> {
  const search = await searchDeliveries(
    {
      ...{ path: '/ops/view/deliveries', query: deliveriesQuery },
      find: filter => recentDeliveries(redis, filter),
    },
    asked,
  )
  const { client, endpoint, status } = search.filter
  const empty =
    search.problem ?? 'No delivery matches. The page of a signal says why a client was not sent it.'
  return html`<h1>Deliveries</h1>
${search.form}
${client !== undefined && status === 'exhausted' ? resendGivenUp(session, client, endpoint ?? DEFAULT_ENDPOINT) : ''}
${deliveriesTable(columnsOf(session), search.rows, clock.now(), [PRECISE, ...hiddenOf(search.rows)], empty)}
${search.older}`
}

/** Of the table of deliveries, what the operator's pages have. */
export const columnsOf = (session: Session) => ({
  signal: signalLink,
  to: [
    ['Client', ({ client }: ShownDelivery) => clientLink(client)],
    ['Endpoint', ({ endpoint }: ShownDelivery) => endpoint],
  ] as const,
  offer: ({ client, endpoint, seq }: ShownDelivery) =>
    offers(session, 'delivery', { client, endpoint, from: `${seq}`, to: `${seq}` }),
})

/** The column of endpoints says nothing if every row is of the one that each client has. */
export const hiddenOf = (rows: readonly ShownDelivery[]): readonly string[] =>
  rows.every(({ endpoint }) => endpoint === DEFAULT_ENDPOINT) ? ['Endpoint'] : []

export const resendGivenUp = (session: Session, client: string, endpoint: string): Piece | string =>
  offers(session, 'given up', { client, endpoint, from: '1', only: 'exhausted' })
