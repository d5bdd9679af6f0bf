// The forms of a page: actions of a route table, which declares beside what they are offered, with their fields as inputs.
import { html, raw } from 'hono/html'
import { formTo, hidden, type Piece, type Session, type Texts } from './layout.ts'
import { type AnyPageRoute, fieldsOf, type RouteField } from './page-route.ts'

export type Fields = Readonly<Record<string, unknown>>

/** What differs between the forms of two services. */
type FormRules<R, S> = {
  /** The path of a route on the page; `below` is of what page it is a part, if its own path does not say so. */
  pathOf(path: string, below: string): string
  isOffered(session: S, route: R): boolean
  /** What can be chosen for a field that its schema does not list. */
  choicesOf?(session: S, route: R, field: string): readonly string[] | undefined
}

/** A route with a form, the fields that have inputs, and the path that it is sent to. */
export type SentForm<R extends AnyPageRoute> = {
  readonly route: R
  readonly form: NonNullable<R['form']>
  readonly fields: readonly RouteField[]
  readonly path: string
}

type PlaceOf<R extends AnyPageRoute> = NonNullable<R['form']>['offers'][number]['at']

/** Every form of a route table. Its path is that of its route, and its method where a browser cannot send that. */
export function createForms<R extends AnyPageRoute, S extends Session>(
  routes: readonly R[],
  rules: FormRules<R, S>,
) {
  const forms = routes.flatMap(route =>
    route.form === undefined ? [] : [toSentForm(route, route.form, rules)],
  )
  /** What is shown once after an action: a closed list, so that no link can put text on a page. */
  const notes = new Map(
    forms.flatMap(({ route: { id }, form: { done, idle } }) => [
      [id, done],
      [`${id}.idle`, idle],
    ]),
  )
  const noteOf = (note = ''): Piece | string => {
    const says = notes.get(note)
    return says === undefined ? '' : html`<p class="note" role="status">${says}</p>`
  }
  const inputsOf = (session: S, { route, fields }: SentForm<R>, button: string, given: Texts): Piece =>
    html`${fields.map(field => inputOf(field, given[field.name], rules.choicesOf?.(session, route, field.name) ?? field.listed))}<button class="quiet">${button}</button>`
  /** The forms beside something that may be used. `given` has the variables of paths, the values of inputs, and what buttons send. */
  const offers = (session: S, at: PlaceOf<R>, given: Texts = {}, shown: Fields = {}): Piece | string => {
    const found = forms
      .filter(({ route }) => rules.isOffered(session, route))
      .flatMap(sent =>
        sent.form.offers
          .filter(
            ({ at: place, when = {} }) =>
              place === at && Object.entries(when).every(([name, value]) => shown[name] === value),
          )
          .map(({ hasInputs = false, button, tone = '' }) => {
            const own = Object.entries(given).filter(([name]) =>
              sent.fields.some(field => field.name === name),
            )
            const content = hasInputs
              ? inputsOf(session, sent, button, given)
              : html`${hidden(Object.fromEntries(own))}<button class="${tone}">${button}</button>`
            const path = sent.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '')
            return { hasInputs, form: formTo(session, path, content, hasInputs ? 'fields' : '') }
          }),
      )
    return arranged(found)
  }
  const filledAgain = (session: S, sent: SentForm<R>, path: string, given: Texts): Piece | string => {
    const offer = sent.form.offers.find(({ hasInputs }) => hasInputs)
    return offer === undefined
      ? ''
      : formTo(session, path, inputsOf(session, sent, offer.button, given), 'fields')
  }
  return { forms, noteOf, offers, filledAgain }
}

export type Forms<R extends AnyPageRoute, S extends Session> = ReturnType<typeof createForms<R, S>>

function toSentForm<R extends AnyPageRoute, S>(
  route: R,
  form: NonNullable<R['form']>,
  { pathOf }: FormRules<R, S>,
): SentForm<R> {
  const { below = '', hides = [], makes = {} } = form
  const method = route.method === 'POST' ? '' : `/${route.method.toLowerCase()}`
  const fields = fieldsOf(route.query ?? route.body)
    .filter(({ name }) => !hides.includes(name))
    .map(field => ({ ...field, isRequired: field.isRequired && !Object.hasOwn(makes, field.name) }))
  return { route, form, fields, path: pathOf(route.path, below) + method }
}

/** Forms with inputs, each on its own, then all buttons. */
function arranged(found: readonly { readonly hasInputs: boolean; readonly form: Piece }[]): Piece | string {
  const { forms = [], buttons = [] } = Object.groupBy(found, ({ hasInputs }) =>
    hasInputs ? 'forms' : 'buttons',
  )
  const actions =
    buttons.length === 0 ? '' : html`<div class="actions">${buttons.map(({ form }) => form)}</div>`
  return found.length === 0 ? '' : html`${forms.map(({ form }) => form)}${actions}`
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
