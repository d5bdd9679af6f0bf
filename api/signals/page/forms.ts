// The page for subscribers at /account: what it is called, and its forms, which are those of the keyed routes.
import { html } from 'hono/html'
import { createForms } from '../../service/page/forms.ts'
import type { Session as PageSession, Site } from '../../service/page/layout.ts'
import type { Caller, KeyedRoute } from '../keyed-route.ts'
import { KEYED_ROUTES } from '../routes.ts'

/** The names of the endpoints that are set can be chosen. */
export type Session = PageSession<Caller> & { readonly endpoints: readonly string[] }

export const ACCOUNT_SITE: Site = {
  ...{ home: '/account', below: '/account/', brand: 'subscriber' },
  tabs: [
    ['/account', 'State'],
    ['/account/deliveries', 'Deliveries'],
    ['/account/endpoints', 'Endpoints'],
    ['/account/notices', 'Notices'],
  ],
  reloads: ['State', 'Notices'],
  login: {
    label: 'API key, or the token of a link',
    username: 'subscriber',
    help: html`Your key begins with <code>hw_live_</code>. A link from the operator logs in by itself; without scripts, paste here what is behind its <code>#</code>. It works once, and for 15 minutes.`,
    ended: 'its key was revoked or has ended, its link was withdrawn, or eight hours passed',
    hasLinks: true,
  },
  says: text => IN_PLACE_OF.reduce((said, [route, words]) => said.replaceAll(route, words), text),
}

/** What a person uses here in the place of a route that a sentence names. */
const IN_PLACE_OF: readonly (readonly [route: RegExp, words: string])[] = [
  [/PUT \/v1\/(?:endpoints\/[\w{}-]+|webhook)/g, '“Test and set” on the tab Endpoints'],
  [/GET \/v1\/endpoints/g, 'the tab Endpoints'],
  [/GET \/v1\/signals\/history/g, 'the pull'],
  [/POST \/v1\/resend/g, '“Resend”'],
  [/\/v1\/whoami/g, 'the tab State'],
]

/** More strategies are typed and not chosen. */
const MOST_CHOICES = 40

export const ACCOUNT_FORMS = createForms<KeyedRoute, Session>(KEYED_ROUTES, {
  pathOf: path => ACCOUNT_SITE.home + path.slice('/v1'.length),
  isOffered: ({ who, endpoints }, { group }) =>
    group === 'key' || (who.client.status === 'active' && endpoints.length > 0),
  choicesOf: ({ who, endpoints }, _, field) => {
    if (field === 'endpoint') return endpoints
    return field === 'filter' && who.client.aliases.length <= MOST_CHOICES ? who.client.aliases : undefined
  },
})

export const { offers } = ACCOUNT_FORMS
