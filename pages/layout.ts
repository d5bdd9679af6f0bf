// The frame of every page: head, navigation, what the page is about, and the terms.
import { html, raw } from 'hono/html'
import { toCompactInstant } from '#core/calendar.ts'
import { effectiveInstant } from '#core/dataset/entered.ts'
import type { DatasetRecord } from '#core/dataset/snapshot.ts'
import { dateText } from './format.ts'

export type Markup = ReturnType<typeof html>

export const SCRIPTS = ['page.js', 'book.js', 'explore.js', 'check.js', 'table.js'] as const
export type ScriptName = (typeof SCRIPTS)[number]
export type AssetName = ScriptName | 'style.css' | 'icon.svg'

/** The integrity of each script and style sheet of a version: `sha256-...`, as HTML spells it. */
export type Integrity = Readonly<Partial<Record<AssetName, string>>>

/** What a page may do: nothing but load files of its own service, and make markup in one place. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types charts"

/** Browsers ignore `frame-ancestors` in a document, and say so. */
const POLICY_IN_PAGE = PAGE_POLICY.replace(" frame-ancestors 'none';", '')

export type Page = {
  readonly title: string
  /** One sentence, for search engines and previews. */
  readonly about: string
  readonly script: ScriptName
  readonly body: Markup
  /** The body has the citation already. */
  readonly isCited?: true
  /** What a description in the vocabulary of schema.org lists instead of the files and days of the whole version. */
  readonly files?: readonly string[]
  readonly window?: DatasetRecord['window']
  /** Since when its history is published, if that is known. */
  readonly since?: string | null
  /** Where the data of the page come from, as declared, if not all of the version. */
  readonly sources?: readonly string[]
}

/** A page in its place, before it is a document. */
type PageContent = Page & {
  readonly dataset: DatasetRecord
  /** The way from the page to the folder of the version: empty, or `../../`. */
  readonly root: '' | '../../'
  /** The file of the page in that folder. */
  readonly file: string
  /** The address that leads to the page of the version that is served: search engines are to know the page by it. */
  readonly path: string
  /** The file of the picture that previews of the page show. */
  readonly picture: string
  readonly integrity: Integrity
}

/** What a page says of its dataset, whichever service it is of. */
export type PageDataset = Pick<
  DatasetRecord,
  'name' | 'version' | 'disclaimer' | 'methodology_url' | 'public_url' | 'synthetic'
>

type Frame = Pick<PageContent, 'title' | 'about' | 'body'> & {
  readonly dataset: PageDataset
  /** Links, the style sheet among them, and scripts. */
  readonly head: Markup
  /** Attributes of the body, beside the version. */
  readonly attributes?: Markup
  readonly nav: Markup
  readonly footer: Markup
}

/** Previews and lists of results are read without the page, so each of their texts names data that are made up. */
const previewOf = (title: string, about: string, { synthetic }: Pick<PageDataset, 'synthetic'>) => ({
  title: synthetic && !/synthetic/i.test(title) ? `${title} (synthetic data)` : title,
  about: synthetic ? `Synthetic data. ${about}` : about,
})

export const documentOf = ({ title, about, dataset, head, attributes, nav, body, footer }: Frame): string => {
  const preview = previewOf(`${title} · ${dataset.name}`, about, dataset)
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY_IN_PAGE}">
<title>${preview.title}</title>
<meta name="description" content="${preview.about}">
<meta name="color-scheme" content="light dark">
${head}
</head>
<body data-version="${dataset.version}"${attributes ?? ''}>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><nav aria-label="Site">
${nav}
</nav></header>
${dataset.synthetic ? html`<aside class="synthetic" aria-label="Synthetic data"><strong>Synthetic data.</strong> The prices on this page are made up. No market, no account, no forecast.</aside>` : ''}
<p class="newer" id="newer" role="status" hidden></p>
<main id="main">
${body}
</main>
<footer class="site">
<p>${dataset.disclaimer}</p>
<p>${footer}</p>
</footer>
</body>
</html>
`)
}

/** Versions and restatements for readers of feeds; `base` is the address of the service, or empty on its own pages. */
export const feedLinks = (
  base: string,
) => html`<link rel="alternate" type="application/atom+xml" title="Versions and restatements" href="${base}/feed.atom">
<link rel="alternate" type="application/feed+json" title="Versions and restatements" href="${base}/feed.json">`

/** The navigation of the history service; `root` leads to the folder of a version. */
export const siteLinks = (root: string, { name, program_url }: DatasetRecord, docs: Markup): Markup =>
  html`<a class="home" href="${root}index.html">${name}</a>
