// The inputs of a page: how a field is called, asked for and read again.
import { html, raw } from 'hono/html'
import type { ApiError } from '#core/contract/errors.ts'
import { hidden, type Piece, type Texts } from './layout.ts'
import type { RouteField } from './page-route.ts'

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
  email: 'mail address',
  base_risk_pct: 'risk',
  timestamp: 'decided at',
  from: 'from signal',
  to: 'to signal',
  seq: 'signal',
  status: 'state',
  filter: 'strategies, all of them if none is chosen',
  headers: 'headers of your own',
  expire_entries_after_s: 'entries expire after seconds',
}

/** The field of a name in an address. */
export const NAME: Omit<RouteField, 'name'> = {
  ...{ type: 'string', format: undefined, listed: undefined, initial: undefined },
  ...{ description: 'a name: 1 to 64 of a-z, 0-9, - and _', isRequired: true, isNullable: false },
}

const labelOf = ({ name, format }: Pick<RouteField, 'name' | 'format'>): string => {
  const words = `${WORDS[name] ?? name.replaceAll('_', ' ')}${format === 'date-time' ? ' (UTC)' : ''}`
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is said of JSON, as it is said beside an input. */
const spoken = (text: string): string =>
  text
    .replace(/an object of |a list of /, '')
    .replaceAll(/\bnull\b/g, 'nothing')
    .replaceAll(/`(\w+)`/g, (_, name: string) => `“${labelOf({ name, format: undefined })}”`)

/** What is expected, without what the input is anyway: `the id of the client: `. */
const hintOf = ({ description }: RouteField): string => spoken(description.replace(/^.*?: /, ''))

/** The problem of each field by its name, and all of them in a sentence that has their labels. */
export function problemsOf({ details, message }: ApiError, fields: readonly RouteField[]) {
  const found = (Array.isArray(details) ? details : []).flatMap(({ param, reason }) => {
    const field = fields.find(({ name }) => name === param)
    return field === undefined ? [] : [[field, spoken(reason)] as const]
  })
  const byName: Texts = Object.fromEntries(found.map(([{ name }, reason]) => [name, reason]))
  const says = found.map(([field, reason]) => `${labelOf(field)}: ${reason}`).join('; ')
  return { byName, says: says || message }
}

export type Input = {
  readonly values: Texts
  readonly choices?: readonly string[] | undefined
  /** What makes its hint unique on a page. */
  readonly form: string
  /** What is wrong with the fields of a form that is asked for again. */
  readonly problems?: Texts
}

/** The input of a field with its hint, or what is wrong with it, below; a secret is never shown again. */
export function inputOf(field: RouteField, input: Input): Piece {
  const { name } = field
  const problem = input.problems?.[name]
  const isChosen = (input.choices ?? field.listed) !== undefined
  const says = problem ?? (isChosen ? '' : hintOf(field))
  const id = `${input.form}/${name}`
  const described = `${says === '' ? '' : ` aria-describedby="${id}"`}${problem === undefined ? '' : ' aria-invalid="true"'}`
  const hint = says && html`<small id="${id}"${problem && raw(' class="bad"')}>${says}</small>`
  return html`<div class="field">${controlOf(field, input, described)}${hint}</div>`
}

function controlOf(field: RouteField, input: Input, described: string): Piece {
  const { name, type, format, isRequired, initial, listed } = field
  const { values, choices = listed } = input
  const [label, given, more] = [labelOf(field), values[name], raw(described)]
  if (type === 'boolean')
    return html`${hidden({ [name]: '' })}<label>${checkbox(name, 'yes', !!given, described)} ${label}</label>`
  if (type === 'array' && choices !== undefined) {
    const chosen = wordsIn(given ?? '')
    return html`<fieldset${more}><legend>${label}</legend>${hidden({ [name]: '' })}${choices.map(each => html`<label>${checkbox(name, each, chosen.includes(each))} ${each}</label>`)}</fieldset>`
  }
  if (type === 'object')
    return html`<label>${label} <textarea name="${name}" rows="2" placeholder="Name: value" autocomplete="off"${more}></textarea></label>`
  const value = name === 'secret' ? '' : (given ?? String(initial ?? ''))
  const isOptional = !isRequired && initial == null
  if (choices !== undefined)
    return html`<label>${label} <select name="${name}"${more}>${[...(isOptional ? [''] : []), ...choices].map(each => html`<option value="${each}"${raw(each === value ? ' selected' : '')}>${each === '' ? 'any' : (WORDS[each] ?? each)}</option>`)}</select></label>`
  const isTime = format === 'date-time'
  const kind = isTime ? 'datetime-local' : isNumber(type) ? 'number' : 'text'
  const step = kind === 'text' ? '' : ` step="${isTime ? 1 : 'any'}"`
  return html`<label>${label} <input type="${kind}" name="${name}" value="${isTime ? value.replace('Z', '') : value}" placeholder="${isOptional ? 'optional' : ''}" autocomplete="off"${raw(step + (isRequired ? ' required' : ''))}${more}></label>`
}

const checkbox = (name: string, value: string, isChecked: boolean, more = ''): Piece =>
  html`<input type="checkbox" name="${name}" value="${value}"${raw((isChecked ? ' checked' : '') + more)}>`

/**
 * The fields that a form has sent, typed as a body or a query has them: what was left empty is null where a field may be, an empty
 * list or object, and otherwise not sent.
 */
export const sentBy = (fields: readonly RouteField[], given: Texts): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap(field => {
      const text = given[field.name]
      const value = text === undefined ? undefined : typed(field, text)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )

function typed({ type, format, isNullable }: RouteField, text: string): unknown {
  if (type === 'boolean') return text !== ''
  if (text === '' && isNullable) return null
  if (type === 'array') return wordsIn(text)
  if (type === 'object') return pairsOf(text)
  if (text === '') return undefined
  if (format === 'date-time') return toInstant(text)
  return isNumber(type) ? Number(text) : text
}

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
