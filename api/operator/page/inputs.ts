// The inputs of a form, which are the fields of its route, and what they send.
import { html, raw } from 'hono/html'
import type { RouteField } from '../route-fields.ts'
import type { Piece, Texts } from './layout.ts'

/** What a form sends: the body or the query of its route. */
export type Fields = Readonly<Record<string, unknown>>

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
  given: string | undefined,
  choices: readonly string[] | undefined,
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
