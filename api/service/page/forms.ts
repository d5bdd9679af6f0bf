// The forms of a page: actions of a route table, which declares beside what they are offered, with their fields as inputs.
import { greatest } from 'd3-array'
import { html } from 'hono/html'
import { variablesOf } from '#core/contract/route.ts'
import { type Input, inputOf, NAME } from './inputs.ts'
import { formTo, hidden, type Piece, type RefusedForm, type Session, type Texts } from './layout.ts'
import { type AnyPageRoute, fieldsOf, type RouteField } from './page-route.ts'

export type Fields = Readonly<Record<string, unknown>>

/** What differs between the forms of two services. */
type FormRules<R, S> = {
  /** The path of a route on the page; `below` is of what page it is a part, if its own path does not say so. */
  pathOf(path: string, below: string): string
  isOffered(session: S, route: R): boolean
  /** What can be chosen for a field that its schema does not list. */
  choicesOf(session: S, route: R, field: string): readonly string[] | undefined
}

type Offer = NonNullable<AnyPageRoute['form']>['offers'][number]

export type SentForm<R extends AnyPageRoute> = ReturnType<typeof toSentForm<R>>

type PlaceOf<R extends AnyPageRoute> = NonNullable<R['form']>['offers'][number]['at']

/** Every form of a route table. Its path is that of its route, and its method where a browser cannot send that. */
export function createForms<R extends AnyPageRoute, S extends Session>(
  routes: readonly R[],
  rules: FormRules<R, S>,
) {
  const forms = routes.flatMap(route =>
    route.form === undefined ? [] : [toSentForm(route, route.form, rules.pathOf)],
  )
  /** What is shown once after an action: a closed list, so that no link can put text on a page. */
  const notes = new Map([
    ['still', 'That key or link is not valid, or the link was used before. You are still logged in.'],
    ...forms.flatMap(({ route: { id }, form: { done, idle } }) => [
      [id, done] as const,
      [`${id}.idle`, idle] as const,
    ]),
  ])
  const noteOf = (note = ''): Piece | string => {
    const says = notes.get(note)
    return says === undefined ? '' : html`<p class="note" role="status">${says}</p>`
  }
  /** What is given is sent as it is, unless there is an input for it; inputs begin with what is shown. */
  const formOf = (
    session: S,
    { route, path, fields, variables }: SentForm<R>,
    { inputs = [], button, tone }: Offer,
    given: Texts,
    shown: Omit<Input, 'choices' | 'form'>,
  ): Piece => {
    const sent = Object.fromEntries(Object.entries(given).filter(([name]) => !inputs.includes(name)))
    const to = withVariables(path, sent)
    const form = [to, given.endpoint].filter(Boolean).join('/') // one address serves all endpoints of a client
    const kept = Object.entries(sent).filter(([name]) => fields.some(field => field.name === name))
    const asked = [...variables, ...fields].filter(({ name }) => inputs.includes(name))
    const look = inputs.length === 0 ? (tone ?? '') : 'quiet'
    const all = asked.map(field => {
      const isNew = variables.includes(field) // it names what there is not yet
      const choices = isNew ? undefined : rules.choicesOf(session, route, field.name)
      return inputOf(field, { ...shown, choices, form })
    })
    const content = html`${hidden(Object.fromEntries(kept))}${all}<button class="${look}">${button}</button>`
    return formTo(session, to, content, inputs.length === 0 ? '' : 'fields')
  }
  /** The forms beside something that may be used: those with inputs, then all buttons. */
  const offers = (session: S, at: PlaceOf<R>, given: Texts = {}, shown: Fields = {}): Piece | string => {
    const found = forms
      .filter(({ route }) => rules.isOffered(session, route))
      .flatMap(sent =>
        sent.form.offers
          .filter(offer => offer.at === at && isMet(offer, shown))
          .map(offer => ({ offer, form: formOf(session, sent, offer, given, { values: textsOf(shown) }) })),
      )
    const [buttons, others] = [true, false].map(isButton =>
      found.filter(({ offer }) => (offer.inputs === undefined) === isButton).map(({ form }) => form),
    )
    if (found.length === 0) return ''
    return html`${others}${buttons!.length === 0 ? '' : html`<div class="actions">${buttons}</div>`}`
  }
  /** The form that was refused, with what was typed, and with the problem of each field. */
  const filledAgain = (
    session: S,
    sent: SentForm<R>,
    variables: Texts,
    given: Texts,
    problems: Texts,
  ): RefusedForm => {
    const count = ({ inputs = [] }: Offer): number => inputs.filter(name => given[name] !== undefined).length
    const offer = greatest(sent.form.offers, count)
    if (offer === undefined || count(offer) === 0) return {}
    const all = { ...variables, ...given }
    const again = formOf(session, sent, offer, all, {
      values: all,
      problems: { ...emptied(sent, given), ...problems },
    })
    return { title: sent.route.title.split(/[,;]/)[0]!, again } // the rest says how it is done
  }
  return { forms, noteOf, offers, filledAgain }
}

export type Forms<R extends AnyPageRoute, S extends Session> = ReturnType<typeof createForms<R, S>>

/** A route with a form, its fields, and the path that it is sent to with its variables. */
function toSentForm<R extends AnyPageRoute>(
  route: R,
  form: NonNullable<R['form']>,
  pathOf: FormRules<R, never>['pathOf'],
) {
  const { below = '', makes = {} } = form
  const path = pathOf(route.path, below) + (route.method === 'POST' ? '' : `/${route.method.toLowerCase()}`)
  const fields = fieldsOf(route.query ?? route.body).map(field => ({
    ...field,
    isRequired: field.isRequired && !Object.hasOwn(makes, field.name),
  }))
  return { route, form, fields, variables: variablesOf(path).map(name => ({ ...NAME, name })), path }
}

/** What is never shown again, and is empty in a form that is asked for again. */
const emptied = ({ fields }: { readonly fields: readonly RouteField[] }, given: Texts): Texts =>
  Object.fromEntries(
    fields
      .filter(({ name, type }) => given[name] && (name === 'secret' || type === 'object'))
      .map(({ name }) => [name, 'type it again: it is not shown']),
  )

const isMet = ({ when = {} }: Offer, shown: Fields): boolean =>
  Object.entries(when).every(([name, value]) => shown[name] === value)

/** What is shown, as inputs have it: lists in words, and nothing for null. */
const textsOf = (shown: Fields): Texts =>
  Object.fromEntries(
    Object.entries(shown).flatMap(([name, value]) => {
      if (value == null || (typeof value === 'object' && !Array.isArray(value))) return []
      if (typeof value === 'boolean') return [[name, value ? 'yes' : '']]
      return [[name, [value].flat().join(', ')]]
    }),
  )

/** Stands in a path for a name that the form has as an input: no id is a dash. */
export const UNNAMED = '-'

/** A path with its variables; what has no name yet is sent with the form. */
const withVariables = (path: string, given: Texts): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] || UNNAMED))

/** The variables of a path to which a form was sent, and those that were typed. */
export const variablesSent = (path: Texts, given: Texts): Texts =>
  Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, value === UNNAMED ? (given[name] ?? '') : value]),
  )
