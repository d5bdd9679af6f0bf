// The forms of the page: actions of the route table, which declares beside what they are offered, with its fields as inputs.
import { html, raw } from 'hono/html'
import { mayUse, missingScope } from '#signals/operators/tokens.ts'
import type { Fields } from '../audited.ts'
import {
  fieldsOf,
  type OperatorRoute,
  type Place,
  type RouteField,
  type RouteForm,
} from '../operator-route.ts'
import { OPERATOR_ROUTES } from '../routes.ts'
import { formTo, hidden, type Piece, type Session, type Texts } from './layout.ts'

export type SentForm = ReturnType<typeof toSentForm>

/** Every form, with the path that it is sent to: that of its route, and its method where a browser cannot send that. */
export const FORMS: readonly SentForm[] = OPERATOR_ROUTES.flatMap(route =>
  route.form === undefined ? [] : [toSentForm(route, route.form)],
)

function toSentForm(route: OperatorRoute, form: RouteForm) {
  const { below = '', hides = [], makes = {} } = form
  const method = route.method === 'POST' ? '' : `/${route.method.toLowerCase()}`
  const fields = fieldsOf(route.query ?? route.body)
    .filter(({ name }) => !hides.includes(name))
    .map(field => ({ ...field, isRequired: field.isRequired && !Object.hasOwn(makes, field.name) }))
  return { route, form, fields, path: `/ops/view${below}${route.path.slice('/ops'.length)}${method}` }
}

/** What is shown once after an action: a closed list, so that no link can put text on a page. */
const NOTES = new Map(
  FORMS.flatMap(({ route: { id }, form: { done, idle } }) => [
    [id, done],
    [`${id}.idle`, idle],
  ]),
)

export function noteOf(note = ''): Piece | string {
  const says = NOTES.get(note)
  return says === undefined ? '' : html`<p class="note" role="status">${says}</p>`
}

/** The forms beside something that the operator may use. `given` has the variables of paths, the values of inputs, and what buttons send. */
export function offers(session: Session, at: Place, given: Texts = {}, shown: Fields = {}): Piece | string {
  const found = FORMS.filter(({ route }) => mayUse(session.who, route.scope)).flatMap(sent =>
    sent.form.offers
      .filter(
        ({ at: place, when = {} }) =>
          place === at && Object.entries(when).every(([name, value]) => shown[name] === value),
      )
      .map(offer => {
        const { hasInputs = false, button, tone = '' } = offer
        const own = Object.entries(given).filter(([name]) => sent.fields.some(field => field.name === name))
        const content = hasInputs
          ? inputsOf(session, sent, button, given)
          : html`${hidden(Object.fromEntries(own))}<button class="${tone}">${button}</button>`
        const path = sent.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '')
        return { hasInputs, form: formTo(session, path, content, hasInputs ? 'fields' : '') }
      }),
  )
  const { forms = [], buttons = [] } = Object.groupBy(found, ({ hasInputs }) =>
    hasInputs ? 'forms' : 'buttons',
  )
  const actions =
    buttons.length === 0 ? '' : html`<div class="actions">${buttons.map(({ form }) => form)}</div>`
  return found.length === 0 ? '' : html`${forms.map(({ form }) => form)}${actions}`
}

export function filledAgain(session: Session, sent: SentForm, path: string, given: Texts): Piece | string {
  const offer = sent.form.offers.find(({ hasInputs }) => hasInputs)
  return offer === undefined
    ? ''
    : formTo(session, path, inputsOf(session, sent, offer.button, given), 'fields')
}

function inputsOf({ who, served }: Session, { route, fields }: SentForm, button: string, given: Texts) {
  const aliases = [...served].filter(alias => missingScope(who, route.scope, alias) === null).sort()
  const inputs = fields.map(field =>
    inputOf(field, given[field.name], field.name === 'alias' ? aliases : field.listed),
  )
  return html`${inputs}<button class="quiet">${button}</button>`
}

/** The fields as a form sends them, typed as a body or a query has them; what was left empty is not sent. */
export const sentBy = (fields: readonly RouteField[], given: Texts): Fields =>
  Object.fromEntries(
    fields.flatMap(({ name, type, format }): [string, unknown][] => {
      const text = given[name] ?? ''
      if (type === 'boolean') return [[name, text !== '']]
      if (type === 'array') return [[name, text.split(/[\s,]+/).filter(word => word !== '')]]
      if (text === '') return []
      if (format === 'date-time') return [[name, toInstant(text)]]
      return [[name, isNumber(type) ? Number(text) : text]]
    }),
  )

const isNumber = (type: string): boolean => type === 'number' || type === 'integer'

/** An input for a time has no zone, and may have no seconds; the page means UTC. */
const toInstant = (text: string): string =>
  text.replace(/T\d\d:\d\d$/, '$&:00').replace(/T\d\d:\d\d:\d\d$/, '$&Z')

/** Names that differ from those of the fields, and words for what can be chosen. */
const WORDS: Texts = {
  owed: 'waiting',
  exhausted: 'given up',
  aliases: 'strategies',
  alias: 'strategy',
  program: 'accumulation program',
  activate: 'active at once',
  signal_price: 'price',
  url: 'address',
  base_risk_pct: 'risk, such as 0.02',
  timestamp: 'decided at, now if empty',
  from: 'from signal',
  to: 'to signal',
  scopes: 'scopes of read, fire, fire:STRATEGY, clients, everything',
  seq: 'signal',
  status: 'state',
}

/** The input of a field, filled with what is given; a secret is never shown again. */
export function inputOf(
  { name, type, format, description, isRequired, initial }: RouteField,
  given?: string,
  choices?: readonly string[],
): Piece {
  const isTime = format === 'date-time'
  const words = `${WORDS[name] ?? name.replaceAll('_', ' ')}${isTime ? ' (UTC)' : ''}`
  const label = words.charAt(0).toUpperCase() + words.slice(1)
  if (type === 'boolean')
    return html`<label title="${description}"><input type="checkbox" name="${name}" value="yes"${raw(given ? ' checked' : '')}> ${label}</label>`
  const value = name === 'secret' ? '' : (given ?? String(initial ?? ''))
  const isOptional = !isRequired && initial === undefined
  if (choices !== undefined)
    return html`<label title="${description}">${label} <select name="${name}">${[...(isOptional ? [''] : []), ...choices].map(each => html`<option value="${each}"${raw(each === value ? ' selected' : '')}>${each === '' ? 'any' : (WORDS[each] ?? each)}</option>`)}</select></label>`
  const kind = isTime ? 'datetime-local' : isNumber(type) ? 'number' : 'text'
  const more = `${kind === 'text' ? '' : ` step="${isTime ? 1 : 'any'}"`}${isRequired ? ' required' : ''}`
  return html`<label title="${description}">${label} <input type="${kind}" name="${name}" value="${isTime ? value.replace('Z', '') : value}" placeholder="${isOptional ? 'optional' : ''}" autocomplete="off"${raw(more)}></label>`
}
