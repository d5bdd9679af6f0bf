// `/docs` and the pages below it: not of a version, but written with what is served now.
import { html } from 'hono/html'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import { DOCS_HEAD } from '../assets.ts'
import { documentOf, feedLinks, type Markup, siteLinks } from '../layout.ts'
import { fileKey } from '../page-routes.ts'
import { DOCS, DOCUMENTS, GUIDES, type Guide } from './documents.ts'
import { type GuideFacts, prose } from './guide.ts'

export const guidePage = ({ title, about, body, name }: Guide, facts: GuideFacts): string =>
  servicePage(
    title,
    about,
    html`<p class="crumbs"><a href="/docs">Docs</a></p>
<h1>${title}</h1>
<div class="guide">${body(facts)}</div>
<section><h2>Other guides</h2>
<ul>${DOCS.filter(each => each.name !== name).map(guideLine)}
<li><a href="/docs/reference">The API reference</a></li></ul></section>`,
    facts.dataset,
  )

/** An endpoint as the index lists it; `operation` is its place in the reference: `/Strategy/stats`. */
export type Endpoint = { readonly path: string; readonly about: string; readonly operation: string }

/**
 * The index. An endpoint has the id of its operation, because the reference was at this address and links such as
 * `/docs#/Strategy/stats` lead here.
 */
export const docsIndex = (facts: GuideFacts, endpoints: readonly Endpoint[]): string =>
  servicePage(
    'Docs',
    `Guides, endpoints and the API reference of ${facts.dataset.name}.`,
    html`<h1>Docs</h1>
<p class="lead">The history is free to read: GET, no key, JSON or tables. Published versions never change, and every figure can be checked.</p>
<div class="columns"><section><h2>Guides</h2>
<ul>${GUIDES.map(guideLine)}</ul></section>
<section><h2>What the data are</h2>
<ul>${DOCUMENTS.map(guideLine)}</ul>
<h2>References</h2>
<ul>
<li><a href="/docs/reference">The API reference</a>: every parameter, field and error, with requests to copy.</li>
<li><a href="/openapi.json">openapi.json</a>: the same for code generators.</li>
<li><a href="/llms.txt">llms.txt</a>: the service described to language models.</li>
<li><a href="/feed.atom">feed.atom</a>, <a href="/feed.json">feed.json</a>: new versions and restatements, for readers of feeds.</li>
${facts.signals === null ? '' : html`<li><a href="${facts.signals}/docs">The signals service</a>: its own reference.</li>`}
</ul></section></div>
<section><h2 id="endpoints">Endpoints</h2>
<p class="note">Each leads to its part of the reference. A path of the data has a pinned twin under <code>/v1/snapshots/{version}/</code>.</p>
<dl class="endpoints">${endpoints.map(each => endpointLine(each, facts))}</dl></section>`,
    facts.dataset,
  )

const guideLine = ({ name, title, about }: Guide): Markup =>
  html`<li><a href="/docs/guides/${name}">${title}</a>: ${about.charAt(0).toLowerCase()}${about.slice(1)}</li>
`

const endpointLine = ({ path, about, operation }: Endpoint, facts: GuideFacts): Markup =>
  html`<div id="${operation}"><dt><a href="/docs/reference#${operation}"><code>${path}</code></a></dt><dd>${prose(about)}${example(path, facts)}</dd></div>
`

const example = (path: string, { strategy: { id } }: GuideFacts): Markup =>
  path.includes('{sid}') ? html` <a href="${path.replace('{sid}', id)}">Of ${id}.</a>` : html``

/** A page of the service itself, with links to the version that is served. */
export function servicePage(title: string, about: string, body: Markup, dataset: DatasetRecord): string {
  const root = `/${fileKey(dataset.version, '')}`
  return documentOf({
    title,
    about,
    dataset,
    head: html`${feedLinks('')}
${DOCS_HEAD}`,
    nav: siteLinks(root, dataset, html`<a href="/docs">Docs</a>`),
    body,
    footer: html`Written with version <a href="${root}versions.html"><code>${dataset.version}</code></a>, which is served now.
<a href="${dataset.methodology_url}">Method</a> · <a href="/check">Check it yourself</a>`,
  })
}
