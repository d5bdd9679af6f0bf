// The forms of a page: actions of a route table, which declares beside what they are offered, with their fields as inputs.
import { html, raw } from 'hono/html'
import { variablesOf } from '#core/contract/route.ts'
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

type Offer = NonNullable<AnyPageRoute['form']>['offers'][number]

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
  const inputsOf = (session: S, sent: SentForm<R>, offer: Offer, given: Texts): Piece => {
    const { hasInputs, keeps = [], button } = offer
    const shown = sent.fields.filter(
      ({ name }) => !keeps.includes(name) && (hasInputs === true || hasInputs?.includes(name)),
    )
    const inputs = shown.map(field =>
      inputOf(field, given[field.name], rules.choicesOf?.(session, sent.route, field.name) ?? field.listed),
    )
    const names = unnamed(sent.path, given).map(name => inputOf({ ...A_NAME, name }))
    return html`${hidden(withNames(given, keeps))}${names}${inputs}<button class="quiet">${button}</button>`
  }
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
          .map(offer => {
            const { button, tone = '' } = offer
            const hasInputs = offer.hasInputs !== undefined
            const content = hasInputs
              ? inputsOf(session, sent, offer, given)
              : html`${hidden(
                  withNames(
                    given,
                    sent.fields.map(({ name }) => name),
                  ),
                )}<button class="${tone}">${button}</button>`
            const path = withVariables(sent.path, given)
            return { hasInputs, form: formTo(session, path, content, hasInputs ? 'fields' : '') }
          }),
      )
    return arranged(found)
  }
  const filledAgain = (
    session: S,
    sent: SentForm<R>,
    path: string,
    variables: Texts,
    given: Texts,
  ): Piece | string => {
    const wasSent = ({ hasInputs = [] }: (typeof sent.form.offers)[number]): boolean =>
      hasInputs === true || (hasInputs.length > 0 && hasInputs.every(name => given[name] !== undefined))
    const offer = sent.form.offers.find(wasSent)
    return offer === undefined
      ? ''
      : formTo(
          session,
          path,
          inputsOf(session, sent, { ...offer, keeps: [] }, { ...variables, ...given }),
          'fields',
        )
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

/** Stands in a path for a name that the form has as an input: no id is a dash. */
const UNNAMED = '-'

/** A path with its variables; what has no name yet is sent with the form. */
export const withVariables = (path: string, given: Texts): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] || UNNAMED))

const unnamed = (path: string, given: Texts): readonly string[] =>
  variablesOf(path).filter(name => (given[name] ?? UNNAMED) === UNNAMED)

const A_NAME = {
  ...{ type: 'string', format: undefined, listed: undefined, initial: undefined },
  ...{ description: '1 to 64 of a-z, 0-9, - and _', isRequired: true, isNullable: false },
}

const withNames = (given: Texts, names: readonly string[]): Texts =>
  Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)))

/** Forms with inputs, each on its own, then all buttons. */
function arranged(found: readonly { readonly hasInputs: boolean; readonly form: Piece }[]): Piece | string {
  const { forms = [], buttons = [] } = Object.groupBy(found, ({ hasInputs }) =>
    hasInputs ? 'forms' : 'buttons',
  )
  const actions =
    buttons.length === 0 ? '' : html`<div class="actions">${buttons.map(({ form }) => form)}</div>`
  return found.length === 0 ? '' : html`${forms.map(({ form }) => form)}${actions}`
}

/**
 * The fields as a form sends them, typed as a body or a query has them; what was left empty is not sent. A change (PATCH) has the
 * fields of its form alone, and what was left empty there is null, or nothing in it.
 */
export const sentBy = (fields: readonly RouteField[], given: Texts, isChange = false): Fields =>
  Object.fromEntries(
    fields.flatMap(({ name, type, format, isNullable }): [string, unknown][] => {
      const text = given[name] ?? ''
      if (isChange && given[name] === undefined) return []
      if (isChange && isNullable && text === '') return [[name, null]]
      if (type === 'boolean') return [[name, text !== '']]
      if (type === 'array') return [[name, wordsIn(text)]]
      if (type === 'object' && (text !== '' || isChange)) return [[name, pairsOf(text)]]
      if (text === '') return []
      if (format === 'date-time') return [[name, toInstant(text)]]
      return [[name, isNumber(type) ? Number(text) : text]]
    }),
  )

const wordsIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter(word => word !== '')

/** Lines of `Name: value`; one without a colon has no name, which is refused. */
const pairsOf = (text: string): Texts =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => [
        line.slice(0, Math.max(0, line.indexOf(':'))).trim(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
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
  filter: 'strategies, all of them if none is chosen',
  headers: 'headers of your own',
  expire_entries_after_s: 'entries expire after seconds',
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
  if (type === 'array' && choices !== undefined) {
    const chosen = wordsIn(given ?? '')
    return html`<fieldset><legend>${label}</legend>${hidden({ [name]: '' })}${choices.map(each => html`<label><input type="checkbox" name="${name}" value="${each}"${raw(chosen.includes(each) ? ' checked' : '')}> ${each}</label>`)}</fieldset>`
  }
  const value = name === 'secret' ? '' : (given ?? String(initial ?? ''))
  const isOptional = !isRequired && initial === undefined
  if (type === 'object')
    return html`<label title="${description}">${label} <textarea name="${name}" rows="2" placeholder="Name: value" autocomplete="off"></textarea></label>`
  if (choices !== undefined)
    return html`<label title="${description}">${label} <select name="${name}">${[...(isOptional ? [''] : []), ...choices].map(each => html`<option value="${each}"${raw(each === value ? ' selected' : '')}>${each === '' ? 'any' : (WORDS[each] ?? each)}</option>`)}</select></label>`
  const kind = isTime ? 'datetime-local' : isNumber(type) ? 'number' : 'text'
  const more = `${kind === 'text' ? '' : ` step="${isTime ? 1 : 'any'}"`}${isRequired ? ' required' : ''}`
  return html`<label title="${description}">${label} <input type="${kind}" name="${name}" value="${isTime ? value.replace('Z', '') : value}" placeholder="${isOptional ? 'optional' : ''}" autocomplete="off"${raw(more)}></label>`
}
