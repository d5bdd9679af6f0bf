import { html } from 'hono/html'
import type { Scope } from '#signals/operators/tokens.ts'
import { clientOf, type Destination } from '#signals/outbox/destination.ts'
import type { Piece, Site } from '../../service/page/layout.ts'

/** Each page with the scope that its forms need. */
export const SCOPES = {
  Overview: 'everything',
  Clients: 'clients',
  Signals: 'fire',
  Deliveries: 'clients',
  Live: 'everything',
  Builds: 'read',
  Audit: 'everything',
} as const satisfies Readonly<Record<string, Scope>>

export type Tab = keyof typeof SCOPES

export const OPERATOR_SITE: Site = {
  home: '/ops',
  below: '/ops/view/',
  brand: 'operator',
  tabs: [
    ['/ops', 'Overview'],
    ...Object.keys(SCOPES)
      .slice(1)
      .map(name => [`/ops/view/${name.toLowerCase()}`, name] as const),
  ],
  reloads: ['Overview', 'Builds'],
  login: {
    label: 'Operator token',
    username: 'operator',
    help: html`The token that <code>highwater ops tokens add</code> printed for you, or the value of <code>OPERATOR_TOKEN</code>, which may be in <code>.data/operator-token</code>.`,
  },
}

/** Also of another endpoint, such as `acme/backup`. */
export const clientLink = (destination: Destination): Piece =>
  html`<a href="/ops/view/clients/${clientOf(destination)}">${destination}</a>`

export const signalLink = (seq: number): Piece => html`<a href="/ops/view/signals/${seq}">${seq}</a>`
