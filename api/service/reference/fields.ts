// The schemas of an OpenAPI document as nested lists of their fields.
import { html } from 'hono/html'
import type { JsonSchema } from '#core/contract/parameters.ts'
import { prose } from '#pages/guides/guide.ts'
import type { Markup } from '#pages/layout.ts'

/** Lists of one page. A named schema is shown where it is mentioned first; later mentions are links to it. */
export function createFields(schemas: Readonly<Record<string, JsonSchema>>) {
  const shown = new Set<string>()
  const named = (name: string): Markup => {
    if (shown.has(name)) return html``
    shown.add(name)
    const { [name]: schema = {} } = schemas
    return html`<details><summary>Fields of ${name}</summary><div id="schema-${name}">${schema.description && html`<p>${prose(schema.description)}</p>`}${within(schema)}</div></details>`
  }
  /** The fields of a schema, without itself. */
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
  /** A line of a list: the name, the type with its limits, what it means, and the fields within it. */
  const field = (name: string, schema: JsonSchema, isRequired: boolean, place = ''): Markup =>
    html`<li><code>${name}</code> <i>${place}${typeOf(schema)}${isRequired ? '' : ', optional'}</i> ${prose(meaningOf(schema))}${figureOf(schema)}${within(schema)}</li>
`
  return { field, within }
}

const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1)

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

const LIMITS = {
  minimum: 'at least #',
  exclusiveMinimum: 'above #',
  maximum: 'at most #',
  minLength: 'at least # characters',
  maxLength: 'at most # characters',
  minItems: 'at least # items',
  maxItems: 'at most # items',
} as const

function limitsOf(schema: JsonSchema): Markup {
  const limits = Object.entries(LIMITS).flatMap(([name, text]) => {
    const { [name as keyof typeof LIMITS]: limit } = schema
    // A limit that every number of the kind has is none.
    const isOne = limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
    return isOne ? [text.replace('#', String(limit))] : []
  })
  const {
    enum: values = 'const' in schema ? [schema.const] : [],
    format = [],
    pattern,
    default: initial,
  } = schema
  return html`${values.length > 0 && html`: ${listed(values)}`}${[...limits, format].flat().map(each => `, ${each}`)}${
    pattern !== undefined && html`, <code>${pattern}</code>`
  }${initial !== undefined && html`, default <code>${typeof initial === 'string' ? initial : JSON.stringify(initial)}</code>`}`
}
