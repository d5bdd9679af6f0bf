// The schemas of an OpenAPI document as nested lists of their fields.
import { html } from 'hono/html'
import { prose } from '#pages/guides/guide.ts'
import type { Markup } from '#pages/layout.ts'

/** A JSON Schema as our documents have it, with what they say of figures. */
export type JsonSchema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly 'x-formula'?: string
  readonly 'x-null-when'?: readonly string[]
  readonly 'x-convention'?: string
}

export type Fields = {
  /** A line of a list: the name, the type with its limits, what it means, and the fields within it. */
  field(name: string, schema: JsonSchema, isRequired: boolean, place?: string): Markup
  /** The fields of a schema, without itself. */
  within(schema: JsonSchema): Markup
}

/** Lists of one page. A named schema is shown where it is mentioned first; later mentions are links to it. */
export function createFields(schemas: Readonly<Record<string, JsonSchema>>): Fields {
  const shown = new Set<string>()
  const named = (name: string): Markup => {
    if (shown.has(name)) return html``
    shown.add(name)
    const { [name]: schema = {} } = schemas
    return html`<details><summary>Fields of ${name}</summary><div id="schema-${name}">${schema.description && html`<p>${prose(schema.description)}</p>`}${within(schema)}</div></details>`
  }
  const within = (schema: JsonSchema): Markup => {
    const { $ref, properties = {}, required = [], anyOf = [], items, additionalProperties: values } = schema
    if ($ref !== undefined) return named(nameOf($ref))
    const convention = schema['x-convention']
    const fields = Object.entries(properties)
    const parts = [...anyOf, items, values].filter(each => typeof each === 'object')
    return html`${convention && html`<p class="note">${prose(convention)}</p>`}${
      fields.length > 0 &&
      html`<ul class="fields">${fields.map(([name, each]) => field(name, each, required.includes(name)))}</ul>`
    }${parts.map(within)}`
  }
  const field: Fields['field'] = (name, schema, isRequired, place = '') =>
    html`<li><code>${name}</code> <i>${place}${typeOf(schema)}${isRequired ? '' : ', optional'}</i> ${prose(meaningOf(schema))}${figureOf(schema)}${within(schema)}</li>
`
  return { field, within }
}

const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1)

/** What a field means, and what each item of its list means. */
function meaningOf(schema: JsonSchema): string {
  const { description, anyOf = [], items, additionalProperties: values } = schema
  const inner = items ?? (typeof values === 'object' ? values : undefined)
  const own = [...new Set([description ?? '', ...anyOf.map(meaningOf)])].join(' ').trim()
  const each = inner === undefined ? '' : meaningOf(inner)
  return own === '' || each === '' ? `${own}${each}` : `${own} Each: ${each}`
}

/** How a figure is computed, and why it may be null. */
function figureOf({ 'x-formula': formula, 'x-null-when': reasons = [] }: JsonSchema): Markup {
  return html`${formula && html` Formula: <code>${formula}</code>.`}${
    reasons.length > 0 && html` Null if ${listed(reasons)}.`
  }`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
}

/** The type in words, with limits and default; a named one leads to its fields. */
export function typeOf(schema: JsonSchema): Markup {
  const { $ref, anyOf, type = 'any value', items, additionalProperties: values } = schema
  if ($ref !== undefined) return html`<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`
  if (anyOf !== undefined) return html`${anyOf.map((each, i) => html`${i > 0 && ' or '}${typeOf(each)}`)}`
  const inner = items ?? (typeof values === 'object' ? values : undefined)
  const words = [type].flat().map(each => {
    if (inner === undefined || each === 'null') return html`${TYPES[each] ?? each}`
    return html`${items === undefined ? 'object that has by name' : 'list of'} ${typeOf(inner)}`
  })
  return html`${words.map((each, i) => html`${i > 0 && ' or '}${each}`)}${limitsOf(schema)}`
}

const listed = (values: readonly unknown[]): Markup =>
  html`${values.map((each, i) => html`${i > 0 && ', '}<code>${String(each)}</code>`)}`

/** Limits that every number of the kind has are none. */
const isLimit = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER

function limitsOf(schema: JsonSchema): Markup {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  const texts = [
    isLimit(minimum) && `at least ${minimum}`,
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    isLimit(maximum) && `at most ${maximum}`,
    minLength !== undefined && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    minItems !== undefined && `at least ${minItems} items`,
    maxItems !== undefined && `at most ${maxItems} items`,
    schema.format,
  ].filter(each => typeof each === 'string')
  const values = schema.enum ?? ('const' in schema ? [schema.const] : [])
  return html`${values.length > 0 && html`: ${listed(values)}`}${texts.map(each => `, ${each}`)}${
    pattern !== undefined && html`, <code>${pattern}</code>`
  }${schema.default !== undefined && html`, default <code>${defaultText(schema.default)}</code>`}`
}

const defaultText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
