// How the operator's page is called, what it offers, and its links.
import { html } from 'hono/html'
import { mayUse, missingScope, type Operator, type Scope } from '#signals/operators/tokens.ts'
import { clientOf, type Destination } from '#signals/outbox/destination.ts'
import { createForms } from '../../service/page/forms.ts'
import type { Session as PageSession, Piece, Site } from '../../service/page/layout.ts'
import type { OperatorRoute } from '../operator-route.ts'
import { OPERATOR_ROUTES } from '../routes.ts'

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
    ended: 'twelve hours passed, or its token was revoked or changed',
  },
}

export type Session = PageSession<Operator> & { readonly served: ReadonlySet<string> }

/** A strategy that fires may be chosen among those that the token may fire. */
export const OPERATOR_FORMS = createForms<OperatorRoute, Session>(OPERATOR_ROUTES, {
  pathOf: (path, below) => `/ops/view${below}${path.slice('/ops'.length)}`,
  isOffered: ({ who }, { scope }) => mayUse(who, scope),
  choicesOf: ({ who, served }, { scope }, field) =>
    field === 'alias'
      ? [...served].filter(alias => missingScope(who, scope, alias) === null).sort()
      : undefined,
})

export const { offers } = OPERATOR_FORMS

/** Also of another endpoint, such as `acme/backup`. */
export const clientLink = (destination: Destination): Piece =>
  html`<a href="/ops/view/clients/${clientOf(destination)}">${destination}</a>`

export const signalLink = (seq: number): Piece => html`<a href="/ops/view/signals/${seq}">${seq}</a>`