<a href="${root}explore.html">Explore</a>
<a href="${root}versions.html">Versions</a>
<a href="${root}check.html">Check</a>
${program_url === null ? '' : html`<a href="${program_url}">Program</a>`}
${docs}`

/**
 * A link from a page of a version to what only the service answers. A copy of the files has no such address, so without
 * the address of the service it is plain text, of which the script of the page makes a link if a service answers.
 */
export const serviceLink = ({ public_url }: Pick<DatasetRecord, 'public_url'>, path: string, text: string) =>
  public_url === null
    ? html`<a data-service="${path}">${text}</a>`
    : html`<a href="${public_url}${path}">${text}</a>`

export const layout = (page: PageContent): string =>
  documentOf({
    ...page,
    head: html`${openGraph(page)}
<link rel="icon" href="${page.root}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${page.root}assets/style.css" ${integrityOf(page, 'style.css')}>
<script type="module" src="${page.root}assets/${page.script}" ${integrityOf(page, page.script)}></script>
<script type="application/ld+json">${dataBlock(jsonLd(page))}</script>`,
    attributes: html` data-root="${page.root}"`,
    nav: siteLinks(page.root, page.dataset, serviceLink(page.dataset, '/docs', 'Docs')),
    footer: html`Version <a href="${page.root}versions.html"><code>${page.dataset.version}</code></a>${lateness(page.dataset)}: this page and every number on it never change.
<a href="${page.dataset.methodology_url}">Method</a> · <a href="${page.root}check.html">Check it yourself</a>${
      page.isCited ? '' : html`<br>Cite: <cite>${citation(page.dataset, page.title, page.file)}</cite>`
    }`,
  })

/** `, entered on 26 November 2026`, if the name of the version says another day. */
const lateness = ({ entered }: DatasetRecord) => entered && html`, entered on ${dateText(entered)}`

export const citation = (dataset: DatasetRecord, title: string, file: string): Markup =>
  html`${title}, ${dataset.name}, version ${dataset.version}${lateness(dataset)}, <span id="address">${citedAddress(dataset, file)}</span>`

export const integrityOf = ({ integrity }: Pick<PageContent, 'integrity'>, name: AssetName) =>
  integrity[name] === undefined ? '' : raw(`integrity="${integrity[name]}" crossorigin="anonymous"`)

/** The pinned address of a file: absolute if the operator states the address of the service. */
const citedAddress = ({ public_url, version }: DatasetRecord, file: string): string =>
  `${public_url ?? ''}/v1/snapshots/${toCompactInstant(version)}/${file}`

/** `2017-08-17 to 2026-06-30`, or that there is no day. */
export const daysOf = ({ from, to }: DatasetRecord['window']): string =>
  from === null ? 'no day yet' : `${from} to ${to}`

/** Previews need absolute addresses. */
function openGraph({ title, about, dataset, path, picture }: PageContent): Markup {
  const preview = previewOf(title, about, dataset)
  const { public_url: base } = dataset
  return html`<meta property="og:title" content="${preview.title}">
<meta property="og:description" content="${preview.about}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${dataset.name}">${
    base !== null &&
    html`
<meta property="og:url" content="${base}${path}">
<meta property="og:image" content="${citedAddress(dataset, picture)}">
<meta property="og:image:alt" content="${preview.about}">
<meta name="twitter:card" content="summary_large_image">
<link rel="canonical" href="${base}${path}">
${feedLinks(base)}`
  }`
}

const jsonLd = (page: PageContent) => {
  const { dataset, file, path, files, since, window = dataset.window, sources = [dataset.data_source] } = page
  const { title, about } = previewOf(page.title, page.about, dataset)
  const { public_url: base } = dataset
  return {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    name: `${title} · ${dataset.name}`,
    description: `${about} ${dataset.disclaimer}`,
    version: dataset.version,
    dateModified: effectiveInstant(dataset),
    ...(since == null ? {} : { datePublished: since }),
    isAccessibleForFree: true,
    license: licenceOf(dataset),
    isBasedOn: sources.map(name => ({ '@type': 'CreativeWork', name })),
    creator: { '@type': 'Organization', name: dataset.name },
    ...(base === null ? {} : { url: base + path, identifier: citedAddress(dataset, file) }),
    temporalCoverage: `${window.from ?? '..'}/${window.to ?? '..'}`,
    distribution: (files ?? ['export.daily.csv', 'strategies.json']).map(name => ({
      '@type': 'DataDownload',
      encodingFormat: name.endsWith('.csv') ? 'text/csv' : 'application/json',
      contentUrl: citedAddress(dataset, name),
    })),
  }
}

const licenceOf = ({ licence, disclaimer }: DatasetRecord) => ({
  '@type': 'CreativeWork',
  ...(licence === null
    ? { name: 'Terms of use', text: disclaimer }
    : { name: licence.title ?? licence.name, url: licence.path ?? undefined }),
})

/** JSON in a `<script>` that no browser executes. No text in it can end the element. */
export const dataBlock = (value: unknown) => raw(JSON.stringify(value).replaceAll('<', String.raw`\u003c`))
