// The table of guides, and `/docs` itself: pages that are not of a version, written with what is served now.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import { ASSETS } from '../assets.ts'
import { documentOf, feedLinks, type Markup, siteLinks } from '../layout.ts'
import { fileKey } from '../page-routes.ts'
import { firstChart } from './first-chart.ts'
import type { Guide, GuideFacts } from './guide.ts'
import { pinning } from './pinning.ts'
import { publishing } from './publishing.ts'
import { recomputing } from './recomputing.ts'
import { rescaling } from './rescaling.ts'
import { webhooks } from './webhooks.ts'

/** In the order in which they are read. */
export const GUIDES: readonly Guide[] = [firstChart, pinning, rescaling, recomputing, webhooks, publishing]

/** The style of the pages of this program, and that of guides. Its address has its digest. */
export const GUIDE_STYLE: Uint8Array<ArrayBuffer> = Uint8Array.from(
  Buffer.concat([
    ASSETS.find(({ name }) => name === 'style.css')!.bytes,
    readFileSync(new URL('guides.css', import.meta.url)),
  ]),
)
export const GUIDE_STYLE_PATH = `/docs/${createHash('sha256').update(GUIDE_STYLE).digest('hex').slice(0, 16)}/style.css`

export const guidePage = ({ title, about, body, name }: Guide, facts: GuideFacts): string =>
  servicePage(
    title,
    about,
    html`<p class="crumbs"><a href="/docs">Docs</a></p>
<h1>${title}</h1>
<div class="guide">${body(facts)}</div>
<section class="guide"><h2>Other guides</h2>
<ul>${GUIDES.filter(each => each.name !== name).map(guideLine)}</ul></section>`,
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
<section><h2>References</h2>
<ul>
<li><a href="/docs/reference">The API reference</a>: every parameter, field and error, and requests to try.</li>
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
  html`<div id="${operation}"><dt><a href="/docs/reference#${operation}"><code>${path}</code></a></dt><dd>${about.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}${example(path, facts)}</dd></div>
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
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${GUIDE_STYLE_PATH}">`,
    attributes: html``,
    nav: siteLinks(root, dataset, html`<a href="/docs">Docs</a>`),
    body,
    footer: html`Written with version <a href="${root}versions.html"><code>${dataset.version}</code></a>, which is served now.
<a href="${dataset.methodology_url}">Method</a> · <a href="/check">Check it yourself</a>`,
  })
}
