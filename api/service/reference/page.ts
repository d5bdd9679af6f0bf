// The API reference: a pure function of an OpenAPI document, for which no script is needed.
import { html } from 'hono/html'
import type { OpenApi } from '#core/contract/openapi.ts'
import { DOCS_HEAD } from '#pages/assets.ts'
import { prose } from '#pages/guides/guide.ts'
import type { Markup } from '#pages/layout.ts'
import { createFields, typeOf } from './fields.ts'

export type ReferencePage = {
  readonly path: '/docs' | '/docs/reference'
  /** Links beside the one to the document: address and text. */
  readonly links: Readonly<Record<string, string>>
  /** The variable that has the key in the commands. */
  readonly key?: 'HIGHWATER_KEY' | 'OPERATOR_TOKEN'
  /** The variable that has the address of the service in the commands, if the document does not have it. */
  readonly address?: 'OPERATOR_URL'
}

type Operation = OpenApi['paths'][string][string]
type Answer = Operation['responses'][string]
type Content = NonNullable<Answer['content']>[string]

type Place = { readonly method: string; readonly path: string; readonly operation: Operation }

/** What an operation is shown with. */
type Shown = ReturnType<typeof createFields> & {
  readonly page: ReferencePage
  readonly api: OpenApi
  /** What stands for the variables of paths in the commands. */
  readonly values: Readonly<Record<string, string>>
}

/** The page of a document. `values` of path variables, such as an id that exists, stand in its commands. */
export function referencePage(api: OpenApi, page: ReferencePage, values: Shown['values']): string {
  const { info, tags, paths, components } = api
  const shown = { ...createFields(components.schemas), page, api, values }
  const places = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
  const groups = tags.map(tag => ({
    ...tag,
    places: places.filter(({ operation }) => operation.tags[0] === tag.name),
  }))
  return frame(
    page,
    info.title,
    html`<h1>${info.title}</h1>
<p class="lead">${prose(info.description)}</p>
<nav class="columns" aria-label="Operations">${groups.map(
      ({ name, places }) => html`<section><h2>${name}</h2>
<ul>${places.map(each => html`<li><a href="#${anchorOf(each)}">${nameOf(each)}</a></li>\n`)}</ul></section>`,
    )}</nav>
<section><h2>All answers</h2>
<p>JSON is <code>data</code>, <code>meta</code> and <code>links</code>, unless an operation says otherwise. A refusal is <code>error</code> and <code>meta</code>.</p>
${['Meta', 'Links', 'Error'].map(name => shown.within({ $ref: name }))}</section>
${groups.map(
  ({ name, description, places }) => html`<section id="/${name}"><h2>${name}</h2>
<p>${prose(description)}</p>
${places.map(each => operationSection(each, shown))}</section>`,
)}`,
  )
}

/** As links have it since the reference was drawn by a script. */
const anchorOf = ({ operation }: Place): string => `/${operation.tags[0]}/${operation.operationId}`

const nameOf = ({ method, path }: Place): Markup => html`${method.toUpperCase()} <code>${path}</code>`

function operationSection(place: Place, shown: Shown): Markup {
  const { description, parameters, requestBody } = place.operation
  const body = requestBody?.content['application/json']
  return html`<article id="${anchorOf(place)}">
<h3><a href="#${anchorOf(place)}">${nameOf(place)}</a></h3>
<p>${prose(description)}${needs(place.operation, shown)}</p>
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4><ul class="fields">${parameters.map(each =>
    shown.field(
      each.name,
      { description: each.description, ...each.schema },
      each.required,
      each.in === 'path' ? 'in the path, ' : '',
    ),
  )}</ul>`
}
${body && html`<h4>Body</h4><p>${typeOf(body.schema)}</p>${shown.within(body.schema)}`}
<pre tabindex="0"><code>${commandOf(place, shown)}</code></pre>
<h4>Answers</h4>
${answers(place.operation, shown)}
${refusals(place.operation, shown)}</article>
`
}

function needs({ 'x-required-scope': scope, security }: Operation, { page }: Shown): Markup {
  if (scope !== undefined) return html` The token needs the scope <code>${scope}</code>.`
  return html`${page.key !== undefined && security?.length === 0 && ' No key is needed.'}`
}

/** A command for a shell. A variable of the path that has no value is one of the shell. */
function commandOf({ method, path, operation }: Place, { page, api, values }: Shown): string {
  const { parameters, requestBody, security = [] } = operation
  const variable = (name: string): string => values[name] ?? `\${${name.toUpperCase()}}`
  const required = parameters.filter(each => each.in === 'query' && each.required)
  const query = required.map(({ name }, i) => `${i === 0 ? '?' : '&'}${name}=${variable(name)}`).join('')
  const base = page.address === undefined ? api.servers[0]!.url : `$${page.address}`
  const address = `${base}${path.replaceAll(/\{(\w+)\}/g, (_, name) => variable(name))}${query}`
  const [scheme] = Object.values(api.components.securitySchemes ?? {})
  const header = scheme?.name === undefined ? 'Authorization: Bearer' : `${scheme.name}:`
  const { request } = requestBody?.content['application/json']?.examples ?? {}
  const json = request && JSON.stringify(request.value).replaceAll("'", String.raw`'\''`)
  return [
    `curl -sS ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${address}"`,
    ...(security.length === 0 ? [] : [`-H "${header} $${page.key}"`]),
    ...(json === undefined ? [] : [`-H 'content-type: application/json' -d '${json}'`]),
  ].join(' \\\n  ')
}

const resolve = <Thing extends object>(
  thing: Thing | { readonly $ref: string },
  named: Readonly<Record<string, Thing>> = {},
): Thing => ('$ref' in thing ? named[thing.$ref.slice(thing.$ref.lastIndexOf('/') + 1)]! : thing)

/** The answers of an operation; statuses with the same content stand together. */
function answers({ responses }: Operation, shown: Shown): Markup {
  const all = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const whole = all.filter(([, { content }]) => content !== undefined)
  const { content = {} } = whole[0]?.[1] ?? {}
  return html`<ul class="fields">${Object.entries(content).map(
    ([mediaType, each]) =>
      html`<li>${whole.map(([status]) => status).join(', ')} <code>${mediaType}</code>${contentOf(each, shown)}</li>\n`,
  )}${all.map(
    ([status, { description, content }]) =>
      content === undefined && html`<li>${status}: ${prose(description)}</li>\n`,
  )}${headersOf(all, shown)}</ul>`
}

const headersOf = (all: readonly [string, Answer][], { api }: Shown): Markup =>
  html`${[...new Map(all.flatMap(([, { headers = {} }]) => Object.entries(headers)))].map(
    ([name, header]) =>
      html`<li>Header <code>${name}</code>: ${prose(resolve(header, api.components.headers).description)}</li>\n`,
  )}`

/** In the envelope only the data differ from operation to operation. */
function contentOf({ schema, examples = {} }: Content, { api, field, within }: Shown): Markup {
  const { data } = schema.properties ?? {}
  const shown = Object.values(examples).map(each => resolve(each, api.components.examples))
  return html`${
    data !== undefined && schema.properties?.meta !== undefined
      ? html`<ul class="fields">${field('data', data, true)}</ul>`
      : html` ${typeOf(schema)}. ${schema.description}${within(schema)}`
  }${shown.map(
    ({ summary, value }) =>
      html`<details><summary>An answer to <code>${summary}</code>, with short lists</summary><pre tabindex="0"><code>${textOf(value)}</code></pre></details>`,
  )}`
}

/** Of a list in an example: so many items, or lines of CSV. */
const MOST_ITEMS = 3

function shorten(value: unknown): unknown {
  if (Array.isArray(value)) {
    const left = value.length - MOST_ITEMS
    return [...value.slice(0, MOST_ITEMS).map(shorten), ...(left > 0 ? [`… ${left} more`] : [])]
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]))
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? [shorten(value.trimEnd().split('\r\n'))].flat().join('\n')
    : JSON.stringify(shorten(value), null, 2)

/** Each refusal with its sentence, as it was recorded for some request. */
function refusals({ responses }: Operation, shown: Shown): Markup {
  const all = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  return html`<details><summary>Refusals: ${all.map(([status]) => status).join(', ')}</summary>
<ul class="fields">${all.flatMap(([status, { description, content }]) =>
    content === undefined
      ? [html`<li>${status}: ${prose(description)}</li>`]
      : Object.entries(content['application/json']!.examples ?? {}).map(([code, example]) => {
          const { summary, value } = resolve(example, shown.api.components.examples)
          const { error } = value as { error: { message: string } } // a refusal as it was recorded
          return html`<li>${status} <code>${code}</code>: ${error.message} <span class="note">(${summary})</span></li>\n`
        }),
  )}${headersOf(all, shown)}</ul></details>`
}

const frame = ({ path, links }: ReferencePage, title: string, body: Markup): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}: the API</title>
<meta name="description" content="Every operation with its parameters, fields, formulas and refusals.">
${DOCS_HEAD}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><nav aria-label="Site">
<a class="home" href="${path}">${title}</a>
${Object.entries({ ...links, '/openapi.json': 'OpenAPI document' }).map(([to, text]) => html`<a href="${to}">${text}</a>\n`)}
</nav></header>
<main id="main" class="reference">
${body}
</main>
</body>
</html>
`)
